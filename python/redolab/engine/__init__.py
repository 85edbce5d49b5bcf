"""Engines: the databases experiments run against. `open_engine` is the only door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.errors import UsageError

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.records.load import Load

_SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql"}
"""What a URL may begin with, and which engine that is."""
_NAMES = frozenset({"embedded", "generator", "machine", "mariadb", "sqlite"})
"""Engines that need no URL."""


def open_engine(target: str, load: Load, disk_bytes: int, log_device_s: float | None, seed: int) -> Engine:
    """Open the engine that `--engine` names: a private one, a `postgresql://` URL, or one without a database.

    Args:
        target: what `--engine` says, as `check_target` allows it.
        load: what it will do.
        disk_bytes: how much disk that needs, where the server is Redolab's own.
        log_device_s: flush time of an emulated log device, seconds; None for the real one.
        seed: of the wait sampler's gaps.

    Raises:
        RefusedError: the server cannot be had.
    """
    if target == "machine":
        from redolab.engine.machine.engine import MachineEngine

        return MachineEngine()
    if target == "generator":
        from redolab.engine.generator import GeneratorEngine

        return GeneratorEngine(seed)
    from redolab.engine.postgres.connecting.connection import Connector
    from redolab.engine.postgres.engine import PostgresEngine
    from redolab.engine.postgres.private import EmbeddedServer

    if target == "mariadb":
        return _open_mariadb(disk_bytes, load.cache_bytes())
    if target == "sqlite":
        from redolab.engine.sqlite.engine import SQLiteEngine

        return SQLiteEngine(disk_bytes)
    if target == "embedded":
        server = EmbeddedServer(load.sessions, log_device_s, disk_bytes, load.cache_bytes())
        try:
            return PostgresEngine(Connector(server.target), server, seed)
        except BaseException:
            server.stop()
            raise
    return PostgresEngine(Connector(target), None, seed)


def _open_mariadb(disk_bytes: int, cache_bytes: int) -> Engine:
    from redolab.engine.mariadb.engine import MariaDBEngine
    from redolab.engine.mariadb.private import PrivateMariaDB

    server = PrivateMariaDB(disk_bytes, cache_bytes)
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
    if kind not in (_SCHEMES.values() if is_url else _NAMES):
        raise UsageError(
            f"There is no engine {target!r}. Use embedded, mariadb or sqlite, or a URL such as "
            "postgresql://user@host:5432/database."
        )
    if kind not in allowed:
        raise UsageError(
            f"This experiment does not run on {target.partition('://')[0]}, only on {' or '.join(allowed)}: "
            "leave --engine out for its default."
        )
    if log_device_s is not None and kind != "embedded":
        raise UsageError(
            "--log-device-ms emulates a slow device under Redolab's own server only, the embedded "
            "PostgreSQL; any other has the device it has. Leave one of the two out."
        )
