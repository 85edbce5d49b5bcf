"""Two snapshots make a sample; anything that makes their difference meaningless spoils it.

A spoiled sample is kept and marked, with the reason, and never counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from redolab.records.design import Trial
from redolab.records.sample import (
    LatencyRow,
    OverheadRow,
    ProcessTime,
    Sample,
    Snapshot,
    TaskAccount,
    Ticks,
    WaitRow,
    Work,
)
from redolab.units import duration

_RESOLUTION_NS = 1e9
# Two clocks that nobody sets differ by far less than a hundredth, also while one of them is slewed.
_CLOCK_SHARE, _CLOCK_LEAST_S = 0.01, 0.002
_AT_THE_END = ("host_cpus", "history_list_length")
"""Numbers of the moment, of which the last one counts."""
# Not cumulative over the run: those, and CPU of a server process that may be replaced.
_GAUGES = (*_AT_THE_END, "sampler_cpu_s")
_WHOLE = {item.name: str(item.type).startswith("int") for item in fields(Sample)}
"""The fields of a sample, and whether each is a whole number."""


def difference(
    trial: Trial,
    started_at: str,
    start_s: float,
    before: Snapshot,
    after: Snapshot,
    work: Work,
    ticks: Ticks,
) -> tuple[Sample, list[WaitRow], list[ProcessTime], list[OverheadRow], list[LatencyRow]]:
    """The sample between two snapshots, its waits, its time per server process, its on/off pairs, and
    its commit times where a client saw them.

    Args:
        trial: which sample of the design this is.
        started_at: UTC, ISO 8601.
        start_s: seconds since the run began.
        before: counters before the load.
        after: counters after it.
        work: counts of the sessions.
        ticks: observations of the wait sampler meanwhile.
    """
    processes = process_times(trial.sample, before, after)
    sessions = [p for p in processes or () if p.scope == "session"]
    writers = [p for p in processes or () if p.kind in after.log_writers and p.scope == "background"]
    counters = {name: _delta(before.counters.get(name), value) for name, value in after.counters.items()}

    responses = work.responses
    given: dict[str, Any] = {
        "sample": trial.sample,
        "block": trial.block,
        "position": trial.position,
        "setting": trial.setting,
        "role": trial.role,
        "started_at": started_at,
        "start_s": start_s,
        "elapsed_s": work.session_elapsed_max_s,
        "spoiled": _spoiled(before, after, work, counters),
        "sessions": len(before.session_pids),
        "commits": work.commits,
        "rows": work.rows,
        "failed": work.failed,
        "session_elapsed_s": work.session_elapsed_s,
        "session_cpu_s": None if processes is None else sum(p.cpu_ns for p in sessions) / _RESOLUTION_NS,
        "session_run_queue_s": None if processes is None else _run_queue_s(sessions),
        "instance_cpu_s": instance_cpu_s(before, after),
        "instance_run_queue_s": None if processes is None else _run_queue_s(processes),
        "busiest_cpu": _busiest_cpu(before, after),
        "log_writer_cpu_s": sum(p.cpu_ns for p in writers) / _RESOLUTION_NS if writers else None,
        "log_writer_run_queue_s": _run_queue_s(writers) if writers else None,
        "ticks": ticks.rounds,
        "ticks_late": ticks.late,
        "ticks_lost": ticks.lost,
        "sampler_cpu_s": ticks.cpu_s + (counters.get("sampler_cpu_s") or 0.0),
        "sampled_s": ticks.sampled_s,
        "looks": ticks.looks,
        "looks_torn": ticks.torn,
        "sampler_realtime": ticks.realtime,
        "units": work.units,
        "first_unit_s": work.first_unit_s,
        "row_versions": work.row_versions,
        "client_cpu_s": work.client_cpu_s,
        "response_s": None if responses is None else responses.total_s,
        "arrivals_waited": None if responses is None else responses.waited,
        "arrivals_unserved": None if responses is None else responses.unserved,
    }
    seen = counters | {name: after.counters.get(name) for name in _AT_THE_END}
    # Every other field is the counter of that name.
    counted = {name: _as_field(seen.get(name), whole) for name, whole in _WHOLE.items() if name not in given}
    sample = Sample(**given, **counted)
    waits = [
        WaitRow(trial.sample, c.scope, c.kind, c.wait_class, c.event, c.state, c.ticks) for c in ticks.counts
    ]
    pairs = [OverheadRow(trial.sample, p.pair, p.on_first, p.on_per_s, p.off_per_s) for p in ticks.pairs]
    return sample, waits, processes or [], pairs, _latency(trial.sample, work)


def _latency(sample: int, work: Work) -> list[LatencyRow]:
    rows = [LatencyRow(sample, upper_us, commits) for upper_us, commits in work.latency]
    if work.responses is not None:
        rows += [LatencyRow(sample, upper_us, count, "response") for upper_us, count in work.responses.times]
        rows += [LatencyRow(sample, upper_us, count, "lag") for upper_us, count in work.responses.lag]
    return rows


def process_times(sample: int, before: Snapshot, after: Snapshot) -> list[ProcessTime] | None:
    """CPU and run queue per process that lived at the end; None where accounts cannot be read."""
    if before.tasks is None or after.tasks is None:
        return None
    earlier = _by_identity(before)
    rows = []
    for task in after.tasks:
        start = earlier.get((task.pid, task.start_ticks))
        rows.append(
            ProcessTime(
                sample=sample,
                pid=task.pid,
                kind=task.kind,
                scope="session" if task.pid in after.session_pids else "background",
                cpu_ns=task.cpu_ns - (start.cpu_ns if start else 0),
                run_queue_ns=_more(start.run_queue_ns if start else 0, task.run_queue_ns),
            )
        )
    return rows


def _run_queue_s(processes: Sequence[ProcessTime]) -> float | None:
    """None where one of them has no such account."""
    known = [item.run_queue_ns for item in processes if item.run_queue_ns is not None]
    return sum(known) / _RESOLUTION_NS if len(known) == len(processes) else None


def _more(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def instance_cpu_s(before: Snapshot, after: Snapshot) -> float | None:
    """CPU of all server processes between two snapshots, seconds, with those that ended meanwhile.

    The kernel adds a process's CPU to its parent's account of reaped children when it ends. CPU that such a
    process had used before the first snapshot is subtracted again.
    """
    living = process_times(0, before, after)
    if living is None or before.reaped_cpu_ns is None or after.reaped_cpu_ns is None:
        return None
    alive = _by_identity(after)
    ended_before_ns = sum(
        task.cpu_ns for identity, task in _by_identity(before).items() if identity not in alive
    )
    reaped_ns = after.reaped_cpu_ns - before.reaped_cpu_ns
    # The reaped account has whole ticks of 10 ms; with nobody ended there is nothing to add.
    ended_ns = reaped_ns - ended_before_ns if reaped_ns or ended_before_ns else 0
    return (sum(p.cpu_ns for p in living) + ended_ns) / _RESOLUTION_NS


def _busiest_cpu(before: Snapshot, after: Snapshot) -> float | None:
    """The share of its time in which the busiest CPU was not idle; None where no CPU's times are known."""
    shares = []
    for cpu, (busy_s, all_s) in (after.cpu_times or {}).items():
        first_busy_s, first_all_s = (before.cpu_times or {}).get(cpu, (busy_s, all_s))
        if all_s > first_all_s:
            # The kernel may correct a CPU's idle time downwards.
            shares.append(min(1.0, max(0.0, (busy_s - first_busy_s) / (all_s - first_all_s))))
    return max(shares, default=None)


