"""How fast a machine is just before a sample: a fixed loop on a CPU, and a flush next to the data."""

from __future__ import annotations

import time

from redolab import _core
from redolab.engine.base import MachineProbe
from redolab.engine.private.own_server import OwnServer

_SPINS = 1
_NO_END_NS = 2**63


def probe(own: OwnServer | None, *, local: bool) -> MachineProbe:
    """The machine of a server at this moment.

    Args:
        own: the server, where Redolab started it: nothing is written into a directory of somebody's.
        local: whether it is on this machine.
    """
    return MachineProbe(cpu_loop_s() if local else None, own.flush_s() if own else None)


def cpu_loop_s() -> float:
    """CPU time of one spin of cpu-capacity here, seconds, without the time that others had the CPU."""
    begun_ns = time.thread_time_ns()
    _core.spin(0, _SPINS, _NO_END_NS)
    return (time.thread_time_ns() - begun_ns) / 1e9


def why_not_probed(own: OwnServer | None, *, local: bool) -> list[str]:
    """Figures of the machine that a run on this server does not have, and why; one sentence each."""
    missing = []
    if not local:
        missing.append(
            "Speed of the machine and its busiest CPU, for each sample: the server's processes are not "
            "visible on this machine."
        )
    if own is None:
        missing.append(
            "Time of a flush before each sample: Redolab writes no file of its own next to the data of a "
            "server that it did not start."
        )
    return missing
