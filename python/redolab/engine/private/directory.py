"""The directory of one private server: what Redolab made, locked by its guard, and removed afterwards.

    lock         says whose the directory is; its guard holds a lock on it
    data/        the server's own
    s/           its socket; or `elsewhere`, a link to the directory that holds `s/`
    server.log   what it said
    ...          the engine's own files

Where the server runs as another user, only `data/` and `s/` are that user's. It may pass through the
directory and change nothing in it: so no name there leads anywhere but where Redolab put it.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from redolab.engine.private.processes import stop_server
from redolab.files.directories import empty_directory, remove_own_directory, remove_tree
from redolab.files.folder import Folder

NAME = re.compile("[0-9a-f]{12}")
_LOCK = (
    b"A private server of Redolab's. Its guard process holds a lock on this file and removes the directory.\n"
)
_ELSEWHERE = "elsewhere"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def make_server_directory(directory: Path, user: int | None) -> int:
    """Make the directory of a server that will run as `user`, in a directory of this user's alone.

    Directories of killed runs next to it are removed before. Called by its guard alone: a Redolab that is
    killed between two of these steps would leave a directory that nobody has.

    Returns:
        The descriptor of its lock.

    Raises:
        OSError: it cannot be made.
    """
    with Folder.own(directory.parent) as base:
        turn = base.lock_file("lock")
        try:
            # Under the base's lock, so that another start does not treat the new directory as a leftover.
            fcntl.flock(turn, fcntl.LOCK_EX)
            _sweep(base.fileno())
            with Folder.own(directory, new=True) as made:
                _let_through(made, user)
                lock = made.create("lock", _LOCK, 0o600)
                fcntl.flock(lock, fcntl.LOCK_EX)
                return lock
        finally:
            os.close(turn)


def make_inside(directory: Path, user: int | None) -> None:
    """Make a directory that the server may write to, where its user may write nothing else.

    Raises:
        OSError: it cannot be made.
    """
    with Folder.own(directory, new=True) as made:
        if user is not None:
            os.fchown(made.fileno(), user, user)


def make_elsewhere(directory: Path, user: int | None) -> Path:
    """Make a second directory for the server's socket, with a shorter path; it is removed with the first.

    Raises:
        OSError: it cannot be made, or other users could exchange it.
    """
    place = Path(tempfile.gettempdir()).absolute() / f"redolab-{directory.name}"
    with Folder.own(directory) as here:
        here.link(_ELSEWHERE, place)  # First: whoever removes the one finds the other.
    with Folder.own(place, new=True) as made:
        _let_through(made, user)
    return place


def remove_server(directory: Path) -> None:
    """Stop whatever server runs in `directory`, then remove the directory and its socket's."""
    try:
        parent = os.open(directory.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        _remove(directory.name, parent)
    finally:
        os.close(parent)


def _sweep(base: int) -> None:
    """Remove what killed runs left in an open directory: servers still running, and their directories.

    Whatever does not bear Redolab's mark is left: directories of others, and those of another make.
    """
    for name in filter(NAME.fullmatch, os.listdir(base)):
        with suppress(OSError):
            opened = os.open(name, _OPEN, dir_fd=base)
            try:
                lock = _lock(opened) if os.fstat(opened).st_uid == os.geteuid() else None
            finally:
                os.close(opened)
            if lock is not None:
                _remove(name, base)
                os.close(lock)


def _lock(directory: int) -> int | None:
    """The lock is close-on-exec: a server that inherited it would hold it for ever."""
    try:
        file = os.open("lock", os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return None
    with suppress(OSError):
        status = os.fstat(file)
        ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if ours and os.pread(file, len(_LOCK) + 1, 0) == _LOCK:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
    os.close(file)
    return None


def _remove(name: str, parent: int) -> None:
    try:
        directory = os.open(name, _OPEN, dir_fd=parent)
    except OSError:
        return
    try:
        with suppress(OSError):
            stop_server(os.stat("data", dir_fd=directory, follow_symlinks=False))
        with suppress(OSError):
            _remove_elsewhere(name, Path(os.readlink(_ELSEWHERE, dir_fd=directory)))
        # The lock last: with it, what could not be removed is found by the next start.
        if empty_directory(directory, keep="lock"):
            remove_tree(name, parent)
    finally:
        os.close(directory)


def _remove_elsewhere(name: str, place: Path) -> None:
    """The socket's directory, if it is the one that belongs to a server's."""
    if place.name == f"redolab-{name}":
        remove_own_directory(place)


def _let_through(made: Folder, user: int | None) -> None:
    if user is not None:
        os.fchown(made.fileno(), -1, user)
        os.fchmod(made.fileno(), 0o710)
