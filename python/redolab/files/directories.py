"""The only place where Redolab makes directories, and decides which of them are this user's alone.

A process that runs as root, or for long, must not act on a name that another user can give to something
else meanwhile. So a private directory is reached step by step from `/`, and none of the steps may be one
that others can exchange. Root, this user and the owner of `/`, who can do anything, are trusted.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from redolab.files import entries, system

_STEP = system.STEP | system.DIRECTORY | system.NO_LINK | system.PLAIN
_OPEN = os.O_RDONLY | system.DIRECTORY | system.PLAIN
_LINKS_LIMIT = 40


class UnsafeError(OSError):
    """A directory that others can exchange or write to; `strerror` names it and the reason."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(errno.EPERM, f"{place} {why}", place)


def make_directories(path: Path, mode: int = 0o700) -> None:
    """Make a directory and what is missing on the way to it.

    Source for the mode: XDG Base Directory Specification.

    Raises:
        OSError: it cannot be made.
    """
    try:
        path.mkdir(mode)
    except FileNotFoundError:
        make_directories(path.parent, mode)
        path.mkdir(mode)
    except FileExistsError:
        if not path.is_dir():
            raise


def own_directory(path: Path, mode: int = 0o700, *, new: bool = False) -> int:
    """Open a directory that only root and this user can write to or exchange; made if missing.

    Args:
        path: absolute. Its last component must be a directory, not a symbolic link.
        mode: of new directories; an existing directory gets these bits added.
        new: whether it must not be there yet.

    Returns:
        Its descriptor.

    Raises:
        UnsafeError: others can write to it, or exchange it.
        OSError: it cannot be made or opened.
    """
    if not entries.BY_DESCRIPTOR:
        return _unchecked(path, mode, new=new)
    parent = _walk(path.parent)
    try:
        try:
            os.mkdir(path.name, mode, dir_fd=parent)
        except FileExistsError:
            if new:
                raise
        found = os.lstat(path.name, dir_fd=parent)
        if not stat.S_ISDIR(found.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a directory"
            raise UnsafeError(str(path), f"is {kind}")
        directory = os.open(path.name, _OPEN | os.O_NOFOLLOW, dir_fd=parent)
    finally:
        os.close(parent)
    try:
        found = os.fstat(directory)
        _require_own(path, found)
        if mode & ~found.st_mode:
            os.fchmod(directory, stat.S_IMODE(found.st_mode) | mode)
    except BaseException:
        os.close(directory)
        raise
    return directory


def directory_to_write(path: Path, make: int | None = None, *, alone: bool = False) -> int:
    """Open a directory that the user named, to write to it. Others cannot lead root elsewhere.

    Args:
        path: links in it are followed; for root only links that nobody else can have made.
        make: mode of missing directories, which are made; None to make none.
        alone: whether root refuses a directory that others can write to or exchange, as it must where it
            writes for long, removes something, or relies on the contents.

    Returns:
        Its descriptor.

    Raises:
        UnsafeError: root would be led there by others, or they can write to it or exchange it.
        OSError: it cannot be made or opened.
    """
    if not system.is_root() or not entries.BY_DESCRIPTOR:
        if make is not None:
            make_directories(path, make)
        return entries.open_directory(path)
    # Others cannot write to directories that root makes, whatever the umask.
    here = _walk(path.absolute(), make if make is None else make & 0o755, alone=alone)
    try:
        if alone and _others_write(os.fstat(here)):
            raise UnsafeError(str(path), "can be written by others")
        return os.open(".", _OPEN, dir_fd=here)
    finally:
        os.close(here)


def check_own_directory(path: Path) -> None:
    """Make sure that `own_directory` would make `path`, which is missing; nothing is made.

    Raises:
        UnsafeError: others could exchange it.
        OSError: it cannot be made.
    """
    standing = next(parent for parent in path.parents if parent.exists())
    opened = _walk(standing)
    try:
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=opened):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(standing))
    finally:
        os.close(opened)


def make_in(name: str, directory: int) -> None:
    """Make a directory in an open one, which others cannot write to where root makes it.

    Raises:
        OSError: it is there, or cannot be made.
    """
    entries.make_in(name, directory, 0o755 if system.is_root() else 0o777)


