"""Tables, figures and published findings of a commit-scaling run.

Source: Bobby Durrett, "Commit scalability" (20 August 2014).
"""

from __future__ import annotations

import math

from redolab.analysis import time_based
from redolab.analysis.exhibits import Column, Finding, Table
from redolab.experiment.commit_scaling import growth
from redolab.experiment.commit_scaling.by_sessions import (
    Scaling,
    by_block,
    commits_per_flush,
    flushes_per_s,
    over,
    total,
    typical,
)
from redolab.experiment.commit_scaling.growth import PublishedWait
from redolab.stats.estimates import MISSING, Estimate, mean_estimate, ratio_estimate

SOURCE = "Bobby Durrett, Commit scalability, 20 August 2014"


def tables(found: Scaling) -> tuple[Table, ...]:
    """Commits and log per number of sessions, what is busy, and the published report."""
    return (_log_table(found), _busy_table(found), _published_table(found))


def findings(found: Scaling) -> tuple[Finding, ...]:
    """The published findings next to those of this run, for the most sessions."""
    most = max(found.names)
    grouped = commits_per_flush(found.samples[most])
    over_wall = MISSING
    best = growth.greatest(found.rates)
    if best is not None:
        rates, flushes = found.rates[best], found.flush_times
        over_wall = ratio_estimate(
            math.log(rates[block] * flushes[block]) for block in sorted(rates.keys() & flushes.keys())
        )
    slower = growth.ratio(found.commit_times, most, min(found.names))
    unseen = "This run lacks the data for this finding: the times of flushes, or valid samples."
    return (
        Finding.judged(
            "commit-scaling-grouping",
            "commits per log write when many sessions commit",
            "1.76 (798,879 log syncs, 453,010 log writes)",
            grouped,
            "commits per flush",
            _above(grouped, 1.05),
            "The finding is that one write serves several commits (here: more than 1.05); how many depends "
            "on the sessions and on the device.",
            unseen,
            SOURCE,
        ),
        Finding.judged(
            "commit-scaling-wall",
            "commits per second divided by the limit (wall) that one flush per commit would set",
            "2.8 (about 10 million per hour where 3.6 million were predicted)",
            over_wall,
            "times",
            _above(over_wall, 1),
            "The finding is that commits pass the predicted wall, a rate of 1 divided by the time of a "
            "flush (above 1 agrees); how far they pass it depends on the sessions and on the CPUs.",
            unseen,
            SOURCE,
        ),
        Finding.judged(
            "commit-scaling-commit-time",
            "commit time with many sessions divided by commit time with few",
            "about 4 (about 0.5 ms at 3 million per hour, almost 2 ms at 10 million; log sync alone)",
            slower,
            "times",
            _above(slower, 1.05),
            "The finding is that commit time grows as commits do (here: by more than 5 % from the fewest to "
            "the most sessions); the published time is log sync alone, the time here is the whole commit.",
            unseen,
            SOURCE,
        ),
    )


def _above(ours: Estimate, line: float) -> bool | None:
    return None if ours.point is None else ours.point > line


def _log_table(found: Scaling) -> Table:
    rows = [
        {
            "sessions": sessions,
            "commits_per_s": typical(found.rates[sessions]),
            "writes_per_s": typical(by_block(items, lambda item: over(item.log_writes, item.elapsed_s))),
            "flushes_per_s": typical(flushes_per_s(items)),
            "commits_per_flush": commits_per_flush(items),
            "commit_time_ms": typical(found.commit_times[sessions]).scaled(1e3),
        }
        for sessions, items in found.samples.items()
    ]
    return Table(
        "commit-scaling-log",
        "Commits and the log over sessions",
        (
            Column("sessions", "Sessions", "count"),
            Column("commits_per_s", "Commits", "estimate", "per s"),
            Column("writes_per_s", "Log writes", "estimate", "per s"),
            Column("flushes_per_s", "Log flushes", "estimate", "per s"),
            Column("commits_per_flush", "Commits per flush", "estimate"),
            Column("commit_time_ms", "Commit time", "estimate", "ms"),
        ),
        rows,
        note="The figures are geometric means over the blocks (passes over all settings), except for commits "
        "per flush. Writes and flushes are the server's own counts over all its processes. Commit time "
        "is the time of a session per commit, including its update.",
        first=True,
    )


def _busy_table(found: Scaling) -> Table:
    rows = [
        {
            "sessions": sessions,
            "log_busy": found.log_busy[sessions],
            "cpus_busy": found.cpus_busy[sessions],
            "server_cpu": found.server_cpu[sessions],
            "log_sync": mean_estimate(
                over(sync, item.session_elapsed_s)
                for sync, item in zip(found.log_sync_s[sessions], items, strict=True)
            ),
            "flush_time_ms": mean_estimate(map(time_based.flush_time_s, items)).scaled(1e3),
        }
        for sessions, items in found.samples.items()
    ]
    return Table(
        "commit-scaling-busy",
        "Use of log and CPUs over sessions",
        (
            Column("sessions", "Sessions", "count"),
            Column("log_busy", "Log busy", "share", "%"),
            Column("cpus_busy", "CPUs busy", "share", "%"),
            Column("server_cpu", "by the database", "share", "%"),
            Column("log_sync", "Log sync in commit time", "share", "%"),
            Column("flush_time_ms", "Mean flush", "estimate", "ms"),
        ),
        rows,
        note="The log counts as busy while a process sleeps in a write or flush of the log; only one process "
        "at a time does so. CPUs busy includes all programs on the machine. The mean flush is measured "
        "by the server's clock, which runs on while a process that has flushed waits for a CPU.",
    )


def _published_table(found: Scaling) -> Table:
    rows = [
        {
            "sessions": sessions,
            "event": event.event,
            "elapsed_s": event.elapsed_s,
            "per_hour": event.per_hour,
            "per_second": event.per_second,
            "average_ms": event.average_ms,
        }
        for sessions in found.names
        for event in events(found, sessions)
    ]
    return Table(
        "commit-scaling-published",
        "Waits for the log, as published",
        (
            Column("sessions", "Sessions", "count"),
            Column("event", "Wait event", "text"),
            Column("elapsed_s", "Elapsed", "number", "s"),
            Column("per_hour", "Waits", "number", "per hour"),
            Column("per_second", "Waits", "number", "per s"),
            Column("average_ms", "Average", "number", "ms"),
        ),
        rows,
        note="The figures are over all samples of a setting. Log write and log flush are the server's counts "
        "of its calls and their time. For log sync every commit counts as one wait, although a commit "
        "whose log another session had already flushed does not wait; the time of log sync is the "
        "sessions' time in log waits, as the sampler divides it. The published log write was one "
        "synchronous call; here it is a write and a flush.",
    )


def events(found: Scaling, sessions: int) -> tuple[PublishedWait, ...]:
    """The published report of one setting: log write, log flush and log sync, as far as known."""
    samples = found.samples[sessions]
    if not samples:
        return ()
    elapsed_s = sum(item.elapsed_s for item in samples)
    rows = []
    for name, waits, times in (
        ("log write", [item.log_writes for item in samples], [item.log_write_time_s for item in samples]),
        ("log flush", [item.log_flushes for item in samples], [item.log_flush_time_s for item in samples]),
        ("log sync", [item.commits for item in samples], found.log_sync_s[sessions]),
    ):
        count = total(waits)
        if count is not None:
            rows.append(PublishedWait(name, elapsed_s, count, total(times)))
    return tuple(rows)
