"""Limits of the machine that a command can run into: open files, processes and threads, memory."""

from __future__ import annotations

import errno
import mmap
import os
import re

_MEMORY = (
    "There is too little memory for this command. Give the command more memory (`ulimit -v`, the limit of a "
    "container), or a smaller file. Everything stored before is kept."
)
_COUNTED = {
    errno.EMFILE: "open files of a process (`ulimit -n`)",
    errno.ENFILE: "open files of the machine (`sysctl fs.file-max`)",
    errno.EAGAIN: "processes and threads of a user (`ulimit -u`, or the control group's `pids.max`)",
}
"""The limit that was reached, by the kernel's error."""
_ROOM_BYTES, _ROOM_BYTES_PER_CPU = 256 << 20, 40 << 20
_NO_MAPPING = re.compile("failed to map segment|[Cc]annot allocate memory")
_NO_THREAD = "can't start new thread"
_NUMBER = re.compile(r"\(os error (\d+)\)")


def check_room() -> None:
    """Ask for the memory that libraries take for each CPU: where they get none, OpenBLAS ends the process.

    Raises:
        MemoryError: it is not there.
    """
    if _memory_is_limited():
        try:
            mmap.mmap(-1, _ROOM_BYTES + _ROOM_BYTES_PER_CPU * (os.cpu_count() or 1)).close()
        except OSError as error:
            raise MemoryError from error


def reached(error: BaseException | None) -> str | None:
    """Which limit an error comes from, as whole sentences; None where it comes from something else."""
    while error is not None:
        text = _of_one(error)
        if text is not None:
            return text
        error = error.__cause__ or error.__context__
    return None


def _of_one(error: BaseException) -> str | None:
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
        # A thread needs both, and Python does not report which of them was missing.
        number = errno.ENOMEM if _memory_is_limited() else errno.EAGAIN
    elif number is None and isinstance(error, OSError | RuntimeError):
        # The compiled part has the kernel's number in its text alone.
        found = _NUMBER.search(str(error))
        number = int(found[1]) if found else None
    unmapped = isinstance(error, ImportError | RuntimeError) and _NO_MAPPING.search(str(error))
    if isinstance(error, MemoryError) or number == errno.ENOMEM or unmapped:
        return _MEMORY
    if number not in _COUNTED:
        return None
    return (
        f"The limit for {_COUNTED[number]} is reached: {error}. Raise that limit, and start again. Samples "
        "that a run finished before are kept, and `redolab report` reads them."
    )


def _memory_is_limited() -> bool:
    try:
        import resource
    except ImportError:
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
