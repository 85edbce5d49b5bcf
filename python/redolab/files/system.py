"""The calls of this machine's operating system that Redolab uses: the one place that checks which exist.

Reports are read on machines that measure nothing: macOS and Windows lack some of Linux's calls, and Windows
most calls for users and locks. Missing calls are left out here; docs/explanation/security.md describes the
cost.
"""

from __future__ import annotations

import os
from collections.abc import Collection

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]
try:
    import grp
except ImportError:
    grp = None  # type: ignore[assignment]
try:
    import pwd
except ImportError:
    pwd = None  # type: ignore[assignment]


def flag(name: str) -> int:
    """A flag of `os.open`; 0 where the system does not have it."""
    return int(getattr(os, name, 0))


PLAIN = flag("O_CLOEXEC") | flag("O_BINARY")
"""Flags of every file that is opened."""
NO_LINK = flag("O_NOFOLLOW")
NO_WAIT = flag("O_NONBLOCK") | flag("O_NOCTTY")
DIRECTORY = flag("O_DIRECTORY")
STEP = flag("O_PATH")


def user_id() -> int | None:
    """The number of the effective user; None where users do not have numbers."""
    ask = getattr(os, "geteuid", None)
    return None if ask is None else int(ask())


def is_root() -> bool:
    """Whether the user may do everything."""
    return user_id() == 0


def user_name(user: int | None) -> str:
    """A user's name; `user` with the number where the name is not known."""
    try:
        return str(pwd.getpwuid(user).pw_name)  # type: ignore[arg-type]
    except (KeyError, TypeError, AttributeError):
        return f"user {user}"


def group_of(number: int) -> tuple[str, Collection[str]] | None:
    """A group's name and members; None where there is no such group."""
    if grp is None:
        return None
    try:
        group = grp.getgrgid(number)
    except KeyError:
        return None
    return group.gr_name, group.gr_mem


def set_mode(file: int, mode: int) -> None:
    """Give an open file exactly this mode, where files have modes."""
    if hasattr(os, "fchmod"):
        os.fchmod(file, mode)


def lock(file: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file; does nothing where the system has no locks.

    Raises:
        BlockingIOError: another process has it, and `wait` is false.
        OSError: its file system has no locks.
    """
    if fcntl is not None:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(file, kind if wait else kind | fcntl.LOCK_NB)


def unlock(file: int) -> None:
    """Give a lock back.

    Raises:
        OSError: there is no lock.
    """
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)


def read_at(file: int, size: int, place: int) -> bytes:
    """At most so many bytes of an open file from a place on.

    Raises:
        OSError: it cannot be read.
    """
    if hasattr(os, "pread"):
        return os.pread(file, size, place)
    os.lseek(file, place, os.SEEK_SET)
    return os.read(file, size)


def allowed_cpus() -> list[int]:
    """The CPUs that this process may use, sorted; all CPUs where the system does not report them."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def memory_bytes() -> int | None:
    """The machine's memory, bytes; None where the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
