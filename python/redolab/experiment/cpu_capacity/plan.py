"""cpu-capacity: how many processes' worth of CPU work does this machine do at once?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from redolab.errors import RefusedError, UsageError
from redolab.experiment.base import Experiment, Levels, Pilot, Plan, Size, Wish, combinations_of
from redolab.machine.cpus import Cpus, read_cpus
from redolab.records.capability import Capability
from redolab.records.load import Amount, Spins
from redolab.records.sample import Work

_ALL_UP_TO = 4
"""Threads up to which every number of processes is measured."""
_SHORTEST_S = 0.3
"""Shortest time of one process alone: clock and start-up are then below a percent of it."""
_PILOT_S = 0.5


def numbers_of_processes(cpus: Cpus) -> tuple[int, ...]:
    """One, twice the threads, and the numbers around the places where elapsed time can begin to rise."""
    most = 2 * cpus.threads
    if cpus.threads <= _ALL_UP_TO:
        return tuple(range(1, most + 1))
    full = math.ceil(cpus.limit)
    wanted = {1, 2, cpus.cores, cpus.cores + 1, full, full + 1, cpus.threads, most}
    return tuple(sorted(wanted))


def _rate(work: Work) -> float:
    if work.trouble or not work.units:
        raise RefusedError(
            f"The first, unrecorded processes did not work: {work.trouble or 'no spin was done'}. See what "
            "ends processes on this machine (a memory limit, for example)."
        )
    return work.units / work.session_elapsed_max_s


class CpuCapacity(Experiment):
    """Processes that compute, more of them than there are CPUs."""

    name = "cpu-capacity"
    question = "How many processes' worth of CPU work does this machine do at once?"
    unit = "spin"
    needs: frozenset[Capability] = frozenset({"cpu_work"})
    quick = Size(blocks=10, seconds=1.1, warmup_s=0.1)
    full = Size(blocks=30, seconds=10, warmup_s=1)

    def combine(self, _wish: Wish, /) -> Mapping[str, Levels]:
        """Up to twice as many processes as threads."""
        most = 2 * read_cpus().threads
        return combinations_of(processes=tuple(str(number) for number in range(1, most + 1)))

    def defaults(self, _wish: Wish, _possible: tuple[str, ...], /) -> tuple[str, ...]:
        """The numbers that distinguish cores from threads."""
        return tuple(str(number) for number in numbers_of_processes(read_cpus()))

    def baseline(self, settings: tuple[str, ...], /) -> str:
        """One process alone."""
        if "1" not in settings:
            raise UsageError(
                "cpu-capacity compares every setting with one process alone, which is not among the settings "
                f"{', '.join(settings)}. Add 1 to --settings."
            )
        return "1"

    def load(self, _wish: Wish, settings: Mapping[str, Levels], /) -> Spins:
        """The same work for every process."""
        most, limit = max(map(int, settings)), read_cpus().limit
        if most < limit:
            raise UsageError(
                f"With at most {most} processes, {limit:g} CPUs are never all busy, so the capacity of the "
                f"CPUs would not be measured. Add the setting {math.ceil(limit)} or a larger number to "
                "--settings."
            )
        return Spins("", most, "session")

    def fit(self, plan: Plan, pilot: Pilot, /) -> Plan:
        """The same work for every process, so that a sample takes the design's seconds on average."""
        design, load = plan.design, plan.load
        alone, full = (
            _rate(pilot(setting, Amount(_PILOT_S))) for setting in (design.baseline, str(load.sessions))
        )
        order = [int(trial.setting) for trial in design.order()]
        per_spin_s = sum(number / min(number * alone, full) for number in order) / len(order)
        spins = math.ceil(max(design.seconds / per_spin_s, _SHORTEST_S * alone))
        return replace(plan, design=replace(design, units_each=spins, seconds=spins * per_spin_s))


EXPERIMENT = CpuCapacity()
