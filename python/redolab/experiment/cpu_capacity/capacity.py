"""Processes' worth of CPU work that the machine does at once, and the limit of it.

A process's worth is what one process alone does in a second on a CPU. The rate of work of many
processes over that is the number of effective CPUs, M.

Source: Craig Shallahamer, OraPub, "Cores vs Threads" parts 1 to 3 (April to June 2011).
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from redolab.analysis.time_based import units_of_work
from redolab.model.queueing import utilization
from redolab.records.sample import Sample
from redolab.stats.estimates import MISSING, Estimate, mean_estimate, ratio_estimate

Unit = Literal["cores", "threads"]
Power = Literal["cores", "threads", "quota", "less", "undecided"]
"""Source of the power: every core, every thread, a quota below both, or less than the cores."""

_OVER_QUOTA = 0.05
_MOSTLY = 0.5
NEAR = 0.9
"""Effective CPUs from this part of the cores up count as all of them: switching and turbo take some."""


@dataclass(frozen=True)
class Room:
    """The CPUs that the processes could use."""

    cores: int
    threads: int
    quota: float | None = None
    """CPU seconds per second that a control group leaves; None without one."""
    period_s: float | None = None
    """How often the kernel hands these out anew, seconds; None without a quota."""

    @property
    def capped(self) -> bool:
        """Whether the quota leaves less than the CPUs."""
        return self.quota is not None and self.quota < self.threads

    @property
    def limit(self) -> float:
        """CPU seconds per second that the processes could have at most."""
        return self.threads if self.quota is None else min(self.quota, self.threads)


@dataclass(frozen=True)
class Spun:
    """One sample: so many processes, each with the same work, from one moment on until all are done."""

    block: int
    processes: int
    elapsed_s: float
    spins: int
    cpu_s: float
    """CPU time of these processes, all together; the kernel leaves steal out of it."""
    run_queue_s: float
    busy_s: float
    """CPU time of all processes of the machine, on the CPUs that these may use."""
    idle_s: float
    steal_s: float
    throttled_periods: int | None
    """Periods in which a quota ran out; None without a quota."""
    throttled_s: float | None = None
    """Time that the quota withheld CPUs, summed over CPUs."""

    @property
    def available_s(self) -> float:
        """CPU time that there was between the two readings of the kernel's accounts."""
        return self.busy_s + self.idle_s + self.steal_s

    @property
    def others(self) -> float:
        """Part of it that other processes used; slightly negative by the kernel's clock ticks at times."""
        return (self.busy_s - self.cpu_s) / self.available_s

    @property
    def steal(self) -> float:
        """Part of it that the hypervisor gave to other machines."""
        return self.steal_s / self.available_s

    @property
    def busy(self) -> float:
        """Part of it that the CPUs worked, for any process."""
        return self.busy_s / self.available_s

    @property
    def own(self) -> float:
        """Part of it that these processes used."""
        return self.cpu_s / self.available_s

    @property
    def per_cpu_s(self) -> float:
        """Spins per second on a CPU."""
        return self.spins / self.cpu_s


@dataclass(frozen=True)
class Capacity:
    """Effective CPUs, M: how many processes' worth of work the machine does at once."""

    measured: Estimate
    """CPUs as measured, with other processes running."""
    alone: Estimate
    """CPUs without other processes: the capacity of the machine."""
    without_steal: Estimate
    """CPUs also without the steal that the hypervisor reported."""


@dataclass(frozen=True)
class Jump:
    """Where elapsed time first rises with the number of processes."""

    flat: int
    """The most processes that were done as fast as the first setting."""
    rises: int
    """The next setting measured, which took longer."""


@dataclass(frozen=True)
class Facts:
    """Facts that the verdict rests on."""

    capacity: Capacity
    power: Power
    jump: Jump | None
    others: Estimate
    """Part of the CPUs that other processes used while these worked."""
    steal: Estimate
    """Part of the CPUs that the hypervisor gave to other machines meanwhile."""
    throttled: Estimate
    """Part of the quota's periods in which it ran out on a full machine."""

    def as_json(self) -> dict[str, Any]:
        """The facts as the results object has them."""
        return {
            "effective_cpus": self.capacity.alone.as_json(),
            "measured": self.capacity.measured.as_json(),
            "without_steal": self.capacity.without_steal.as_json(),
            "power": self.power,
            "flat_processes": None if self.jump is None else self.jump.flat,
            "rises_processes": None if self.jump is None else self.jump.rises,
            "others_share": self.others.as_json(),
            "steal_share": self.steal.as_json(),
            "throttled_share": self.throttled.as_json(),
        }


