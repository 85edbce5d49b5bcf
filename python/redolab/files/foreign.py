"""Files from outside, opened with bounds: the one place that opens them, and refuses all but plain files.

A run directory may come from anybody, and so may a ledger, a list file and a column of numbers. A file that
is refused here, or where its bytes are decoded (`documents`, `tables`), ends in a `UsageError` that names the
file. Nothing here hangs, follows a link out of a run directory, or takes more memory than its bounds.
"""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path

from redolab.console import say
from redolab.errors import UsageError
from redolab.files import system

_FLAGS = os.O_RDONLY | system.PLAIN | system.NO_WAIT
_PART_BYTES = 1 << 20
_SILENT_S = 1.0
"""Longest wait for a pipe without a message; a command that writes into it has begun by then."""


def read_regular(path: Path, most: int, *, pipes: bool = False) -> bytes:
    """The content of a file that the user named.

    Args:
        path: of the file; links are followed, because the user made them or named them.
        most: bytes that it may have.
        pipes: whether a pipe is accepted, which is read until its end.

    Raises:
        OSError: it cannot be opened or read.
        UsageError: it is neither a file nor such a pipe, or has more bytes than that.
    """
    if pipes and stat.S_ISFIFO(path.stat().st_mode):
        return _through_pipe(os.open(path, _FLAGS), path, most)
    return read_open(open_regular(path), path, most)


def open_regular(path: Path) -> int:
    """Open a file that the user named, to read it; returns its descriptor.

    Raises:
        OSError: it cannot be opened.
        UsageError: it is not a file.
    """
    # Looked at before it is opened: opening a device or a pipe may do something.
    check_regular(path.stat().st_mode, path)
    file = os.open(path, _FLAGS)
    try:
        check_regular(os.fstat(file).st_mode, path)
    except UsageError:
        os.close(file)
        raise
    return file


def check_regular(mode: int, path: Path) -> None:
    """Make sure that a path leads to a plain file.

    Raises:
        UsageError: it is something else.
    """
    if stat.S_ISREG(mode):
        return
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a link, which is not followed inside a run directory"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    kind = next((name for fits, name in kinds if fits(mode)), "a device")
    raise UsageError(f"{path} is {kind}. Redolab reads only plain files here.")


def read_open(file: int, path: Path, most: int) -> bytes:
    """The content of an open file of at most so many bytes; it is closed.

    Raises:
        OSError: it cannot be read.
        UsageError: it is not a plain file, or has more bytes than that.
    """
    with os.fdopen(file, "rb") as opened:
        check_regular(os.fstat(opened.fileno()).st_mode, path)
        # Ask only for the size of the file: a read of `most` bytes would allocate all of them at once.
        size = os.fstat(opened.fileno()).st_size
        return bounded(opened.read(min(most, size) + 1), path, most)


def _through_pipe(file: int, path: Path, most: int) -> bytes:
    """The bytes of a pipe until its end; where none come, a message names the pipe that is waited for."""
    with os.fdopen(file, "rb") as opened:
        if not select.select([opened], [], [], _SILENT_S)[0]:
            say(f"{path} is a pipe: waiting until somebody writes into it. Ctrl-C ends the wait.")
            select.select([opened], [], [])
        os.set_blocking(opened.fileno(), True)
        content = bytearray()
        while len(content) <= most and (part := opened.read(_PART_BYTES)):
            content += part
        return bounded(bytes(content), path, most)


def bounded(content: bytes, what: Path | str, most: int) -> bytes:
    """The content, if it has no more than so many bytes.

    Raises:
        UsageError: it has more.
    """
    if len(content) > most:
        raise UsageError(f"{what} has more than {most:,} bytes, more than Redolab ever writes or reads.")
    return content
