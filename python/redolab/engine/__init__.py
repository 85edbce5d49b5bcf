"""Engines: the databases experiments run against. `open_engine` is the only door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.errors import UsageError

if TYPE_CHECKING:
    from redolab.engine.base import Engine


def open_engine(target: str, sessions: int, log_device_s: float | None, seed: int) -> Engine:
    """Open the engine that `--engine` names: `embedded` or a `postgresql://` URL.

    Raises:
        UsageError: there is no such engine, or an emulated device was asked of a foreign server.
        RefusedError: the server cannot be had.
    """
    from redolab.engine.connection import Connector
    from redolab.engine.embedded import EmbeddedServer
    from redolab.engine.postgres import PostgresEngine

    if target == "embedded":
        server = EmbeddedServer(sessions, log_device_s)
        try:
            return PostgresEngine(Connector(server.target), server, seed)
        except BaseException:
            server.stop()
            raise
    if target.startswith(("postgresql://", "postgres://")):
        if log_device_s is not None:
            raise UsageError(
                "--log-device-ms emulates a slow device under Redolab's own server only; a server given "
                "by URL has the device it has. Leave one of the two out."
            )
        return PostgresEngine(Connector(target), None, seed)
    raise UsageError(
        f"There is no engine {target!r}. Use embedded, or a URL such as "
        "postgresql://user@host:5432/database."
    )
