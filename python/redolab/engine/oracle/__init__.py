"""Oracle Database: somebody's, by its URL. It is watched; experiments do not run on it yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from redolab.engine.offer import NO_DATABASE, Offer, Opening, Wanted
from redolab.errors import UsageError
from redolab.records.capability import CAPABILITIES
from redolab.records.checkup import Checkup

if TYPE_CHECKING:
    from redolab.engine.base import Engine

_ONLY_WATCHED = "Oracle is only watched so far: no experiment runs on it yet."


def _open(opening: Opening) -> Engine:
    raise UsageError(f"No experiment runs on {opening.target}. {_ONLY_WATCHED}")


def _check(target: str, wanted: Mapping[str, Wanted]) -> Checkup:  # noqa: ARG001
    from redolab.engine.oracle.checkup import check_url

    return check_url(target)


OFFERS = (
    Offer(
        name="oracle",
        title="your Oracle from 12.1, by its URL",
        text="the Oracle database of the URL; it is not connected to for this plan",
        capabilities=frozenset({"watch"}),
        lacks={
            **dict.fromkeys(CAPABILITIES, _ONLY_WATCHED),
            **NO_DATABASE,
            "hard_kill": "Redolab kills no server but one that it started itself.",
            "log_device": "The server has the log device that it has.",
        },
        open=_open,
        checkup=_check,
        schemes=("oracle",),
        example="oracle://user@host/service",
    ),
)
