"""The whole machine's counters, as every engine on it has them in its snapshots."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from redolab import _core

_IDLE, _WAITING, _OWN = 3, 4, 8
"""Places of the times in a line of /proc/stat: idle, idle while a disk works, and how many there are without
those of guests, which are in the others too."""
_CPU = re.compile(r"^cpu(\d+) (.+)$", re.MULTILINE)


def host_counters() -> dict[str, float | None]:
    """Busy CPU time and steal of the machine, seconds, cumulative; and its logical CPUs online."""
    machine = _core.machine_times()
    return {
        "host_busy_s": machine.busy_ns / 1e9,
        "host_steal_s": machine.steal_ns / 1e9,
        "host_cpus": machine.cpus,
    }


def cpu_times(path: Path = Path("/proc/stat")) -> Mapping[int, tuple[float, float]] | None:
    """Each CPU's seconds in which it was not idle, and all its seconds, cumulative; None where unknown.

    Time that the hypervisor gave to others is not idle: somebody here wanted that CPU.

    Source: proc(5), /proc/stat.
    """
    try:
        text = path.read_text()
    except OSError:
        return None
    per_s = os.sysconf("SC_CLK_TCK")
    found = {}
    for number, line in _CPU.findall(text):
        ticks = [int(value) for value in line.split()[:_OWN]]
        idle = sum(ticks[_IDLE : _WAITING + 1])
        found[int(number)] = ((sum(ticks) - idle) / per_s, sum(ticks) / per_s)
    return found or None
