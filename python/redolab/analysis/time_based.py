"""Unit-of-work time accounting: L, S, Q and R of one sample, for its sessions or the instance.

The unit is one commit unless the experiment says otherwise (a row, a query). S is CPU per unit, Q is
time per unit that is neither CPU nor idle (so it contains the run queue and the disk's own service),
R = S + Q. A negative difference is kept.

Source: Craig Shallahamer, OraPub, "unit of work time based analysis" (2010-2012).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from redolab.analysis.waits import SampledProcesses, background_waits, is_awake
from redolab.records.sample import Sample


@dataclass(frozen=True)
class UnitOfWork:
    """Time per unit of work in seconds; None where the server's accounts could not be read."""

    arrival_rate: float
    """L, units of work per second."""
    service_time: float | None
    """S, CPU per unit."""
    queue_time: float | None
    """Q, time per unit neither on CPU nor idle; contains `run_queue_time`."""
    run_queue_time: float | None
    """Runnable but waiting for a CPU, per unit."""
    response_time: float | None
    """R = S + Q."""


def units_of_work(sample: Sample) -> int:
    """Units of work in a sample; commits in runs stored before there were others."""
    return sample.commits if sample.units is None else sample.units


def session_account(sample: Sample) -> UnitOfWork:
    """The account of the working sessions: R is what a session spends on one unit of work.

    Where work came at random moments, R counts from the moment it was asked for: the time until a session was
    free is in it, and in Q, and the time of sessions without work is not. Where the CPU accounts are missing
    (a remote server) S and Q are None and R is known.
    """
    done = units_of_work(sample)
    spent, cpu = responding_s(sample), sample.session_cpu_s
    return UnitOfWork(
        arrival_rate=done / sample.elapsed_s,
        service_time=_per(cpu, done),
        queue_time=None if cpu is None else _per(spent - cpu, done),
        run_queue_time=_per(sample.session_run_queue_s, done),
        response_time=_per(spent, done),
    )


def responding_s(sample: Sample) -> float:
    """Sum of the response times of a sample's transactions, seconds: all time of sessions that loop, and the
    time since each was asked for where they came at random moments.
    """
    return sample.session_elapsed_s if sample.response_s is None else sample.response_s


def instance_account(sample: Sample, seen: SampledProcesses) -> UnitOfWork:
    """The account of the whole instance, background processes in it: R is work done per unit.

    Background processes work at the same time as the sessions, so this R can exceed the sessions' R. The
    background's waits come from the wait sampler: without its ticks Q and R are None.
    """
    done = units_of_work(sample)
    cpu, run_queue = sample.instance_cpu_s, sample.instance_run_queue_s
    blocked = instance_blocked_s(sample, seen)
    # Where the run queue is not distinguished from other blocked time, it is part of that.
    queue = None if cpu is None or blocked is None else (run_queue or 0.0) + blocked
    return UnitOfWork(
        arrival_rate=done / sample.elapsed_s,
        service_time=_per(cpu, done),
        queue_time=_per(queue, done),
        run_queue_time=_per(run_queue, done),
        response_time=None if cpu is None or queue is None else _per(cpu + queue, done),
    )


def session_blocked_s(sample: Sample) -> float | None:
    """Seconds the sessions were neither on CPU nor in the run queue; may be negative.

    Where their server keeps no account of the run queue, its time is included.
    """
    if sample.session_cpu_s is None:
        return None
    return sample.session_elapsed_s - sample.session_cpu_s - (sample.session_run_queue_s or 0.0)


def session_steal_s(sample: Sample) -> float:
    """Seconds the hypervisor took from the sessions while they should have run: an estimate.

    The kernel counts steal for the whole machine, and leaves it out of every process's account. The
    sessions get the part of it that they have in the machine's busy CPU time.

    Source: Linux, Documentation/filesystems/proc.rst, /proc/stat.
    """
    if not sample.host_steal_s or not sample.host_busy_s or sample.session_cpu_s is None:
        return 0.0
    return sample.host_steal_s * min(1.0, sample.session_cpu_s / sample.host_busy_s)


