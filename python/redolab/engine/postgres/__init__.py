"""PostgreSQL: as a private server, or somebody's by its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.engine.offer import Offer, Opening
from redolab.records.capability import Capability

if TYPE_CHECKING:
    from redolab.engine.base import Engine

_ANY_SERVER: frozenset[Capability] = frozenset(
    {"updates", "own_rows", "inserts", "scans", "statements", "commit_modes", "client_sessions"}
)


def _open_private(opening: Opening) -> Engine:
    from redolab.engine.postgres.connecting.connection import Connector
    from redolab.engine.postgres.engine import PostgresEngine
    from redolab.engine.postgres.private import EmbeddedServer

    load = opening.load
    server = EmbeddedServer(load.sessions, opening.log_device_s, opening.disk_bytes, load.cache_bytes())
    try:
        return PostgresEngine(Connector(server.target), server, opening.seed)
    except BaseException:
        server.stop()
        raise


def _open_url(opening: Opening) -> Engine:
    from redolab.engine.postgres.connecting.connection import Connector
    from redolab.engine.postgres.engine import PostgresEngine

    return PostgresEngine(Connector(opening.target), None, opening.seed)


OFFERS = (
    Offer(
        "embedded",
        "private PostgreSQL 18",
        _ANY_SERVER | {"hard_kill", "log_device"},
        _open_private,
    ),
    Offer(
        "postgresql",
        "PostgreSQL by URL",
        _ANY_SERVER,
        _open_url,
        schemes=("postgresql", "postgres"),
        lacks={
            "hard_kill": "Redolab kills no server but one that it started itself.",
            "log_device": "The server has the log device that it has.",
        },
    ),
)
