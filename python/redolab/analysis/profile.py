"""Where the time went: rows that add up to the whole, what cannot be named among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from redolab.analysis.time_based import background_blocked_s, session_blocked_s, session_steal_s
from redolab.analysis.waits import (
    NOTHING,
    Seen,
    event_name,
    is_asleep,
    is_awake,
    session_waits,
)
from redolab.dialect.log_waits import is_log_sync, unposted_wait
from redolab.records.sample import Sample, WaitRow
from redolab.stats.estimates import Estimate, mean_estimate

ON_CPU = "on_cpu"
RUN_QUEUE = "run_queue"
STEAL = "steal"
UNACCOUNTED = "unaccounted"
ON_CPU_OR_UNKNOWN = "on_cpu_or_unknown"
_FIRST = (ON_CPU, RUN_QUEUE, STEAL, ON_CPU_OR_UNKNOWN)

_EXPLAIN_FROM = 0.01

Times = dict[str, float]
"""Seconds per row of one sample."""


@dataclass(frozen=True)
class ProfileRow:
    """One row of a setting's time profile."""

    row: str
    """`on_cpu`, `run_queue`, `steal`, a wait as `Class:Event`, `unaccounted`, or `on_cpu_or_unknown`."""
    share: Estimate
    """Of the whole; the points of all rows sum to 1."""
    per_unit: Estimate
    """Seconds per unit of work; the points of all rows sum to the mean response time."""
    time_s: float
    """Process-seconds in all samples together."""

    def as_json(self) -> dict[str, object]:
        """The row as the results object has it."""
        return {
            "row": self.row,
            "class": self.row.split(":")[0],
            "share": self.share.as_json(),
            "per_unit_ms": self.per_unit.scaled(1e3).as_json(),
            "time_s": self.time_s,
        }


def session_times(sample: Sample, seen: Seen) -> Times:
    """Seconds per row of the working sessions; the rows sum to `session_elapsed_s`.

    CPU and run queue are the kernel's exact accounts; steal is estimated, and has a row only where
    there was some. The rest is divided by the ticks that saw a session asleep with an event posted;
    what was asleep without one is unaccounted, and so is the (negative) rest when the other rows
    exceed the elapsed time.

    Without the kernel's accounts all time is divided by ticks, those without an event as
    `on_cpu_or_unknown`; without ticks too all of it is unaccounted.
    """
    rows = tuple(session_waits(sample, seen))
    blocked = session_blocked_s(sample)
    if blocked is None or sample.session_cpu_s is None or sample.session_run_queue_s is None:
        return _divided(sample.session_elapsed_s, rows, nameless=ON_CPU_OR_UNKNOWN)
    times: Times = {ON_CPU: sample.session_cpu_s, RUN_QUEUE: sample.session_run_queue_s}
    steal = session_steal_s(sample)
    if steal:
        times[STEAL] = steal
        blocked -= steal
    if blocked < 0:
        times[UNACCOUNTED] = blocked
    else:
        asleep = tuple(row for row in rows if is_asleep(row))
        times |= _divided(blocked, asleep, nameless=UNACCOUNTED)
    return times


def instance_times(sample: Sample, seen: Seen) -> Times | None:
    """Process-seconds per row of the whole instance; None without accounts or ticks.

    The sessions' blocked time and steal as in `session_times`; CPU and run queue of every server
    process; the background's waits without its idle ones.
    """
    cpu, run_queue = sample.instance_cpu_s, sample.instance_run_queue_s
    if cpu is None or run_queue is None or session_blocked_s(sample) is None or not sample.ticks:
        return None
    times = session_times(sample, seen)
    times |= {ON_CPU: cpu, RUN_QUEUE: run_queue}
    for (wait_class, event), seconds in background_blocked_s(sample, seen).items():
        name = event_name(wait_class, event)
        times[name] = times.get(name, 0.0) + seconds
    return times


def profile(samples: Iterable[tuple[Times | None, int]]) -> tuple[ProfileRow, ...]:
    """The profile of a setting from its samples' times and units of work.

    A row's share is the mean of its shares in the samples, with Student's t interval over them,
    and likewise its time per unit of work. Rows come in a fixed order: CPU, run queue, steal,
    waits by their share, unaccounted.
    """
    known = [
        (times, units)
        for times, units in samples
        if times is not None and sum(times.values()) > 0 and units > 0
    ]
    names = sorted({name for times, _ in known for name in times})
    rows = [
        ProfileRow(
            name,
            mean_estimate(times.get(name, 0.0) / sum(times.values()) for times, _ in known),
            mean_estimate(times.get(name, 0.0) / units for times, units in known),
            sum(times.get(name, 0.0) for times, _ in known),
        )
        for name in names
    ]
    return tuple(sorted(rows, key=_place))


def unaccounted_text(rows: Iterable[ProfileRow], levels: Mapping[str, str]) -> str | None:
    """Why time is unaccounted, in words; None while it is at most 1 % of the whole.

    Args:
        rows: a setting's profile of its sessions.
        levels: the setting's factor levels.
    """
    share = next((row.share.point for row in rows if row.row == UNACCOUNTED), None)
    if share is None or abs(share) <= _EXPLAIN_FROM:
        return None
    if share < 0:
        return "CPU, run queue and steal exceed the time the sessions had."
    known = unposted_wait(levels.get("commit_wait"), levels.get("commit_logging"))
    return known or "the sessions were asleep and posted no wait event."


def log_sync_share(times: Times) -> float | None:
    """Share of the whole that is waiting for the commit's flush (see `log_waits.is_log_sync`)."""
    whole = sum(times.values())
    return _log_sync_s(times) / whole if whole > 0 else None


def log_sync_share_of_wait(sessions: Times, blocked_s: float | None) -> float | None:
    """The sessions' log sync over the instance's non-idle wait, `blocked_s` seconds."""
    return _log_sync_s(sessions) / blocked_s if blocked_s else None


def _log_sync_s(times: Times) -> float:
    return sum(seconds for name, seconds in times.items() if is_log_sync(name))


def _divided(whole: float, rows: Sequence[WaitRow], nameless: str) -> Times:
    ticks: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        named = row.event != "" and not is_awake(row)
        ticks[event_name(row.wait_class, row.event) if named else nameless] += row.ticks
    seen = sum(ticks.values())
    if seen == 0:
        return {UNACCOUNTED: whole}
    return {name: whole * count / seen for name, count in ticks.items()} | (
        {UNACCOUNTED: 0.0} if nameless == UNACCOUNTED and nameless not in ticks else {}
    )


def _place(row: ProfileRow) -> tuple[int, float, str]:
    if row.row in _FIRST:
        return _FIRST.index(row.row), 0.0, row.row
    last = row.row == UNACCOUNTED
    return len(_FIRST) + last, -(row.share.point or 0.0), row.row


def by_sample(
    samples: Sequence[Sample], sightings: Mapping[int, Seen]
) -> tuple[tuple[Times, ...], tuple[Times | None, ...]]:
    """Session times and instance times of `samples`, in their order."""
    return (
        tuple(session_times(sample, sightings.get(sample.sample, NOTHING)) for sample in samples),
        tuple(instance_times(sample, sightings.get(sample.sample, NOTHING)) for sample in samples),
    )