def background_blocked_s(sample: Sample, seen: SampledProcesses) -> dict[tuple[str, str], float]:
    """Process-seconds the background was blocked, not idle, by (wait class, event).

    As for the sessions, the exact blocked time of a kind of process (elapsed time less its CPU
    and run queue in the kernel's accounts) is divided by the ticks that saw it asleep, its idle
    sleep among them. Several processes of one kind add up. Without those accounts, the share of
    the sampler's readings that saw the event, times the elapsed time.
    """
    if sample.ticks == 0:
        return {}
    per_tick = {kind: _blocked_s_per_tick(kind, sample, seen) for kind in _background_kinds(seen)}
    found: defaultdict[tuple[str, str], float] = defaultdict(float)
    for row in background_waits(seen.waits):
        found[row.wait_class, row.event] += row.ticks * per_tick[row.kind]
    return dict(found)


def instance_blocked_s(sample: Sample, seen: SampledProcesses) -> float | None:
    """Process-seconds the instance was blocked and not idle: its sessions and its background.

    None without the sampler's ticks or the kernel's accounts.
    """
    sessions = session_blocked_s(sample)
    if sessions is None or sample.ticks == 0:
        return None
    return sessions + sum(background_blocked_s(sample, seen).values())


def commits_per_flush(sample: Sample) -> float | None:
    """Commits that one flush of the log served; None without flushes or their count."""
    return _per(sample.commits, sample.log_flushes)


def flush_time_s(sample: Sample) -> float | None:
    """Mean time of one flush call, seconds."""
    return _per(sample.log_flush_time_s, sample.log_flushes)


def log_bytes_per_commit(sample: Sample) -> float | None:
    """WAL generated per commit, bytes."""
    return _per(sample.log_bytes, sample.commits)


def host_cpu_share(sample: Sample) -> float | None:
    """Share of the machine's CPU time that was used, by anybody; 1.0 is every CPU busy."""
    if sample.host_busy_s is None or not sample.host_cpus:
        return None
    return sample.host_busy_s / (sample.elapsed_s * sample.host_cpus)


def log_write_share(sample: Sample, seen: SampledProcesses, *, write_flushes: bool = False) -> float | None:
    """Time in write and flush calls on the log over the instance's non-idle wait.

    Args:
        sample: the sample.
        seen: the observations in it.
        write_flushes: whether one call writes and flushes, so that its time is that of the flush alone.

    The calls' time contains their CPU, and the server's clock runs on while a caller is in the run queue, so
    the share can exceed 1; it is not clamped.
    """
    blocked = instance_blocked_s(sample, seen)
    writing_s = 0.0 if write_flushes else sample.log_write_time_s
    if writing_s is None or sample.log_flush_time_s is None or not blocked:
        return None
    return (writing_s + sample.log_flush_time_s) / blocked


def _background_kinds(seen: SampledProcesses) -> set[str]:
    return {row.kind for row in seen.waits if row.scope == "background"}


def _blocked_s_per_tick(kind: str, sample: Sample, seen: SampledProcesses) -> float:
    """Blocked process-seconds for one tick of a background process asleep."""
    reading = sample.elapsed_s / sample.ticks
    awake = [
        item.cpu_ns + (item.run_queue_ns or 0)
        for item in seen.processes
        if item.scope == "background" and item.kind == kind
    ]
    waits = [row for row in seen.waits if row.scope == "background" and row.kind == kind]
    asleep = sum(row.ticks for row in waits if not is_awake(row))
    if not awake or not asleep:
        return reading
    # Ticks of every state show how long processes of this kind were there: workers come and go.
    blocked = sum(row.ticks for row in waits) * reading - sum(awake) / 1e9
    # A worker that ran between two readings has more CPU than it was seen for.
    return blocked / asleep if blocked > 0 else reading


def _per(amount: float | None, units: float | None) -> float | None:
    return None if amount is None or not units else amount / units
