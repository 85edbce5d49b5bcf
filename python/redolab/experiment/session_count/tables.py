"""Tables, figures and published findings of a session-count run.

Source: Bobby Durrett, "Faster commit time with fewer sessions" (22 August 2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from redolab.analysis.commit_times import PERCENTS, commit_time_ms
from redolab.analysis.exhibits import Column, Finding, Table
from redolab.analysis.profile import ON_CPU, RUN_QUEUE, Times
from redolab.analysis.time_based import units_of_work
from redolab.dialect.log_waits import is_log_sync
from redolab.experiment.base import setting_name
from redolab.experiment.session_count import pool
from redolab.experiment.session_count.by_sessions import SessionCounts, client_share, throughput, timed_events
from redolab.records.sample import Sample
from redolab.stats.estimates import Estimate, mean_estimate, ratio_estimate

SOURCE = "Bobby Durrett, Faster commit time with fewer sessions, 22 August 2012"
PUBLISHED_PER_CPU = (2, 16)


def tables(found: SessionCounts) -> tuple[Table, ...]:
    """Throughput and commit time by sessions, the effect of a pool, and the published tables."""
    others = (_others(found),) if found.others else ()
    return (_sizes(found), *others, _pooler(found), _profile(found), _events(found))


def _sizes(found: SessionCounts) -> Table:
    columns = (
        Column("sessions", "sessions", "count"),
        Column("elapsed_s", "elapsed", "estimate", "s"),
        Column("throughput_per_s", "commits", "estimate", "per s"),
        *(Column(f"p{percent}", f"p{percent}", "estimate", "ms") for percent in PERCENTS),
    )
    rows = [
        {
            "sessions": number,
            "elapsed_s": mean_estimate(sample.elapsed_s for sample in found.samples(number)),
            "throughput_per_s": throughput(found.samples(number)),
            **{f"p{percent}": found.commit_time_ms(number, percent) for percent in PERCENTS},
        }
        for number in found.sessions
    ]
    note = "The same number of inserts in every sample; p50, p95, p99: the client's commit times."
    return Table("sessions", "Elapsed time, throughput and commit time", columns, rows, note, first=True)


def _others(found: SessionCounts) -> Table:
    columns = (
        Column("sessions", "sessions", "count"),
        Column("server_process", "server processes", "text"),
        Column("throughput_per_s", "commits", "estimate", "per s"),
        Column("ratio", "against the usual ones", "estimate"),
        Column("p95", "commit time p95", "estimate", "ms"),
    )
    rows = []
    for levels in found.others:
        samples = found.compared.samples[setting_name(levels)]
        rows.append(
            {
                "sessions": int(levels["sessions"]),
                "server_process": levels["server_process"],
                "throughput_per_s": throughput(samples),
                "ratio": found.against_usual(levels),
                "p95": commit_time_ms(samples, found.compared.latency, 95),
            }
        )
    note = (
        "The ratio compares with the same number of sessions on the usual server processes, in the same "
        "blocks. A call waits until a shared or pooled process is free for it."
    )
    return Table("server-processes", "The same sessions over other server processes", columns, rows, note)


def _pooler(found: SessionCounts) -> Table:
    clients = found.sessions[-1]
    columns = (
        Column("sessions", "pool of", "count"),
        Column("ratio", f"throughput against {clients}", "estimate"),
        Column("commit_time_ms", "commit time p95", "estimate", "ms"),
        Column("wait_ms", "each client's time per commit", "estimate", "ms"),
        Column("client_share", "client's share of used CPU", "share"),
    )
    rows = [
        {
            "sessions": number,
            "ratio": found.ratio(number, clients),
            "commit_time_ms": found.commit_time_ms(number, 95),
            "wait_ms": mean_estimate(
                1e3 * clients * sample.elapsed_s / units_of_work(sample) for sample in found.samples(number)
            ),
            "client_share": client_share(found.samples(number)),
        }
        for number in found.sessions
    ]
    note = (
        f"Each client's time per commit is for {clients} clients that share a pool of the given size and "
        "commit as fast as they can. This time is the number of clients divided by throughput (Little's "
        "law), so it includes the clients' wait for a connection, but not the cost of the pooler itself."
    )
    return Table("pooler", f"What a connection pool would change for {clients} clients", columns, rows, note)


def _profile(found: SessionCounts) -> Table:
    columns = (
        Column("sessions", "sessions", "count"),
        Column("timesource", "TIMESOURCE", "text"),
        Column("seconds", "SECONDS", "estimate", "s"),
        Column("percentage", "PERCENTAGE", "share"),
    )
    rows: list[dict[str, Any]] = []
    for number in found.sessions:
        samples = found.samples(number)
        profiles = [_session_profile(sample, found.times(sample)) for sample in samples]
        names = {name for profile in profiles for name in profile}
        means = {
            name: mean_estimate(profile.get(name, (0.0, 0.0))[0] for profile in profiles) for name in names
        }
        for name in sorted(names, key=lambda name: (name != pool.TOTAL, -(means[name].point or 0.0))):
            share = mean_estimate(profile.get(name, (0.0, 0.0))[1] for profile in profiles)
            rows.append({"sessions": number, "timesource": name, "seconds": means[name], "percentage": share})
    note = (
        "The profile is that of one session, as the mean over all sessions. The published tables did not "
        "show the run queue (the wait for a CPU): that time was part of log sync or of unaccounted time."
    )
    return Table("session-profile", "Profile of one session", columns, rows, note)


def _session_profile(sample: Sample, times: Times) -> dict[str, tuple[float, float]]:
    """Seconds and share of each row for one session of a sample."""
    profile = pool.session_profile(sample.session_elapsed_s, pool.time_sources(times))
    return {row.name: (row.seconds / sample.sessions, row.share) for row in profile}


def _events(found: SessionCounts) -> Table:
    columns = (
        Column("sessions", "sessions", "count"),
        Column("event", "event", "text"),
        Column("waits", "waits", "count"),
        Column("looks", "looks", "count"),
        Column("time_s", "time", "number", "s"),
        Column("average_ms", "average", "number", "ms"),
        Column("db_time_pct", "% of DB time", "number"),
        Column("wait_class", "wait class", "text"),
    )
    rows: list[dict[str, Any]] = []
    for number in found.sessions:
        events, db_time_s = timed_events(found, number)
        rows += [
            {
                "sessions": number,
                "event": event.event,
                "waits": None if event.waits is None else round(event.waits),
                "looks": event.looks,
                "time_s": event.time_s,
                "average_ms": event.average_ms,
                "db_time_pct": 100 * event.time_s / db_time_s if db_time_s else None,
                "wait_class": event.wait_class,
            }
            for event in pool.top_events(events)
        ]
    note = (
        "The table takes all samples of a setting together. DB time is the sessions' elapsed time less their "
        "wait for the client. Waits are counted where the server counts them (calls that flush or write the "
        "log, by any of its processes, with their own time); elsewhere the looks of the wait sampler show "
        "how often a session was in such a wait."
    )
    return Table("top-events", "Top five timed events", columns, rows, note)


def findings(found: SessionCounts) -> tuple[Finding, ...]:
    """The published findings next to those of this run: many sessions against few."""
    few, many = found.sessions[0], found.sessions[-1]
    obstacle = _obstacle(found, few, many)
    slower = ratio_estimate(-(found.rates[-1] - found.rates[0])) if found.rates.size else None
    sync = _paired(
        found, many, few, lambda item: _log_of(_log_sync_s(found.times(item)), units_of_work(item))
    )
    cpu = mean_estimate(_paired(found, many, few, lambda item: _share(found.times(item), ON_CPU)))
    queue = mean_estimate(_queue_part(found.times(item)) for item in found.samples(many))
    per_cpu = None if found.cpus is None else found.pool.scaled(1 / found.cpus)
    return (
        _finding(
            "elapsed", "elapsed time of the same work with 16 sessions per CPU, divided by that with 2",
            "4.4 (627 s over 143 s)", slower, "times", obstacle,
            lambda _: _more_are_slower(found, many), "Agrees when more sessions are slower (above 1).",
        ),
        _finding(
            "log-sync", "log sync per commit with 16 sessions per CPU, divided by that with 2",
            "47 (42.3 ms over 0.90 ms)", ratio_estimate(sync), "times", obstacle,
            lambda e: _beyond(e, 1.0), "Agrees when a commit waits longer for the log (above 1).",
        ),
        _finding(
            "cpu-share", "change of the share of CPU in a session's time, from 2 to 16 sessions per CPU",
            "-15 percentage points (15 % to 0 %)", cpu.scaled(100), "percentage points", obstacle,
            lambda e: _beyond(e, -1.0, below=True), "Agrees when the share falls by more than one point.",
        ),
        _finding(
            "cpu-queueing", "part of log sync and run queue together that is run queue, 16 sessions per CPU",
            "74 % (of 42 ms log sync 31 ms, all but the log write, were put down to CPU queueing)",
            queue.scaled(100), "%", obstacle, lambda e: _beyond(e, 50.0),
            "Agrees when the run queue, which is measured here and was inferred in the published run, is "
            "more than half. An average log sync above the average log write does not measure the run "
            "queue: one long write delays every session that waits for it.",
        ),
        _finding(
            "pool", "sessions per CPU to have", "about 2", per_cpu, "sessions per CPU",
            obstacle, _holds_two, (
                "Agrees when the interval of the recommended pool contains 2 sessions per CPU."
            ),
        ),
    )  # fmt: skip


def _finding(
    key: str,
    what: str,
    theirs: str,
    ours: Estimate | None,
    unit: str,
    obstacle: str | None,
    holds: Callable[[Estimate], bool | None],
    why: str,
) -> Finding:
    known = ours if ours is not None and ours.point is not None else None
    agrees = None if obstacle or known is None else holds(known)
    unless = obstacle or "The run has too few samples, or too wide an interval, for a comparison."
    return Finding.judged(f"session-count-{key}", what, theirs, known, unit, agrees, why, unless, SOURCE)


def _obstacle(found: SessionCounts, few: int, many: int) -> str | None:
    """Why the findings cannot be compared; None when they can."""
    if found.cpus is None:
        return "The server is not on this machine, so the sessions per CPU are not known."
    wanted = tuple(number * found.cpus for number in PUBLISHED_PER_CPU)
    if (few, many) != wanted:
        return (
            f"The run measured {few} to {many} sessions; the finding compares {wanted[0]} and {wanted[1]} "
            f"sessions on {found.cpus} CPUs."
        )
    return None


def _more_are_slower(found: SessionCounts, many: int) -> bool | None:
    against = found.against_fewest(many)
    if found.compared.null.passed is False or against is None or against.outcome == "undecided":
        return None
    return against.outcome == "worse"


def _beyond(estimate: Estimate, line: float, below: bool = False) -> bool | None:
    """Whether the whole interval is above (or below) a line; None when the line is inside it."""
    low, high = estimate.low, estimate.high
    if low is None or high is None or low <= line <= high:
        return None
    return (high < line) if below else (low > line)


def _holds_two(estimate: Estimate) -> bool | None:
    low, high = estimate.low, estimate.high
    return None if low is None or high is None else low <= PUBLISHED_PER_CPU[0] <= high


def _paired(found: SessionCounts, a: int, b: int, measure: Callable[[Sample], float | None]) -> list[float]:
    """Differences inside blocks, `a` less `b`; a setting that was measured twice counts with its mean."""
    means = []
    for number in (a, b):
        values: dict[int, list[float]] = {}
        for sample in found.samples(number):
            value = measure(sample)
            if value is not None:
                values.setdefault(sample.block, []).append(value)
        means.append({block: math.fsum(them) / len(them) for block, them in values.items()})
    first, second = means
    return [first[block] - second[block] for block in sorted(first.keys() & second.keys())]


def _log_sync_s(times: Times) -> float:
    return math.fsum(seconds for row, seconds in times.items() if is_log_sync(row))


def _log_of(seconds: float, commits: int) -> float | None:
    return math.log(seconds / commits) if seconds > 0 else None


def _share(times: Times, row: str) -> float | None:
    whole = math.fsum(times.values())
    return times[row] / whole if row in times and whole > 0 else None


def _queue_part(times: Times) -> float | None:
    queue, sync = times.get(RUN_QUEUE), _log_sync_s(times)
    return None if queue is None or queue + sync <= 0 else queue / (queue + sync)
