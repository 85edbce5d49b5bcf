"""Whether a private SQLite file can be had here."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from redolab.engine.offer import Wanted
from redolab.engine.private import checkup
from redolab.engine.private.place import base_directory
from redolab.records.checkup import Checkup


def check_private(wanted: Mapping[str, Wanted]) -> Checkup:
    """The library's version and the disk."""
    return checkup.check_private("SQLite", _look, wanted)


def _look() -> tuple[str, Path]:
    return sqlite3.sqlite_version, base_directory(None, make=False)
