"""The marks of schemas that Redolab made in somebody's database, kept on this machine until they are dropped.

A schema is Redolab's own only if it is proved by a mark that is kept here: nobody else can know one before.
Each mark is a file of its own in `redolab.files.places.data_directory()`. Next to it is what its run changed
on the server, which nobody else can drop, empty or edit.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass

from redolab.bounds import MOST_JSON_BYTES
from redolab.engine.server.kept import Kept
from redolab.errors import UsageError
from redolab.files.documents import parse_json_object
from redolab.files.folder import Folder
from redolab.files.places import data_directory

_MARK = re.compile(r"[0-9a-f]{32}")
_MOST_BYTES = 256


def new_mark() -> str:
    """128 random bits, hexadecimal."""
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Left:
    """The changes that killed runs of this machine left on a server."""

    here: tuple[Kept, ...]
    """Changes that were noted next to their marks."""
    elsewhere: tuple[str, ...]
    """Where a server was reached that says it is the same, and that has parameters left changed."""


class Marks:
    """The marks of one kind of server."""

    def __init__(self, folder: str) -> None:
        """Take the name of their directory, below that of Redolab's data."""
        self._name = folder

    def keep(self, mark: str, place: str) -> bool:
        """Write a mark down before its schema is made; returns whether that was possible.

        Args:
            mark: 32 hexadecimal digits.
            place: where its schema will be, the key that distinguishes places on that kind of server: a
                database's name.
        """
        try:
            with self._folder(make=0o700) as folder:
                file = folder.create(mark, place.encode(errors="surrogateescape"), 0o600)
            os.fsync(file)
            os.close(file)
        except OSError:
            return False
        return True

    def note(self, kept: Kept) -> None:
        """Write down next to its mark what a run has changed or is about to; nothing, where that fails."""
        with suppress(OSError), self._folder() as folder:
            name = _beside(kept.mark)
            try:
                folder.write(name, json.dumps(kept.as_json()).encode())
            except OSError:
                # What was true before is not what is true now.
                folder.remove(name)

    def noted(self, mark: str) -> Kept | None:
        """The changes of its run; None where that was not written down, or cannot be read."""
        with suppress(OSError, UsageError, ValueError), self._folder() as folder:
            name = _beside(mark)
            kept = Kept.from_json(parse_json_object(folder.read(name, MOST_JSON_BYTES), name))
            return kept if kept.mark == mark else None
        return None

    def settle(self, kept: Kept) -> None:
        """Write down what is left of it, where something was written down of a server at that address."""
        noted = self.noted(kept.mark)
        if noted is not None and noted.address == kept.address:
            self.note(kept)

    def left_on(self, server: str, address: str) -> Left:
        """The changes on this server by runs that are gone.

        Args:
            server: as `Kept.server` has it.
            address: as `Kept.address` has it.
        """
        noted = [kept for kept in map(self.noted, self.kept()) if kept and server and kept.server == server]
        return Left(
            tuple(kept for kept in noted if kept.address == address),
            tuple(kept.address for kept in noted if kept.address != address and kept.changed),
        )

    def forget(self, mark: str, address: str = "") -> None:
        """Its schema is dropped at that address; one that was noted of another stays: this was a copy."""
        noted = self.noted(mark)
        if not mark or (noted is not None and noted.address != address):
            return
        with suppress(OSError), self._folder() as folder:
            folder.remove(mark, _beside(mark))

    def kept(self) -> dict[str, str]:
        """The marks whose schemas were not dropped yet, each with its place."""
        places = {}
        with suppress(OSError), self._folder() as folder:
            for name in filter(_MARK.fullmatch, folder.names()):
                with suppress(OSError, UsageError):
                    places[name] = folder.read(name, _MOST_BYTES).decode(errors="surrogateescape")
        return places

    def _folder(self, make: int | None = None) -> Folder:
        """Their directory, open; where root works, one that others cannot plant a mark in."""
        return Folder.to_write(data_directory() / self._name, make, alone=True)


def _beside(mark: str) -> str:
    return f"{mark}.kept"
