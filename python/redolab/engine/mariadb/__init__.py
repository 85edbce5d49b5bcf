"""MariaDB and MySQL: as private servers; or somebody's by its URL, to be watched."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from redolab.engine.offer import NO_DATABASE, PRIVATE, Offer, Opening, Wanted
from redolab.errors import UsageError
from redolab.records.capability import CAPABILITIES, Capability
from redolab.records.checkup import Checkup

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.engine.mariadb.private import Flavour

_ONLY_SCANS = "For MariaDB Redolab has only the load of whole scans so far."
_NO_LOAD = "For MySQL Redolab has no load so far."
_ONLY_WATCHED = "A MariaDB or MySQL by its URL is only watched so far, and never loaded."
_WITHOUT_BINLOG = "skip-log-bin"
_LOGS = {"": ("redo log", "binary log"), _WITHOUT_BINLOG: ("redo log",)}


def _open(flavour: Flavour, opening: Opening) -> Engine:
    from redolab.engine.mariadb.engine import MariaDBEngine
    from redolab.engine.mariadb.private import PrivateServer

    server = PrivateServer(
        flavour,
        disk_bytes=opening.disk_bytes,
        cache_bytes=opening.load.cache_bytes(),
        sessions=opening.load.sessions,
        binlog=opening.variant != _WITHOUT_BINLOG,
        log_device_s=opening.log_device_s,
    )
    try:
        return MariaDBEngine(server, opening.seed)
    except BaseException:
        server.stop()
        raise


def _open_url(opening: Opening) -> Engine:  # noqa: ARG001
    raise UsageError(_ONLY_WATCHED)


def _check(flavour: Flavour, target: str, wanted: Mapping[str, Wanted]) -> Checkup:  # noqa: ARG001
    from redolab.engine.mariadb.checkup import check_private

    return check_private(flavour, wanted)


def _check_url(target: str, wanted: Mapping[str, Wanted]) -> Checkup:  # noqa: ARG001
    from redolab.engine.mariadb.checkup import check_url

    return check_url(target)


def _private(flavour: Flavour, product: str, capabilities: Collection[Capability], lacking: str) -> Offer:
    return Offer(
        name=flavour,
        title=f"a private {product}, with or without its binary log",
        text=f"{flavour}: a private server of the installed {product}, made for the run and removed after it",
        capabilities=frozenset({"log_device", *capabilities}),
        lacks={**dict.fromkeys(CAPABILITIES, lacking), **NO_DATABASE, **PRIVATE},
        open=partial(_open, flavour),
        checkup=partial(_check, flavour),
        makes=("database redolab",),
        within="redolab.",
        logs=_LOGS,
    )


OFFERS = (
    _private("mariadb", "MariaDB", {"scans"}, _ONLY_SCANS),
    _private("mysql", "MySQL", (), _NO_LOAD),
    Offer(
        # Not as the private one: it is somebody's, MariaDB or MySQL.
        name="mysql://",
        title="your MariaDB or MySQL, by its URL",
        text="the MariaDB or MySQL server of the URL, watched and never loaded",
        capabilities=frozenset({"watch"}),
        lacks={**dict.fromkeys(CAPABILITIES, _ONLY_WATCHED), **NO_DATABASE},
        open=_open_url,
        checkup=_check_url,
        schemes=("mysql", "mariadb"),
        example="mysql://user@host/",
    ),
)
