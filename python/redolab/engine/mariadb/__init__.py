"""MariaDB and MySQL: as private servers, or somebody's by its URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from redolab.dialect import innodb
from redolab.dialect.innodb import WITHOUT_BINLOG
from redolab.engine.offer import NO_DATABASE, PRIVATE, Offer, Opening, Wanted
from redolab.records.capability import OFFERED, Ways
from redolab.records.checkup import Checkup

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.engine.mariadb.observer.observer import MariadbObserver
    from redolab.engine.mariadb.private import Flavour

_WAYS = Ways(loops=("client",), timed=("client",), scopes=("system",))
_LOGS = {"": ("redo log", "binary log"), WITHOUT_BINLOG: ("redo log",)}


def _open(flavour: Flavour, opening: Opening) -> Engine:
    from redolab.engine.mariadb.connecting.connector import Connector
    from redolab.engine.mariadb.engine import MariaDBEngine
    from redolab.engine.mariadb.private import PrivateServer

    server = PrivateServer(
        flavour,
        disk_bytes=opening.disk_bytes,
        cache_bytes=opening.load.cache_bytes(),
        sessions=opening.load.sessions,
        binlog=opening.variant != WITHOUT_BINLOG,
        log_device_s=opening.log_device_s,
    )
    try:
        return MariaDBEngine(Connector.to_private(server.socket), server, opening.seed)
    except BaseException:
        server.stop()
        raise


def _open_url(opening: Opening) -> Engine:
    from redolab.engine.mariadb.connecting.connector import Connector
    from redolab.engine.mariadb.engine import MariaDBEngine

    return MariaDBEngine(Connector.to_url(opening.target), None, opening.seed)


def _check(flavour: Flavour, target: str, wanted: Mapping[str, Wanted]) -> Checkup:  # noqa: ARG001
    from redolab.engine.mariadb.checkup import check_private

    return check_private(flavour, wanted)


def _check_url(target: str, wanted: Mapping[str, Wanted]) -> Checkup:
    from redolab.engine.mariadb.checkup import check_url

    return check_url(target, wanted)


def _changes(
    flavours: Sequence[Flavour], target: str, combinations: Iterable[Mapping[str, str]]
) -> list[str]:
    binlog = not target.endswith(f":{WITHOUT_BINLOG}")
    levels = list(combinations)
    names_by_flavour = [innodb.parameter_names(levels, flavour, binlog) for flavour in flavours]
    return list(dict.fromkeys(name for names in names_by_flavour for name in names))


def _missing(target: str, levels: Mapping[str, str]) -> str | None:
    return innodb.missing(levels, binlog=not target.endswith(f":{WITHOUT_BINLOG}"))


def _private(flavour: Flavour, product: str) -> Offer:
    return Offer(
        name=flavour,
        title=f"a private {product}, with or without its binary log",
        text=f"{flavour}: a private server of the installed {product}, made for the run and removed after it",
        capabilities=OFFERED[flavour] | {"hard_kill", "log_device"},
        lacks={**NO_DATABASE, **PRIVATE},
        ways=_WAYS,
        open=partial(_open, flavour),
        checkup=partial(_check, flavour),
        makes=("database redolab",),
        within="redolab.",
        logs=_LOGS,
        changes=partial(_changes, (flavour,)),
        server_wide=innodb.PARAMETERS,
        missing=_missing,
    )


def _observer() -> type[MariadbObserver]:
    from redolab.engine.mariadb.observer.observer import MariadbObserver

    return MariadbObserver


OFFERS = (
    _private("mariadb", "MariaDB"),
    _private("mysql", "MySQL"),
    Offer(
        # Not as the private one: it is somebody's, MariaDB or MySQL.
        name="mysql://",
        title="your MariaDB from 10.6 or MySQL from 8.0, by its URL",
        text="the MariaDB or MySQL server of the URL; this plan does not connect to it",
        capabilities=OFFERED["mysql"] | {"watch"},
        lacks={
            **NO_DATABASE,
            "hard_kill": "Redolab kills only servers that it started itself.",
            "log_device": "Redolab cannot emulate a log device for your server.",
        },
        ways=_WAYS,
        open=_open_url,
        checkup=_check_url,
        observer=_observer,
        schemes=("mysql", "mariadb"),
        makes=("database redolab",),
        within="redolab.",
        changes=partial(_changes, ("mariadb", "mysql")),
        server_wide=innodb.PARAMETERS,
        example="mysql://user@host/",
    ),
)