def _spoiled(
    before: Snapshot, after: Snapshot, work: Work, counters: Mapping[str, float | None]
) -> str | None:
    if before.epoch != after.epoch:
        return "the server restarted or its counters were reset"
    trouble = clock_step(before, after) or work.trouble
    if trouble:
        return trouble
    if before.session_pids != after.session_pids:
        return "a session was replaced"
    backwards = [
        name for name, value in counters.items() if value is not None and value < 0 and name not in _GAUGES
    ]
    if backwards:
        return f"counters went backwards: {', '.join(backwards)}"
    if work.units == 0:
        return "no unit of work was done"
    return None


def clock_step(before: Snapshot, after: Snapshot) -> str | None:
    """A sentence where the server's clock was set between two snapshots, or stopped with its machine.

    Each reading of it lies somewhere between question and answer. So a step that is shorter than the two
    round trips does not show.
    """
    first, last = before.server_clock, after.server_clock
    if first is None or last is None:
        return None
    passed_s = last.at_s - first.at_s
    least_s, most_s = last.asked_s - first.answered_s, last.answered_s - first.asked_s
    beyond_s = passed_s - min(max(passed_s, least_s), most_s)
    if abs(beyond_s) <= max(_CLOCK_LEAST_S, _CLOCK_SHARE * most_s):
        return None
    return (
        f"the server's clock went {duration(passed_s)} while {duration(most_s)} passed: it was set, or its "
        "machine was stopped"
    )


def _by_identity(snapshot: Snapshot) -> dict[tuple[int, int], TaskAccount]:
    return {(task.pid, task.start_ticks): task for task in snapshot.tasks or ()}


def _as_field(value: float | None, whole: bool) -> Any:
    return round(value) if whole and value is not None else value


def _delta(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