@dataclass(frozen=True)
class Use:
    """Utilisation U = R / C in one pair of units."""

    required: Unit
    """Unit of R, the busy time."""
    capacity: Unit
    """Unit of C, the capacity."""
    utilization: float

    @property
    def right(self) -> bool:
        """Whether both are counted in the same unit."""
        return self.required == self.capacity


def spun_of(samples: Iterable[Sample]) -> tuple[Spun, ...]:
    """The samples that have every account; those of a machine always have."""
    return tuple(
        Spun(
            block=sample.block,
            processes=sample.sessions,
            elapsed_s=sample.elapsed_s,
            spins=units_of_work(sample),
            cpu_s=sample.session_cpu_s,
            run_queue_s=sample.session_run_queue_s or 0.0,
            busy_s=sample.host_busy_s or 0.0,
            idle_s=sample.host_idle_s or 0.0,
            steal_s=sample.host_steal_s or 0.0,
            throttled_periods=sample.throttled_periods,
            throttled_s=sample.throttled_s,
        )
        for sample in samples
        if sample.session_cpu_s and sample.host_busy_s
    )


def capacity(spun: Sequence[Spun], room: Room, level: float = 0.95) -> Capacity:
    """Effective CPUs from the samples with enough processes to fill them.

    In each block the logarithm of the rate of work, averaged over the samples with at least as many
    processes as there is room for, less that of the work of one process alone per second on a CPU; the
    interval is Student's t over the blocks. A block without both is left out.

    A rate is corrected for other processes by adding the CPU time that these took, at the speed the measured
    processes had meanwhile. That holds because all CPUs were busy. Under a quota they need not be, and the
    processes could not have used more: there nothing is corrected. Where another process on a thread of its
    core slowed the one process down, the corrected M is too large (see `Facts.others` for how much there can
    be of that).

    Args:
        spun: every sample that counts.
        room: the CPUs that the processes could use.
        level: of the interval.
    """
    rates: dict[str, Callable[[Spun], float]] = {
        "measured": lambda _: 1.0,
        "alone": lambda item: 1 + item.others / item.own,
        "without_steal": lambda item: 1 + (item.others + item.steal) / item.own,
    }
    found = {}
    for name, more in rates.items():
        logs = []
        for group in _by_block(spun).values():
            ones = [math.log(item.per_cpu_s) for item in group if item.processes == 1]
            full = [
                math.log(item.spins / item.elapsed_s * (1.0 if room.capped else more(item)))
                for item in _full(group, room)
            ]
            if ones and full:
                logs.append(statistics.fmean(full) - statistics.fmean(ones))
        found[name] = ratio_estimate(logs, level)
    return Capacity(**found)


def elapsed_ratios(spun: Sequence[Spun]) -> dict[int, Estimate]:
    """Elapsed time over that of one process alone, by number of processes, paired inside blocks."""
    logs: defaultdict[int, list[float]] = defaultdict(list)
    for group in _by_block(spun).values():
        ones = [math.log(item.elapsed_s) for item in group if item.processes == 1]
        for item in group:
            if ones and item.processes > 1:
                logs[item.processes].append(math.log(item.elapsed_s) - statistics.fmean(ones))
    return {processes: ratio_estimate(values) for processes, values in sorted(logs.items())}


def first_jump(elapsed_s: Mapping[int, float]) -> Jump | None:
    """Where elapsed time first rises; None where it never does, or there is one number of processes.

    With room for p processes and no more, n of them take n/p times as long. So time rises with n when it
    is nearer to that, with p the setting before, than to unchanged: above the geometric mean of the two.
    """
    numbers = sorted(elapsed_s)
    for before, now in itertools.pairwise(numbers):
        if elapsed_s[now] / elapsed_s[numbers[0]] > math.sqrt(now / before):
            return Jump(before, now)
    return None


def power_at(room: float, cores: int, threads: int) -> Power:
    """Whether room for so many processes is nearer to the cores or to the threads, as a ratio."""
    if room < NEAR * cores:
        return "less"
    return "threads" if cores < threads and room > math.sqrt(cores * threads) else "cores"


def power(effective: Estimate, room: Room, throttled: Estimate) -> Power:
    """Source of the power, where the whole interval agrees.

    Args:
        effective: effective CPUs, corrected for other processes.
        room: the CPUs that the processes could use.
        throttled: part of the time in which a quota held the processes back (`throttled_share`).
    """
    if room.capped:
        return "quota" if (throttled.point or 0.0) > _MOSTLY else "undecided"
    if effective.low is None or effective.high is None:
        return "undecided"
    low, high = (power_at(end, room.cores, room.threads) for end in (effective.low, effective.high))
    return low if low == high else "undecided"