def empty_directory(directory: int, keep: str | None = None) -> bool:
    """Remove the contents of an open directory, as far as possible; no symbolic link is followed.

    Returns:
        Whether nothing is left except the entry to keep.
    """
    for name in os.listdir(directory):
        if name == keep:
            continue
        try:
            os.unlink(name, dir_fd=directory)
        except OSError:
            remove_tree(name, directory)
    return {keep}.issuperset(os.listdir(directory))


def remove_tree(name: str, parent: int) -> None:
    """Remove a directory in an open one, as far as possible; no symbolic link is followed."""
    # A directory that is nested too deeply is left: its maker cannot stop Redolab with it.
    with suppress(RecursionError):
        entries.remove_tree_in(name, parent)


def remove_own_directory(path: Path) -> None:
    """Remove a directory that only root and this user can write to or exchange, with what is in it.

    Raises:
        UnsafeError: others can.
        OSError: it is not there.
    """
    parent = _walk(path.parent, None)
    try:
        _require_own(path, os.stat(path.name, dir_fd=parent, follow_symlinks=False))
        remove_tree(path.name, parent)
    finally:
        os.close(parent)


def _unchecked(path: Path, mode: int, *, new: bool) -> int:
    """Open a directory where the system does not report owners and modes; made if missing."""
    make_directories(path.parent, mode)
    try:
        path.mkdir(mode)
    except FileExistsError:
        if new:
            raise
    return entries.open_directory(path, links=False)


def _require_own(path: Path, found: os.stat_result) -> None:
    if found.st_uid != system.user_id():
        raise UnsafeError(str(path), f"belongs to {system.user_name(found.st_uid)}")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeError(str(path), "can be written by others")


def _walk(path: Path, make: int | None = 0o700, *, alone: bool = True) -> int:
    """Open a directory that is reached by names which only trusted users can give to something else.

    Missing directories are made with that mode. A symbolic link is followed where only trusted users could
    have made it. Without `alone` a directory may be anybody's, and links in it are not followed.
    """
    here = os.open("/", _STEP)
    place, rest, links = Path("/"), list(reversed(path.parts[1:])), 0
    try:
        while True:
            if alone:
                _require_lasting(place, os.fstat(here))
            if not rest:
                return here
            name = rest.pop()
            target = _link_target(place / name, name, here)
            if target is None:
                step = _step(name, here, make)
                place /= name
            else:
                links += 1
                if links > _LINKS_LIMIT:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
                rest += reversed(target.parts[1:] if target.is_absolute() else target.parts)
                step = os.open("/" if target.is_absolute() else ".", _STEP, dir_fd=here)
                place = Path("/") if target.is_absolute() else place
            os.close(here)
            here = step
    except BaseException:
        os.close(here)
        raise


def _step(name: str, here: int, make: int | None) -> int:
    try:
        return os.open(name, _STEP, dir_fd=here)
    except FileNotFoundError:
        if make is None:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, make, dir_fd=here)
        return os.open(name, _STEP, dir_fd=here)


def _link_target(place: Path, name: str, here: int) -> Path | None:
    """Where a symbolic link leads; None for anything else.

    Raises:
        UnsafeError: others can make links in its directory.
    """
    try:
        target = Path(os.readlink(name, dir_fd=here))
    except OSError:
        return None
    found = os.fstat(here)
    if found.st_uid not in _trusted() or _others_write(found):
        raise UnsafeError(str(place), "is a symbolic link where others may make one")
    return target


def _require_lasting(place: Path, found: os.stat_result) -> None:
    """Make sure that only trusted users can remove names in a directory, or each user only their own."""
    if found.st_uid not in _trusted():
        raise UnsafeError(str(place), f"belongs to {system.user_name(found.st_uid)}")
    if _others_write(found) and not found.st_mode & stat.S_ISVTX:
        raise UnsafeError(str(place), "can be written by others")


def _trusted() -> set[int]:
    return {0, system.user_id() or 0, Path("/").stat().st_uid}


def _others_write(found: os.stat_result) -> bool:
    """Whether untrusted users may write: all, or a group that is neither root's nor the user's own."""
    if not found.st_mode & stat.S_IWGRP:
        return bool(found.st_mode & stat.S_IWOTH)
    trusted = {"root", system.user_name(system.user_id())}
    group = system.group_of(found.st_gid)
    if group is None:
        return True
    name, members = group
    private = name in trusted and trusted.issuperset(members)
    return bool(found.st_mode & stat.S_IWOTH) or not private
