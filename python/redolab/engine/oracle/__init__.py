"""Oracle Database: somebody's, by its URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from redolab.engine.offer import NO_DATABASE, Offer, Opening, Wanted
from redolab.parts import ORACLE, check_part, why_missing
from redolab.records.capability import OFFERED, Ways
from redolab.records.checkup import Checkup, not_there

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.engine.oracle.observer.observer import OracleObserver


def _open(opening: Opening) -> Engine:
    check_part(ORACLE)
    from redolab.engine.oracle.engine import OracleEngine

    return OracleEngine(opening.target, opening.seed)


def _check(target: str, wanted: Mapping[str, Wanted]) -> Checkup:
    if (why := why_missing(ORACLE)) is not None:
        return not_there(ORACLE.title, why, wanted)
    from redolab.engine.oracle.checkup import check_url

    return check_url(target, wanted)


def _observer() -> type[OracleObserver]:
    check_part(ORACLE)
    from redolab.engine.oracle.observer.observer import OracleObserver

    return OracleObserver


OFFERS = (
    Offer(
        name="oracle",
        title="your Oracle from 12.1, by its URL",
        text="the Oracle database of the URL; this plan does not connect to it",
        capabilities=OFFERED["oracle"] | {"watch"},
        lacks={
            **NO_DATABASE,
            "statements": "Lists of statements do not run on Oracle yet.",
            "hard_kill": "Redolab kills only servers that it started itself.",
            "log_device": "Redolab cannot emulate a log device for your server.",
        },
        # A plain COMMIT in a loop of PL/SQL waits once, at the end of the call, whatever the session's
        # parameters are: there each commit says its mode.
        ways=Ways(
            loops=("server", "client"),
            timed=("client",),
            scopes=("transaction", "session"),
            client_scopes=("session",),
            server_processes=("shared", "pooled"),
        ),
        open=_open,
        checkup=_check,
        observer=_observer,
        schemes=("oracle",),
        makes=("table REDOLAB_RUN in the user's own schema",),
        within="REDOLAB_",
        example="oracle://user@host/service",
    ),
)
