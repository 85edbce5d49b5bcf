"""PostgreSQL: as a private server, or somebody's by its URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from redolab.dialect.postgres import WITHOUT_SESSION, parameter_names
from redolab.engine.offer import NO_DATABASE, PRIVATE, Offer, Opening, Wanted
from redolab.records.capability import OFFERED
from redolab.records.checkup import Checkup

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.engine.postgres.observer.observer import PostgresObserver


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


def _check(target: str, wanted: Mapping[str, Wanted]) -> Checkup:
    from redolab.engine.postgres.checkup import check_private, check_url

    return check_url(target, wanted) if "://" in target else check_private(wanted)


def _changes(_target: str, combinations: Iterable[Mapping[str, str]]) -> Sequence[str]:
    return parameter_names(combinations)


def _observer() -> type[PostgresObserver]:
    from redolab.engine.postgres.observer.observer import PostgresObserver

    return PostgresObserver


OFFERS = (
    Offer(
        name="embedded",
        title="a private PostgreSQL 18",
        text="embedded: a private PostgreSQL 18, made for the run and removed after it",
        capabilities=OFFERED["embedded"] | {"hard_kill", "log_device"},
        lacks={**NO_DATABASE, **PRIVATE},
        open=_open_private,
        checkup=_check,
        makes=("schema redolab",),
        within="redolab.",
        logs={"": ("write-ahead log",)},
        changes=_changes,
        server_wide=WITHOUT_SESSION,
        uses_up=True,
    ),
    Offer(
        name="postgresql",
        title="your PostgreSQL 14 to 19, by its URL",
        text="the PostgreSQL server of the URL; this plan does not connect to it",
        capabilities=OFFERED["postgresql"] | {"watch"},
        lacks={
            **NO_DATABASE,
            "hard_kill": "Redolab kills only servers that it started itself.",
            "log_device": "Redolab cannot emulate a log device for your server.",
        },
        open=_open_url,
        checkup=_check,
        observer=_observer,
        schemes=("postgresql", "postgres"),
        makes=("schema redolab",),
        within="redolab.",
        changes=_changes,
        server_wide=WITHOUT_SESSION,
        uses_up=True,
        example="postgresql://user@host/db",
    ),
)
