"""Engines: the databases experiments run against. `open_engine` is the only door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.errors import UsageError

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.load import Load

_OWN = ("embedded", "mariadb")
"""Engines that Redolab makes for a run and removes after it."""
_SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql"}
"""What a URL may begin with, and which engine that is."""


def open_engine(target: str, load: Load, log_device_s: float | None, seed: int) -> Engine:
    """Open the engine that `--engine` names: `embedded`, `mariadb` or a `postgresql://` URL.

    Raises:
        RefusedError: the server cannot be had.
    """
    from redolab.engine.connection import Connector
    from redolab.engine.embedded import EmbeddedServer
    from redolab.engine.postgres import PostgresEngine
    from redolab.engine.postgres_loads.scans import BYTES_PER_VERSION
    from redolab.engine.room import bytes_written

    if target == "mariadb":
        return _open_mariadb(load)
    if target == "embedded":
        needed = bytes_written(load, BYTES_PER_VERSION)
        server = EmbeddedServer(load.sessions, log_device_s, needed)
        try:
            return PostgresEngine(Connector(server.target), server, seed)
        except BaseException:
            server.stop()
            raise
    return PostgresEngine(Connector(target), None, seed)


def _open_mariadb(load: Load) -> Engine:
    from redolab.engine.mariadb import BYTES_PER_VERSION, MariaDBEngine
    from redolab.engine.mariadb_private import PrivateMariaDB
    from redolab.engine.room import bytes_written

    server = PrivateMariaDB(bytes_written(load, BYTES_PER_VERSION))
    try:
        return MariaDBEngine(server)
    except BaseException:
        server.stop()
        raise


def check_target(target: str, allowed: tuple[str, ...], log_device_s: float | None) -> None:
    """Make sure that there is such an engine; nothing is started or connected.

    Args:
        target: what `--engine` says.
        allowed: the engines that the experiment can use.
        log_device_s: flush time of an emulated log device; None for the real one.

    Raises:
        UsageError: there is none, the experiment cannot use it, or an emulated device was asked of a
            foreign server.
    """
    scheme, is_url, _ = target.partition("://")
    kind = _SCHEMES.get(scheme, scheme) if is_url else target
    if kind not in {"embedded", *_SCHEMES.values()} or (kind != "embedded" and not is_url):
        raise UsageError(
            f"There is no engine {target!r}. Use embedded, or a URL such as "
            "postgresql://user@host:5432/database."
        )
    if kind not in allowed:
        raise UsageError(
            f"This experiment does not run on {target.partition('://')[0]}, only on {' or '.join(allowed)}: "
            "leave --engine out for its default."
        )
    if log_device_s is not None and is_url:
        raise UsageError(
            "--log-device-ms emulates a slow device under Redolab's own server only; a server given "
            "by URL has the device it has. Leave one of the two out."
        )
