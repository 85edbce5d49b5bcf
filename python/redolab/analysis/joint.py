"""Wait posted or not, against what the process did meanwhile: the two accounts of time together."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from redolab.analysis.time_based import session_steal_s
from redolab.analysis.waits import NOTHING, SampledProcesses, is_asleep, session_waits
from redolab.records.sample import Sample, WaitRow

Joint = dict[str, dict[str, float | None]]
"""Shares of the sessions' time: `posted` and `not_posted`, each by `on_cpu`, `run_queue`, `asleep`."""

_COLUMNS = ("on_cpu", "run_queue", "asleep")


def joint(samples: Sequence[Sample], sightings: Mapping[int, SampledProcesses]) -> Joint | None:
    """The joint matrix of a setting's sessions, in shares of their time.

    A column's total is the mean over the samples of its exact share, as in the profile (`asleep` is
    what CPU, run queue and steal leave, so the whole less steal is 1); inside a column the setting's
    ticks divide it. A cell is None where no tick fell into a column that has time.

    None without the kernel's accounts or ticks, and where the ticks did not distinguish on CPU from run queue
    (wait events from `pg_stat_activity`; runs stored before the ticks distinguished them).
    """
    totals = [shares for sample in samples if (shares := _exact(sample)) is not None]
    rows = [row for sample in samples for row in session_waits(sample, sightings.get(sample.sample, NOTHING))]
    states = {row.state for row in rows}
    told = "on_cpu" in states or not states & {"runnable", "awake"}
    if not totals or not states or not told:
        return None
    found: Joint = {"posted": {}, "not_posted": {}}
    for column in _COLUMNS:
        total = statistics.fmean(shares[column] for shares in totals)
        posted = _posted_share([row for row in rows if _column(row) == column], total)
        found["posted"][column] = None if posted is None else total * posted
        found["not_posted"][column] = None if posted is None else total * (1 - posted)
    return found


def _exact(sample: Sample) -> dict[str, float] | None:
    cpu, run_queue, elapsed = sample.session_cpu_s, sample.session_run_queue_s, sample.session_elapsed_s
    if cpu is None or run_queue is None or elapsed <= 0:
        return None
    asleep = elapsed - cpu - run_queue - session_steal_s(sample)
    return dict(zip(_COLUMNS, (cpu / elapsed, run_queue / elapsed, asleep / elapsed), strict=True))


def _column(row: WaitRow) -> str | None:
    if is_asleep(row):
        return "asleep"
    return {"on_cpu": "on_cpu", "runnable": "run_queue"}.get(row.state)


def _posted_share(rows: Sequence[WaitRow], total: float) -> float | None:
    ticks = sum(row.ticks for row in rows)
    if not ticks:
        return None if total else 0.0
    return sum(row.ticks for row in rows if row.event) / ticks
