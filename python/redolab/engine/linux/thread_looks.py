"""The activity of a thread of another process right now, from the system call that it is in.

A thread that is asleep is in one system call. `/proc/PID/task/TID/syscall` names it with its arguments, so
that a flush of the log can be distinguished from a lock without asking the server. It may be read by root, by
a process with CAP_SYS_PTRACE, and by the server's own user unless ptrace is restricted.

Sources: proc(5), /proc/pid/syscall; the system call numbers of asm/unistd_64.h and asm-generic/unistd.h.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Doing = Literal["running", "futex", "timed futex", "socket", "sleep", "aio", "read", "write", "flush", "call"]

# The numbers of x86_64, then of 64-bit ARM.
_CALLS: dict[Doing, tuple[set[int], set[int]]] = {
    "futex": ({202}, {98}),
    "socket": (
        {7, 23, 43, 44, 45, 46, 47, 232, 270, 271, 281, 288},
        {22, 72, 73, 202, 206, 207, 211, 212, 242},
    ),
    "sleep": ({35, 128, 230}, {101, 115, 137}),
    "aio": ({208, 333, 426}, {4, 292, 426}),
    "read": ({0, 17, 19, 295}, {63, 65, 67, 69}),
    "write": ({1, 18, 20, 296}, {64, 66, 68, 70}),
    "flush": ({74, 75, 277}, {82, 83, 84}),
}
_MACHINES = {"x86_64": 0, "aarch64": 1}
_FILE_CALLS = frozenset({"read", "write", "flush"})
_LINE_BYTES = 256
_NEVER: tuple[bytes, None] = (b"", None)


@dataclass(frozen=True)
class Look:
    """One look at one thread."""

    doing: Doing
    """`running`: on a CPU or runnable. `timed futex`: a wait with a time limit. `call`: another call."""
    detail: str = ""
    """The file's path, or the number of the call."""


class ThreadLooks:
    """Looks at threads of one process; keeps a file open for each."""

    def __init__(self, process: int) -> None:
        """Look at threads of `process`.

        Raises:
            PermissionError: this user may not, or this kind of machine is not known.
        """
        if platform.machine() not in _MACHINES:
            raise PermissionError(f"the system calls of {platform.machine()} are not known")
        self._process = process
        self._files: dict[int, int] = {}
        self._known: dict[int, tuple[bytes, Look]] = {}
        column = _MACHINES[platform.machine()]
        self._calls = {number: doing for doing, numbers in _CALLS.items() for number in numbers[column]}
        try:
            self.look(process)
        except PermissionError:
            self.close()
            raise

    def look(self, thread: int) -> Look | None:
        """The activity of the thread; None when it has ended.

        Raises:
            PermissionError: this user may not look.
        """
        try:
            file = self._files.get(thread)
            if file is None:
                path = f"/proc/{self._process}/task/{thread}/syscall"
                file = self._files[thread] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            line = os.pread(file, _LINE_BYTES, 0)
        except PermissionError:
            raise
        except OSError:
            self.forget(thread)
            return None
        # Most threads are in the same call as before: 500 idle sessions must cost little.
        known_line, known = self._known.get(thread, _NEVER)
        if line == known_line:
            return known
        look = self._read(line.decode().split())
        if look is not None and look.doing not in _FILE_CALLS:  # A descriptor may be given another file.
            self._known[thread] = line, look
        return look

    def keep(self, threads: AbstractSet[int]) -> None:
        """Forget all threads but these."""
        for thread in self._files.keys() - threads:
            self.forget(thread)

    def forget(self, thread: int) -> None:
        """Close what is kept open for a thread."""
        self._known.pop(thread, None)
        file = self._files.pop(thread, None)
        if file is not None:
            os.close(file)

    def close(self) -> None:
        """Close everything."""
        for thread in list(self._files):
            self.forget(thread)

    def _read(self, words: list[str]) -> Look | None:
        if not words or words[0] == "running":
            return Look("running") if words else None
        number = int(words[0])
        doing = self._calls.get(number, "call")
        if doing == "futex" and words[4] != "0x0":
            return Look("timed futex")
        if doing in _FILE_CALLS:
            path = self._path(int(words[1], 16))
            return Look(doing, path) if path.startswith("/") else Look("socket")
        return Look(doing, str(number) if doing == "call" else "")

    def _path(self, descriptor: int) -> str:
        with suppress(OSError):
            return str(Path(f"/proc/{self._process}/fd/{descriptor}").readlink())
        return "/"


def age_s(process: int) -> float | None:
    """How long ago a process started; None when it is gone. A second is its resolution with `Uptime`'s."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        uptime_s = float(Path("/proc/uptime").read_text().split()[0])
    except OSError:
        return None
    return uptime_s - int(fields[19]) / os.sysconf("SC_CLK_TCK")
