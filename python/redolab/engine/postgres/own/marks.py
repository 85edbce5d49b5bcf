"""The marks of schemas that Redolab made in somebody's database, kept on this machine until they are dropped.

A schema is Redolab's own only if it bears a mark that stands here: nobody else can know one before. Each mark
is a file of its own in `redolab.files.places.data_directory()`, whose content is the name of the database.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from redolab.files.directories import make_directories
from redolab.files.places import data_directory
from redolab.files.writing import create_file

_MARK = re.compile(r"[0-9a-f]{32}")
_MOST_BYTES = 256


def new_mark() -> str:
    """128 random bits, hexadecimal."""
    return secrets.token_hex(16)


def keep_mark(mark: str, database: str) -> bool:
    """Write a mark down before its schema is made; returns whether that was possible."""
    try:
        make_directories(_place())
        file = create_file(_place() / mark, database.encode(errors="surrogateescape"), 0o600)
        os.fsync(file)
        os.close(file)
    except OSError:
        return False
    return True


def forget_mark(mark: str) -> None:
    """Its schema is dropped."""
    with suppress(OSError):
        (_place() / mark).unlink()


def kept_marks() -> dict[str, str]:
    """The marks whose schemas were not dropped yet, each with the name of its database."""
    found = {}
    with suppress(OSError):
        for entry in _place().iterdir():
            if _MARK.fullmatch(entry.name) and entry.is_file() and not entry.is_symlink():
                with suppress(OSError), entry.open("rb") as stream:
                    found[entry.name] = stream.read(_MOST_BYTES).decode(errors="surrogateescape")
    return found


def _place() -> Path:
    return data_directory() / "schemas"
