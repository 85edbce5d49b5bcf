"""MariaDB: as a private server; or somebody's MariaDB or MySQL by its URL, to be watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from redolab.engine.offer import NO_DATABASE, PRIVATE, Offer, Opening, Wanted
from redolab.errors import UsageError
from redolab.records.capability import CAPABILITIES
from redolab.records.checkup import Checkup

if TYPE_CHECKING:
    from redolab.engine.base import Engine

_ONLY_SCANS = "For MariaDB Redolab has only the load of whole scans so far."
_ONLY_WATCHED = "A MariaDB or MySQL by its URL is only watched so far, and never loaded."


def _open(opening: Opening) -> Engine:
    from redolab.engine.mariadb.engine import MariaDBEngine
    from redolab.engine.mariadb.private import PrivateMariaDB

    server = PrivateMariaDB(opening.disk_bytes, opening.load.cache_bytes())
    try:
        return MariaDBEngine(server, opening.seed)
    except BaseException:
        server.stop()
        raise


def _open_url(opening: Opening) -> Engine:  # noqa: ARG001
    raise UsageError(_ONLY_WATCHED)


def _check(target: str, wanted: Mapping[str, Wanted]) -> Checkup:
    from redolab.engine.mariadb.checkup import check_private, check_url

    return check_url(target) if "://" in target else check_private(wanted)


OFFERS = (
    Offer(
        name="mariadb",
        title="a private MariaDB",
        text="mariadb: a private server of the installed MariaDB, made for the run and removed after it",
        capabilities=frozenset({"scans"}),
        lacks={**dict.fromkeys(CAPABILITIES, _ONLY_SCANS), **NO_DATABASE, **PRIVATE},
        open=_open,
        checkup=_check,
        makes=("database redolab",),
        within="redolab.",
    ),
    Offer(
        name="mysql",
        title="your MariaDB or MySQL, by its URL",
        text="the MariaDB or MySQL server of the URL, watched and never loaded",
        capabilities=frozenset({"watch"}),
        lacks={**dict.fromkeys(CAPABILITIES, _ONLY_WATCHED), **NO_DATABASE},
        open=_open_url,
        checkup=_check,
        schemes=("mysql", "mariadb"),
        example="mysql://user@host/",
    ),
)
