"""The only place where Redolab writes files that it keeps.

A file is written whole: into a draft of a random name beside it, flushed, and renamed. Whoever may make
names in that directory cannot foresee the draft's. A symbolic link in the place of the file is replaced,
never followed; the directory itself may be reached through links.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_NEW = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SPECIAL = "it is not a regular file"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON so that a reader sees the old file or the new one, never half of it.

    Raises:
        OSError: it cannot be written.
    """
    write_file(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole, in place of an older one; its mode is what the umask leaves of 0666.

    Raises:
        OSError: it cannot be written, or something else than a file stands there.
    """
    directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _refuse_special(path.name, directory)
        draft = f".{secrets.token_hex(8)}.draft"
        file = os.open(draft, os.O_WRONLY | _NEW, 0o666, dir_fd=directory)
        try:
            try:
                write_all(file, content)
                os.fsync(file)
            finally:
                os.close(file)
            os.rename(draft, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=directory)
            raise
    finally:
        os.close(directory)


def create_file(path: Path, content: bytes, mode: int) -> int:
    """Make a file where there is none, with just this mode; returns a descriptor to read and write it.

    Raises:
        OSError: there is something of that name, or the file cannot be written.
    """
    file = os.open(path, os.O_RDWR | _NEW, mode)
    try:
        os.fchmod(file, mode)
        write_all(file, content)
    except BaseException:
        os.close(file)
        raise
    return file


def open_to_append(path: Path) -> int:
    """Open a file for lines to be added, made if missing; returns its descriptor.

    Raises:
        OSError: it cannot be written, or is no file: a symbolic link is not followed.
    """
    # A pipe in its place would be waited for.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed", str(path))
    file = os.open(path, flags, 0o644)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, _SPECIAL, str(path))
    return file


def open_lock(path: Path) -> int:
    """Open a file that only this user can lock, made if missing; returns its descriptor.

    Raises:
        OSError: it cannot be opened; a symbolic link is not followed.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(file, 0o600)  # Whoever can open it can lock it.
    return file


def write_all(file: int, content: bytes) -> None:
    """Write every byte at the descriptor's place."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def _refuse_special(name: str, directory: int) -> None:
    """What is neither a file nor a link is not Redolab's to replace: a device, a pipe, a directory."""
    try:
        found = os.lstat(name, dir_fd=directory).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not (stat.S_ISREG(found) or stat.S_ISLNK(found)):
        raise OSError(errno.EINVAL, _SPECIAL, name)
