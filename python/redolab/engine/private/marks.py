"""The marks of schemas that Redolab made in somebody's database, kept on this machine until they are dropped.

A schema is Redolab's own only if it is proved by a mark that stands here: nobody else can know one before.
Each mark is a file of its own in `redolab.files.places.data_directory()`.
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


class Marks:
    """The marks of one kind of server."""

    def __init__(self, folder: str) -> None:
        """Take the name of their directory, below that of Redolab's data."""
        self._folder = folder

    def keep(self, mark: str, place: str) -> bool:
        """Write a mark down before its schema is made; returns whether that was possible.

        Args:
            mark: 32 hexadecimal digits.
            place: where its schema will be, as that kind of server is told apart: a database's name.
        """
        try:
            make_directories(self._place())
            file = create_file(self._place() / mark, place.encode(errors="surrogateescape"), 0o600)
            os.fsync(file)
            os.close(file)
        except OSError:
            return False
        return True

    def forget(self, mark: str) -> None:
        """Its schema is dropped."""
        with suppress(OSError):
            (self._place() / mark).unlink()

    def kept(self) -> dict[str, str]:
        """The marks whose schemas were not dropped yet, each with its place."""
        found = {}
        with suppress(OSError):
            for entry in self._place().iterdir():
                if _MARK.fullmatch(entry.name) and entry.is_file() and not entry.is_symlink():
                    with suppress(OSError), entry.open("rb") as stream:
                        found[entry.name] = stream.read(_MOST_BYTES).decode(errors="surrogateescape")
        return found

    def _place(self) -> Path:
        return data_directory() / self._folder
