"""An open directory, and the only place where Redolab writes and removes its files.

A directory that was checked by its descriptor is also used by that descriptor: even if its name is given to
something else meanwhile, everything is done in the directory that was opened. No link in it is followed. A
file is written whole: into a draft with a random name, flushed, and renamed; others cannot foresee that name.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from redolab.errors import UsageError
from redolab.files import entries, system
from redolab.files.directories import directory_to_write, make_in, own_directory
from redolab.files.foreign import check_regular, read_open

_NEW = os.O_CREAT | os.O_EXCL | system.NO_LINK
_READ = os.O_RDONLY | system.NO_LINK | system.NO_WAIT
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.draft")
_SPECIAL = "it is not a regular file"


class Folder:
    """A directory that was opened; a name in it is one component, and failures raise `OSError`."""

    def __init__(self, descriptor: int, path: Path) -> None:
        """Take over an open directory; `path` is its name when it was opened, only for messages."""
        self._descriptor, self.path = descriptor, path

    @classmethod
    def to_read(cls, path: Path) -> Self:
        """Open a directory that the user named; links on the way are followed."""
        return cls(entries.open_directory(path), path)

    @classmethod
    def to_write(cls, path: Path, make: int | None = None, *, alone: bool = False) -> Self:
        """Open a directory to write to it, see `directory_to_write`."""
        return cls(directory_to_write(path, make, alone=alone), path)

    @classmethod
    def own(cls, path: Path, mode: int = 0o700, *, new: bool = False) -> Self:
        """Open a directory that is this user's alone, see `own_directory`."""
        return cls(own_directory(path, mode, new=new), path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """Its descriptor."""
        return self._descriptor

    def status(self) -> os.stat_result:
        """Kind, owner and mode of the open directory."""
        return entries.status_of(self._descriptor)

    def close(self) -> None:
        """Close the directory; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            entries.close_directory(descriptor)

    def names(self, most: int | None = None) -> list[str]:
        """The names in it, sorted.

        Raises:
            UsageError: there are more than `most`.
        """
        found = []
        with entries.scan(self._descriptor) as scanned:
            for entry in scanned:
                found.append(entry.name)
                if most is not None and len(found) > most:
                    raise UsageError(
                        f"{self.path} contains more than {most:,} files, which a run of Redolab never has."
                    )
        return sorted(found)

    def has(self, name: str) -> bool:
        """Whether there is an entry of that name, even a link that leads nowhere."""
        try:
            entries.stat_in(_single(name), self._descriptor)
        except FileNotFoundError:
            return False
        return True

    def read(self, name: str, most: int) -> bytes:
        """The content of a file of at most so many bytes.

        Raises:
            UsageError: it is not a file, or has more bytes than that.
        """
        return read_open(self._opened(name), self.path / name, most)

    def hash(self, name: str) -> str:
        """SHA-256 of a file, hexadecimal.

        Raises:
            UsageError: it is not a file.
        """
        with os.fdopen(self._opened(name), "rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole, in place of an older one or a link; the umask takes from its mode, 0666."""
        self._refuse_special(name)
        draft = f".{secrets.token_hex(8)}.draft"
        file = entries.open_in(draft, self._descriptor, os.O_WRONLY | _NEW)
        try:
            try:
                write_all(file, content)
                os.fsync(file)
            finally:
                os.close(file)
            entries.replace_in(draft, name, self._descriptor)
        except BaseException:
            with suppress(OSError):
                entries.unlink_in(draft, self._descriptor)
            raise

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write JSON so that a reader sees the old file or the new one, never half of it."""
        self.write(name, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())

    def create(self, name: str, content: bytes, mode: int) -> int:
        """Make a new file with exactly this mode; returns a descriptor to read and write it."""
        file = entries.open_in(_single(name), self._descriptor, os.O_RDWR | _NEW, mode)
        try:
            system.set_mode(file, mode)
            write_all(file, content)
        except BaseException:
            os.close(file)
            raise
        return file

    def append(self, name: str) -> int:
        """Open a file for lines to be added, made if missing; returns its descriptor."""
        # Without the flag, opening a pipe in its place would wait.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | system.NO_LINK | system.NO_WAIT
        try:
            file = entries.open_in(_single(name), self._descriptor, flags, 0o644)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed", name) from error
            raise
        found = os.fstat(file)
        # In somebody else's directory this file may be a second name of one of root's files.
        second = system.is_root() and found.st_nlink > 1
        if second or not stat.S_ISREG(found.st_mode):
            os.close(file)
            raise OSError(errno.EINVAL, "it has a second name elsewhere" if second else _SPECIAL, name)
        return file

    def lock_file(self, name: str) -> int:
        """Open a file that only this user can lock, made if missing; returns its descriptor."""
        flags = os.O_RDWR | os.O_CREAT | system.NO_LINK
        file = entries.open_in(_single(name), self._descriptor, flags, 0o600)
        system.set_mode(file, 0o600)  # Whoever can open it can lock it.
        return file

    def link(self, name: str, target: Path) -> None:
        """Make a symbolic link where there is nothing."""
        entries.link_in(_single(name), target, self._descriptor)

    def remove(self, *names: str) -> None:
        """Remove files and links; missing ones are not an error."""
        for name in names:
            with suppress(FileNotFoundError):
                entries.unlink_in(_single(name), self._descriptor)

    def clear(self, ours: Callable[[str], bool] | None = None) -> None:
        """Remove drafts that a kill left, and the files whose names are `ours`."""
        for name in self.names():
            if _DRAFT.fullmatch(name) or (ours is not None and ours(name)):
                with suppress(IsADirectoryError):
                    self.remove(name)

    def inner(self, name: str, *, make: bool = False) -> Folder:
        """Open a directory in it; with `make` one that must not be there yet."""
        if make:
            make_in(_single(name), self._descriptor)
        opened = entries.open_directory(_single(name), self._descriptor, links=False)
        return Folder(opened, self.path / name)

    def holds(self, inner: Folder) -> bool:
        """Whether a directory that was opened in it is still there, under the same name."""
        try:
            found = entries.stat_in(inner.path.name, self._descriptor)
        except OSError:
            return False
        return os.path.samestat(found, inner.status())

    def remove_inner(self, inner: Folder) -> None:
        """Remove a directory that was opened in it, if it is empty and still there."""
        if self.holds(inner):
            with suppress(OSError):
                entries.rmdir_in(inner.path.name, self._descriptor)

    def vanish(self) -> None:
        """Remove the directory itself, if it is empty and still where it was opened; close it."""
        with suppress(OSError), Folder.to_read(self.path.parent) as parent:
            parent.remove_inner(self)
        self.close()

    def _opened(self, name: str) -> int:
        # Looked at before it is opened: opening a device or a pipe may do something.
        found = entries.stat_in(_single(name), self._descriptor)
        check_regular(found.st_mode, self.path / name)
        return entries.open_in(name, self._descriptor, _READ)

    def _refuse_special(self, name: str) -> None:
        """Refuse to replace a device, a pipe or a directory; only files and links are replaced."""
        try:
            found = entries.stat_in(_single(name), self._descriptor).st_mode
        except FileNotFoundError:
            return
        if stat.S_ISDIR(found):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if not (stat.S_ISREG(found) or stat.S_ISLNK(found)):
            raise OSError(errno.EINVAL, _SPECIAL, name)


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole, in place of an older one; the directory may be reached through links.

    Raises:
        OSError: it cannot be written, its place has something other than a file, or root would follow a
            link that somebody else may have made.
    """
    with Folder.to_write(path.parent) as folder:
        folder.write(path.name, content)


def write_all(file: int, content: bytes) -> None:
    """Write every byte at the descriptor's place."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def _single(name: str) -> str:
    if "/" in name or name in ("", ".", ".."):
        raise UsageError(f"{name!r} is not the name of a file in a directory.")
    return name
