"""Is the server on this machine, and which process is its postmaster? Asked of the kernel, not the URL.

A tunnel or a container can make a far server look near. Only a process here with the backend's
pid, PostgreSQL's name and the backend's own start time is taken for it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_START_TOLERANCE_S = 2.0


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