def throttled_share(spun: Sequence[Spun], room: Room) -> Estimate:
    """Part of the quota's periods in which it ran out, on a full machine."""
    period_s = room.period_s
    if period_s is None:
        return MISSING
    return mean_estimate(
        None if item.throttled_periods is None else item.throttled_periods * period_s / item.elapsed_s
        for item in _full(spun, room)
    )


def utilisation_matrix(busy_s: float, interval_s: float, cores: int, threads: int) -> tuple[Use, ...]:
    """U = R / C for busy time counted in threads and in cores, over a capacity in each.

    The kernel counts busy time in threads: a core with two busy threads adds two seconds a second. Counted
    in cores that is less by the threads per core. Two of the four mix the units and are wrong by that
    factor; over the machine's threads and in threads is what the kernel's own tools show.

    Args:
        busy_s: CPU time of the whole machine as the kernel counts it, seconds.
        interval_s: over how long, seconds.
        cores: of the machine.
        threads: of the machine, its logical CPUs.

    Source: Craig Shallahamer, OraPub, "Cores vs Threads" parts 2 and 2B (13 and 26 May 2011).
    """
    required: dict[Unit, float] = {"cores": busy_s * cores / threads, "threads": busy_s}
    units: dict[Unit, int] = {"cores": cores, "threads": threads}
    return tuple(
        Use(mine, theirs, utilization(required[mine], interval_s, units[theirs]))
        for mine in required
        for theirs in units
    )


def matrix_at_most(spun: Sequence[Spun], room: Room) -> tuple[Use, ...]:
    """The utilisation matrix of the samples with most processes; empty without samples."""
    most = _most(spun)
    if not most:
        return ()
    busy_s = sum(item.busy_s for item in most)
    interval_s = sum(item.available_s for item in most) / room.threads
    return utilisation_matrix(busy_s, interval_s, room.cores, room.threads)


def overstated(spun: Sequence[Spun], room: Room) -> list[str]:
    """Loud warnings: every utilisation above 1, and its meaning."""
    found = [
        f"UTILISATION ABOVE 100 %: busy time counted in {use.required} divided by a capacity counted in "
        f"{use.capacity} gives {100 * use.utilization:.0f} %. The units are mixed: count both in threads, or "
        "both in cores."
        for use in matrix_at_most(spun, room)
        if use.utilization > 1 and not use.right
    ]
    over = quota_use(spun, room)
    if over.low is not None and over.low > 1 + _OVER_QUOTA:
        found.append(
            f"UTILISATION ABOVE 100 %: the processes used {100 * (over.point or 0):.0f} % of their quota of "
            f"{room.quota:g} CPUs. The quota was changed while they ran, or bursts are allowed "
            "(cpu.max.burst)."
        )
    return found


def quota_use(spun: Sequence[Spun], room: Room) -> Estimate:
    """CPU time of the processes over what the quota leaves, in the samples with most processes."""
    if room.quota is None:
        return MISSING
    quota = room.quota
    return mean_estimate(item.cpu_s / (item.elapsed_s * quota) for item in _most(spun))


def facts(spun: Sequence[Spun], room: Room) -> Facts:
    """Everything that the verdict of a run rests on."""
    found, throttled = capacity(spun, room), throttled_share(spun, room)
    ratios = elapsed_ratios(spun).items()
    return Facts(
        capacity=found,
        power=power(found.alone, room, throttled),
        jump=first_jump({1: 1.0} | {number: ratio.point for number, ratio in ratios if ratio.point}),
        throttled=throttled,
        others=mean_estimate(item.others for item in spun),
        steal=mean_estimate(item.steal for item in spun),
    )


def by_processes(spun: Iterable[Spun]) -> dict[int, list[Spun]]:
    """The samples by number of processes, fewest first."""
    found: defaultdict[int, list[Spun]] = defaultdict(list)
    for item in spun:
        found[item.processes].append(item)
    return dict(sorted(found.items()))


def _full(spun: Iterable[Spun], room: Room) -> list[Spun]:
    """The samples with at least as many processes as there is room for."""
    return [item for item in spun if item.processes > 1 and item.processes >= room.limit]


def _most(spun: Sequence[Spun]) -> list[Spun]:
    return list(by_processes(spun).values())[-1] if spun else []


def _by_block(spun: Iterable[Spun]) -> dict[int, list[Spun]]:
    found: defaultdict[int, list[Spun]] = defaultdict(list)
    for item in spun:
        found[item.block].append(item)
    return dict(sorted(found.items()))


def mean_of(items: Sequence[Spun], pick: Callable[[Spun], float]) -> Estimate:
    """The mean over samples, with its 95 % interval."""
    return mean_estimate(map(pick, items))
