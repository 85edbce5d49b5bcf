"""Sockets of this machine, and who may listen at one before the password is sent there."""

from __future__ import annotations

import os
import pwd
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SERVERS_OWN = ("mysql", "mariadb", "_mysql")
"""The accounts that a server's package makes for it."""
_FIRST_PERSON = 1000
"""Accounts of the system have lower numbers (`login.defs`)."""
_CREDENTIALS = struct.Struct("iII")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_LINKS_LIMIT = 40


class StrangerError(OSError):
    """Somebody else than the server may listen at this socket; `strerror` says who."""


def connect(path: str, patience_s: float) -> tuple[socket.socket, int]:
    """Connect to a socket, and make sure who listens there: the kernel says whose process it is.

    Args:
        path: of the socket.
        patience_s: how long it may take, seconds.

    Returns:
        The connection, of which nothing was read or sent, and the user of the process at its other end.

    Raises:
        StrangerError: it may be anybody's.
        OSError: nobody listens there.
    """
    connected = socket.socket(socket.AF_UNIX)
    try:
        connected.settimeout(patience_s)
        connected.connect(path)
        credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        peer = int(_CREDENTIALS.unpack(credentials)[1])
        if not (_is_trusted(peer) or _is_reached_by_names_of(peer, path)):
            raise StrangerError(
                0,
                f"a process of the user {_name(peer)} listens on that socket. That user is neither root nor "
                "you nor a server's own account, and others can write to a directory in the path of the "
                "socket",
            )
    except BaseException:
        connected.close()
        raise
    return connected, peer


def is_offered(path: str) -> bool:
    """Whether a socket that nobody named is there, and who could have put it there is trusted."""
    with suppress(OSError):
        status = os.lstat(path)
        return stat.S_ISSOCK(status.st_mode) and (
            _is_trusted(status.st_uid) or _is_reached_by_names_of(status.st_uid, path)
        )
    return False


def _is_trusted(uid: int) -> bool:
    if uid in (0, os.geteuid()):
        return True
    return 0 < uid < _FIRST_PERSON and _name(uid) in _SERVERS_OWN


def _is_reached_by_names_of(uid: int, path: str) -> bool:
    """Whether root, this user and `uid` alone can make or exchange any name on the way to a path."""
    with suppress(OSError):
        for place, name in _names_on_the_way(Path(path).absolute()):
            status = place.stat()
            if status.st_uid not in (0, os.geteuid(), uid):
                return False
            if status.st_mode & _OTHERS_WRITE:
                # In a directory like /tmp nobody takes away what is another's, and anybody may have made it.
                kept = bool(status.st_mode & stat.S_ISVTX)
                if not kept or os.lstat(place / name).st_uid not in (0, os.geteuid()):
                    return False
        return True
    return False


def _names_on_the_way(path: Path) -> Iterator[tuple[Path, str]]:
    """Every name on the way to a path, through every symbolic link, with the directory that it is in.

    Raises:
        OSError: it leads in a circle, or nowhere.
    """
    at, left, links = Path("/"), list(path.parts[1:]), 0
    while left:
        name = left.pop(0)
        if name == "..":
            at = at.parent
            continue
        yield at, name
        step = at / name
        if step.is_symlink():
            links += 1
            if links > _LINKS_LIMIT:
                raise OSError("too many links")
            aim = step.readlink()
            left = [*aim.parts[aim.is_absolute() :], *left]
            at = Path("/") if aim.is_absolute() else at
        else:
            at = step


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
