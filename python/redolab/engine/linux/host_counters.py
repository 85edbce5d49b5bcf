"""The whole machine's counters, as every engine on it has them in its snapshots."""

from __future__ import annotations

from redolab import _core


def host_counters() -> dict[str, float | None]:
    """Busy CPU time and steal of the machine, seconds, cumulative; and its logical CPUs online."""
    machine = _core.machine_times()
    return {
        "host_busy_s": machine.busy_ns / 1e9,
        "host_steal_s": machine.steal_ns / 1e9,
        "host_cpus": machine.cpus,
    }
