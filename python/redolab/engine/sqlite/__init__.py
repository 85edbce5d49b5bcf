"""SQLite, in a private database file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.engine.offer import Offer, Opening

if TYPE_CHECKING:
    from redolab.engine.base import Engine


def _open(opening: Opening) -> Engine:
    from redolab.engine.sqlite.engine import SQLiteEngine

    return SQLiteEngine(opening.disk_bytes)


OFFERS = (Offer("sqlite", "private SQLite file", frozenset({"scans"}), _open),)
