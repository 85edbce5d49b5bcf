"""SQLite, in a private database file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from redolab.engine.offer import NO_DATABASE, PRIVATE, Offer, Opening, Wanted
from redolab.records.capability import CAPABILITIES
from redolab.records.checkup import Checkup

if TYPE_CHECKING:
    from redolab.engine.base import Engine

_ONLY_SCANS = "On SQLite, Redolab supports only the load of whole scans so far."


def _open(opening: Opening) -> Engine:
    from redolab.engine.sqlite.engine import SQLiteEngine

    return SQLiteEngine(opening.disk_bytes)


def _check(target: str, wanted: Mapping[str, Wanted]) -> Checkup:  # noqa: ARG001
    from redolab.engine.sqlite.checkup import check_private

    return check_private(wanted)


OFFERS = (
    Offer(
        name="sqlite",
        title="a private SQLite file",
        text="sqlite: a private database file, made for the run and removed after it",
        capabilities=frozenset({"scans"}),
        lacks={**dict.fromkeys(CAPABILITIES, _ONLY_SCANS), **NO_DATABASE, **PRIVATE},
        open=_open,
        checkup=_check,
        makes=("a private database file",),
    ),
)
