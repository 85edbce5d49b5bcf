"""Names in an open directory: by its descriptor, even if the directory gets another name meanwhile.

Where the system opens no directories (Windows), this module gives each path of a directory a number. Then
names are resolved again each time, and the check for links is made before a file is opened, not while it is
opened. So a user who can exchange names in that directory meanwhile can lead Redolab elsewhere.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redolab.files import system

_NEEDED = (os.open, os.stat, os.mkdir, os.unlink, os.rename, os.rmdir, os.symlink, os.readlink)
BY_DESCRIPTOR = bool(system.DIRECTORY) and os.supports_dir_fd.issuperset(_NEEDED)
"""Whether the system opens directories, and takes names in them."""
_paths: dict[int, Path] = {}
_numbers = itertools.count(1 << 30)


def open_directory(path: Path | str, inside: int | None = None, *, links: bool = True) -> int:
    """Open a directory to read and write what is in it.

    Args:
        path: of the directory, or its name in `inside`.
        inside: an open directory; None where `path` is a path.
        links: whether the last component may be a link.

    Raises:
        OSError: it is not a directory, or cannot be opened.
    """
    if BY_DESCRIPTOR:
        flags = os.O_RDONLY | system.DIRECTORY | system.PLAIN
        return os.open(path, flags if links else flags | system.NO_LINK, dir_fd=inside)
    place = Path(path) if inside is None else _paths[inside] / path
    found = place.stat() if links else place.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    number = next(_numbers)
    _paths[number] = place.resolve()
    return number


def close_directory(directory: int) -> None:
    """Close an open directory."""
    if BY_DESCRIPTOR:
        os.close(directory)
    else:
        _paths.pop(directory, None)


def status_of(directory: int) -> os.stat_result:
    """Kind, owner and mode of an open directory."""
    return os.fstat(directory) if BY_DESCRIPTOR else _paths[directory].stat()


def open_in(name: str, directory: int, flags: int, mode: int = 0o666) -> int:
    """Open a file in a directory; with the flag `NO_LINK` no link is followed.

    Raises:
        OSError: it cannot be opened.
    """
    flags |= system.PLAIN
    if BY_DESCRIPTOR:
        return os.open(name, flags, mode, dir_fd=directory)
    place = _paths[directory] / name
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    return os.open(place, flags, mode)


def stat_in(name: str, directory: int) -> os.stat_result:
    """Kind, owner and mode of an entry; a link is not followed."""
    if BY_DESCRIPTOR:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    return (_paths[directory] / name).lstat()


def make_in(name: str, directory: int, mode: int) -> None:
    """Make a directory in an open one."""
    if BY_DESCRIPTOR:
        os.mkdir(name, mode, dir_fd=directory)
    else:
        (_paths[directory] / name).mkdir(mode)


def replace_in(name: str, other: str, directory: int) -> None:
    """Give a file another name; an entry that has that name is replaced."""
    if BY_DESCRIPTOR:
        os.replace(name, other, src_dir_fd=directory, dst_dir_fd=directory)
    else:
        (_paths[directory] / name).replace(_paths[directory] / other)


def unlink_in(name: str, directory: int) -> None:
    """Remove a file or a link."""
    if BY_DESCRIPTOR:
        os.unlink(name, dir_fd=directory)
    else:
        (_paths[directory] / name).unlink()


def rmdir_in(name: str, directory: int) -> None:
    """Remove an empty directory."""
    if BY_DESCRIPTOR:
        os.rmdir(name, dir_fd=directory)
    else:
        (_paths[directory] / name).rmdir()


def link_in(name: str, target: Path, directory: int) -> None:
    """Make a symbolic link where there is nothing."""
    if BY_DESCRIPTOR:
        os.symlink(target, name, dir_fd=directory)
    else:
        (_paths[directory] / name).symlink_to(target)


def remove_tree_in(name: str, directory: int) -> None:
    """Remove a directory with its contents, as far as possible; no link is followed."""
    if BY_DESCRIPTOR:
        shutil.rmtree(name, ignore_errors=True, dir_fd=directory)
    else:
        shutil.rmtree(_paths[directory] / name, ignore_errors=True)


@contextmanager
def scan(directory: int) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of an open directory."""
    with os.scandir(directory if BY_DESCRIPTOR else _paths[directory]) as entries:
        yield entries
