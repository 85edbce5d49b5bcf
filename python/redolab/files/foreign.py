"""Files from outside, opened with bounds: the one place that opens them, and refuses what is no plain file.

A run directory may come from anybody, and so may a ledger, a list file and a column of numbers. Whatever is
refused here, or where their bytes are decoded (`documents`, `tables`), ends in a `UsageError` that names the
file. Nothing here hangs, follows a link out of a run directory, or takes more memory than its bounds say.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redolab.errors import UsageError

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY


def read_regular(path: Path, most: int, *, pipes: bool = False) -> bytes:
    """The content of a file that the user named.

    Args:
        path: of the file; links are followed, because the user made them or named them.
        most: bytes that it may have.
        pipes: whether a pipe will do, which is read until its end.

    Raises:
        OSError: it cannot be opened or read.
        UsageError: it is neither a file nor such a pipe, or has more bytes than that.
    """
    mode = path.stat().st_mode
    if pipes and stat.S_ISFIFO(mode):
        with path.open("rb") as file:
            return _bounded(file.read(most + 1), path, most)
    _check_regular(mode, path)
    return _read(os.open(path, _FLAGS), path, most)


def read_inside(directory: Path, name: str, most: int) -> bytes:
    """The content of a file of a run directory; no link in it is followed.

    Args:
        directory: as the user named it.
        name: of the file in it, or in a directory of it (`parts/...`).
        most: bytes that it may have.

    Raises:
        OSError: it cannot be opened or read; a link counts as such.
        UsageError: it is no file, or has more bytes than that.
    """
    with _opened_inside(directory, name) as file:
        return _read(os.dup(file), directory / name, most)


def hash_inside(directory: Path, name: str) -> str:
    """SHA-256 of a file of a run directory, hexadecimal; no link in it is followed.

    Raises:
        OSError: it cannot be opened or read; a link counts as such.
        UsageError: it is no file.
    """
    with _opened_inside(directory, name) as file, os.fdopen(os.dup(file), "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def names_inside(directory: Path, folder: str, most: int) -> list[str]:
    """The names in a directory of a run directory, sorted; none where it is not there.

    Raises:
        OSError: it cannot be read; a link counts as such.
        UsageError: it has more than `most` names.
    """
    parent = os.open(directory, _FOLDER)
    try:
        try:
            inner = os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
        except FileNotFoundError:
            return []
        try:
            with os.scandir(inner) as found:
                names = []
                for entry in found:
                    names.append(entry.name)
                    if len(names) > most:
                        raise UsageError(f"{directory / folder} has more than {most:,} files in it.")
                return sorted(names)
        finally:
            os.close(inner)
    finally:
        os.close(parent)


@contextmanager
def _opened_inside(directory: Path, name: str) -> Iterator[int]:
    *folders, last = name.split("/")
    if not last or {"", ".", ".."} & {*folders, last}:
        raise UsageError(f"{name!r} is no name of a file in {directory}.")
    opened = [os.open(directory, _FOLDER)]
    try:
        for folder in folders:
            opened.append(os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=opened[-1]))
        # Looked at before it is opened: opening a device or a pipe may do something.
        mode = os.stat(last, dir_fd=opened[-1], follow_symlinks=False).st_mode
        _check_regular(mode, directory / name)
        opened.append(os.open(last, _FLAGS | os.O_NOFOLLOW, dir_fd=opened[-1]))
        _check_regular(os.fstat(opened[-1]).st_mode, directory / name)
        yield opened[-1]
    finally:
        for file in opened:
            os.close(file)


def _check_regular(mode: int, path: Path) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a link, which is not followed inside a run directory"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    kind = next((name for fits, name in kinds if fits(mode)), "a device")
    raise UsageError(f"{path} is {kind}. Redolab reads plain files alone here.")


def _read(file: int, path: Path, most: int) -> bytes:
    with os.fdopen(file, "rb") as opened:
        _check_regular(os.fstat(opened.fileno()).st_mode, path)
        return _bounded(opened.read(most + 1), path, most)


def _bounded(content: bytes, path: Path, most: int) -> bytes:
    if len(content) > most:
        raise UsageError(f"{path} has more than {most:,} bytes, which is more than Redolab writes or reads.")
    return content
