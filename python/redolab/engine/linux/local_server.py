"""Is the server on this machine, and which process is its postmaster? Asked of the kernel, not the URL.

A tunnel or a container can make a far server look near. Only a process here with the backend's
pid, PostgreSQL's name and the backend's own start time counts as it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from pathlib import Path

from redolab import _core

MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")
"""File systems on which a flush costs almost nothing."""
_START_TOLERANCE_S = 2.0
_ATTEMPTS = 3


def find_postmaster(backend_pid: int, backend_start_epoch_s: float) -> int | None:
    """The postmaster's pid when the backend is a process of this machine, else None."""
    place = Path("/proc") / str(backend_pid)
    try:
        # Field 2 is the name in parentheses and may hold anything; the fields after it do not.
        head, _, tail = (place / "stat").read_text().rpartition(")")
        name, fields = head.partition("(")[2], tail.split()
        uptime_s = float(Path("/proc/uptime").read_text().split()[0])
    except OSError:
        return None
    parent, started_ticks = int(fields[1]), int(fields[19])
    started_epoch_s = time.time() - uptime_s + started_ticks / os.sysconf("SC_CLK_TCK")
    near = abs(started_epoch_s - backend_start_epoch_s) < _START_TOLERANCE_S
    return parent if near and name.startswith("postgres") else None


def are_children(ask: Callable[[], Collection[int]], postmaster: int) -> bool:
    """Whether every pid that `ask` returns is a child of this machine's process `postmaster`.

    Processes come and go while the server is asked, so one that was there before or after will do.
    """
    for _ in range(_ATTEMPTS):
        before = children(postmaster)
        if set(ask()) <= before | children(postmaster):
            return True
    return False


def children(pid: int) -> set[int]:
    """The pids of a process's children; none when it is gone."""
    try:
        return {task.pid for task in _core.server_tasks(pid).tasks} - {pid}
    except OSError:
        return set()


def cpu_s(pid: int) -> float | None:
    """CPU time of a process of this machine, or None when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return None


def process_cpu_ns(pid: int) -> int | None:
    """CPU time of a process with all its threads, ended ones too; None when it is gone.

    Source: clock_gettime(2), the CPU clock of another process.
    """
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return None


def filesystem(path: Path) -> str | None:
    """The type of the file system that holds `path`, or None when the kernel does not say."""
    try:
        device = path.stat().st_dev
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields = line.split()
            if fields[2] == f"{os.major(device)}:{os.minor(device)}":
                return fields[fields.index("-") + 1]
    except OSError:
        return None
    return None
