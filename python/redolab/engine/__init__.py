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

    check_target(target, log_device_s)
    if target == "embedded":
        server = EmbeddedServer(sessions, log_device_s)
        try:
            return PostgresEngine(Connector(server.target), server, seed)
        except BaseException:
            server.stop()
            raise
    return PostgresEngine(Connector(target), None, seed)


def check_target(target: str, log_device_s: float | None) -> None:
    """Make sure that there is such an engine; nothing is started or connected.

    Raises:
        UsageError: there is none, or an emulated device was asked of a foreign server.
    """
    if target == "embedded":
        return
    if not target.startswith(("postgresql://", "postgres://")):
        raise UsageError(
            f"There is no engine {target!r}. Use embedded, or a URL such as "
            "postgresql://user@host:5432/database."
        )
    if log_device_s is not None:
        raise UsageError(
            "--log-device-ms emulates a slow device under Redolab's own server only; a server given "
            "by URL has the device it has. Leave one of the two out."
        )
