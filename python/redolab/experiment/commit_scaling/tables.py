"""Tables, figures and published findings of a commit-scaling run.

Source: Bobby Durrett, "Commit scalability" (20 August 2014).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from redolab.analysis import time_based
from redolab.analysis.compared import Compared
from redolab.analysis.exhibits import Axis, Column, Figure, Finding, Series, Table
from redolab.analysis.profile import by_sample, log_sync_share
from redolab.dialect.log_waits import is_log_write
from redolab.experiment.commit_scaling import growth as figures_of
from redolab.experiment.commit_scaling.growth import Event, Rates
from redolab.records.sample import Sample
from redolab.stats.estimates import MISSING, Estimate, mean_estimate, ratio_estimate

Pick = Callable[[Sample], float | None]
SOURCE = "Bobby Durrett, Commit scalability, 20 August 2014"


@dataclass(frozen=True)
class Scaling:
    """A run by its numbers of sessions, in rising order."""

    names: Mapping[int, str]
    samples: Mapping[int, Sequence[Sample]]
    rates: Rates
    """Commits per second by block; the mean of two where the baseline stands twice."""
    commit_times: Rates
    """Seconds of a session per commit, by block."""
    flush_times: Mapping[int, float]
    """Mean seconds of one flush call with the fewest sessions, by block: what a commit asks of the log."""
    log_sync_s: Mapping[int, Sequence[float | None]]
    """Per sample: the sessions' time waiting for their flush, as the wait sampler divides it."""
    log_busy: Mapping[int, Estimate]
    """Share of the time in which a process waited for the log to be written or flushed."""
    cpus_busy: Mapping[int, Estimate]
    """Share of the machine's CPU time that was used, by anybody."""
    server_cpu: Mapping[int, Estimate]
    """Share of it that the database used."""

    @property
    def service_s(self) -> float | None:
        """Mean time of one flush with the fewest sessions, seconds (geometric mean of the blocks)."""
        return typical(self.flush_times).point

    @property
    def wall_per_s(self) -> float | None:
        """Commits per second at which a single-server queue has no steady state any more."""
        return 1 / self.service_s if self.service_s else None


def scaling(compared: Compared) -> Scaling:
    """The samples of a run by sessions."""
    levels = {
        setting["name"]: int(setting["levels"]["sessions"]) for setting in compared.manifest["settings"]
    }
    names = {sessions: name for name, sessions in sorted(levels.items(), key=lambda item: item[1])}
    samples = {sessions: compared.samples[name] for sessions, name in names.items()}
    return Scaling(
        names=names,
        samples=samples,
        rates=_each(samples, lambda item: item.commits / item.elapsed_s),
        commit_times=_each(samples, lambda item: item.session_elapsed_s / item.commits),
        flush_times=_by_block(samples[min(names)], time_based.flush_time_s),
        log_sync_s={sessions: _log_sync_s(items, compared) for sessions, items in samples.items()},
        log_busy={sessions: _log_busy(items, compared) for sessions, items in samples.items()},
        cpus_busy={sessions: _mean(items, time_based.host_cpu_share) for sessions, items in samples.items()},
        server_cpu={sessions: _mean(items, _server_cpu) for sessions, items in samples.items()},
    )


def commits_per_flush(samples: Sequence[Sample]) -> Estimate:
    """Commits that one flush of the log served."""
    return mean_estimate(map(time_based.commits_per_flush, samples))


def tables(found: Scaling) -> tuple[Table, ...]:
    """Commits and log per number of sessions, what is busy, and the published report."""
    return (_log_table(found), _busy_table(found), _published_table(found))


def figures(found: Scaling) -> tuple[Figure, ...]:
    """Commits against flushes, and commit time over commits beside the single-server prediction."""
    return (_flush_figure(found), _time_figure(found))


def findings(found: Scaling) -> tuple[Finding, ...]:
    """The published findings beside this run's; the most sessions speak."""
    most = max(found.names)
    grouped = commits_per_flush(found.samples[most])
    over_wall = MISSING
    best = figures_of.greatest(found.rates)
    if best is not None:
        rates, flushes = found.rates[best], found.flush_times
        over_wall = ratio_estimate(
            math.log(rates[block] * flushes[block]) for block in sorted(rates.keys() & flushes.keys())
        )
    slower = figures_of.ratio(found.commit_times, most, min(found.names))
    unseen = "This run could not read what is needed: times of flushes, or samples that count."
    return (
        Finding(
            "commit-scaling-grouping",
            "commits per log write when many sessions commit",
            "1.76 (798,879 log syncs, 453,010 log writes)",
            grouped if grouped.point is not None else None,
            "commits per flush",
            "not comparable" if grouped.point is None else "agrees" if grouped.point > 1.05 else "differs",
            unseen if grouped.point is None else
            "The finding is that one write serves several commits (here: more than 1.05); how many depends "
            "on the sessions and on the device.",
            SOURCE,
        ),
        Finding(
            "commit-scaling-wall",
            "commits per second over those at which a single-server queue predicts a wall",
            "2.8 (about 10 million per hour where 3.6 million were predicted)",
            over_wall if over_wall.point is not None else None,
            "times",
            "not comparable" if over_wall.point is None else "agrees" if over_wall.point > 1 else "differs",
            unseen if over_wall.point is None else
            "The finding is that there is no wall at 1 over the time of a flush (above 1 agrees); how far it "
            "is passed depends on the sessions and on the CPUs.",
            SOURCE,
        ),
        Finding(
            "commit-scaling-commit-time",
            "commit time with many sessions over that with few",
            "about 4 (about 0.5 ms at 3 million per hour, almost 2 ms at 10 million; log sync alone)",
            slower if slower.point is not None else None,
            "times",
            "not comparable" if slower.point is None else "agrees" if slower.point > 1.05 else "differs",
            unseen if slower.point is None else
            "The finding is that commit time grows as commits do (here: by more than 5 % from the fewest to "
            "the most sessions); theirs is log sync alone, ours the whole commit.",
            SOURCE,
        ),
    )  # fmt: skip


def _each(samples: Mapping[int, Sequence[Sample]], pick: Pick) -> Rates:
    return {sessions: _by_block(items, pick) for sessions, items in samples.items()}


def _by_block(samples: Sequence[Sample], pick: Pick) -> dict[int, float]:
    """By block; the mean of two where the baseline stands twice."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        value = pick(sample)
        if value is not None and value > 0:
            found[sample.block].append(value)
    return {block: sum(values) / len(values) for block, values in found.items()}


def _log_busy(samples: Sequence[Sample], compared: Compared) -> Estimate:
    """From the time processes were asleep in a write or flush of the log; else by the server's clock.

    The server's clock runs on while a process that has flushed waits for a CPU, so it is only asked
    where the kernel's accounts cannot be read.
    """
    _, times = by_sample(samples, compared.seen)
    shares = [
        _over(item.log_flush_time_s, item.elapsed_s)
        if row is None
        else sum(seconds for name, seconds in row.items() if is_log_write(name)) / item.elapsed_s
        for row, item in zip(times, samples, strict=True)
    ]
    return mean_estimate(shares)


def _server_cpu(sample: Sample) -> float | None:
    if sample.instance_cpu_s is None or not sample.host_cpus:
        return None
    return sample.instance_cpu_s / (sample.elapsed_s * sample.host_cpus)


def _log_sync_s(samples: Sequence[Sample], compared: Compared) -> list[float | None]:
    times, _ = by_sample(samples, compared.seen)
    shares = [
        log_sync_share(row) if sample.ticks else None for row, sample in zip(times, samples, strict=True)
    ]
    return [
        None if share is None else share * sample.session_elapsed_s
        for share, sample in zip(shares, samples, strict=True)
    ]


def typical(by_block: Mapping[int, float]) -> Estimate:
    """The geometric mean over the blocks, so that no single stall decides, with its 95 % interval."""
    return ratio_estimate(math.log(value) for value in by_block.values())


def _flushes_per_s(samples: Sequence[Sample]) -> dict[int, float]:
    return _by_block(samples, lambda item: _over(item.log_flushes, item.elapsed_s))


def _log_table(found: Scaling) -> Table:
    rows = [
        {
            "sessions": sessions,
            "commits_per_s": typical(found.rates[sessions]),
            "writes_per_s": typical(_by_block(items, lambda item: _over(item.log_writes, item.elapsed_s))),
            "flushes_per_s": typical(_flushes_per_s(items)),
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
        note="Geometric means over the blocks, but for commits per flush. Writes and flushes are the "
        "server's own counts, of all its processes. Commit time is the time of a session per commit, its "
        "update in it.",
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
                _over(sync, item.session_elapsed_s)
                for sync, item in zip(found.log_sync_s[sessions], items, strict=True)
            ),
            "flush_time_ms": mean_estimate(map(time_based.flush_time_s, items)).scaled(1e3),
        }
        for sessions, items in found.samples.items()
    ]
    return Table(
        "commit-scaling-busy",
        "What is busy over sessions",
        (
            Column("sessions", "Sessions", "count"),
            Column("log_busy", "Log busy", "share", "%"),
            Column("cpus_busy", "CPUs busy", "share", "%"),
            Column("server_cpu", "by the database", "share", "%"),
            Column("log_sync", "Log sync in commit time", "share", "%"),
            Column("flush_time_ms", "Mean flush", "estimate", "ms"),
        ),
        rows,
        note="The log is busy while a process sleeps in a write or flush of it; one process does that at a "
        "time. CPUs are the machine's, whoever used them. Mean flush is by the server's clock, which runs on "
        "while a process that has flushed waits for a CPU.",
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
        note="Over all samples of a setting. Log write and log flush: the server's counts of its calls and "
        "their time. Log sync: every commit counts as one wait, though one whose log a neighbour had flushed "
        "already waits for nothing; its time is the sessions' time in log waits, divided by the sampler. "
        "The published log write was one synchronous call; here it is a write and a flush.",
    )


def events(found: Scaling, sessions: int) -> tuple[Event, ...]:
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
        count = _total(waits)
        if count is not None:
            rows.append(Event(name, elapsed_s, count, _total(times)))
    return tuple(rows)


def _flush_figure(found: Scaling) -> Figure:
    commits = [typical(values).point or 0.0 for values in found.rates.values()]
    flushes = [typical(_flushes_per_s(items)) for items in found.samples.values()]
    return Figure(
        "commit-scaling-flushes",
        "Log flushes over commits",
        "One point per number of sessions. On the dashed line every commit has a flush of its own; below "
        "it one flush serves several.",
        Axis("Commits", "per s"),
        Axis("Log flushes", "per s"),
        (
            Series(
                "measured",
                commits,
                [item.point for item in flushes],
                [item.low for item in flushes],
                [item.high for item in flushes],
            ),
            Series("one flush per commit", [0.0, max(commits)], [0.0, max(commits)], style="dashed"),
        ),
    )


def _time_figure(found: Scaling) -> Figure:
    commits = [typical(values).point or 0.0 for values in found.rates.values()]
    times = [typical(values).scaled(1e3) for values in found.commit_times.values()]
    syncs = [
        typical(_paired(items, found.log_sync_s[sessions])).scaled(1e3)
        for sessions, items in found.samples.items()
    ]
    series = [_points("commit time", commits, times), _points("log sync in it", commits, syncs)]
    caption = "One point per number of sessions, with 95 % intervals."
    service, wall = found.service_s, found.wall_per_s
    tallest = max((item.high or item.point or 0.0 for item in times), default=0.0)
    if service is not None and wall is not None and tallest:
        rates, responses = figures_of.single_server(service, max(*commits, wall))
        # A curve that rises beyond the measured points would flatten them.
        drawn = [(rate, 1e3 * each) for rate, each in zip(rates, responses, strict=True)]
        drawn = [(rate, each) for rate, each in drawn if each <= tallest]
        series += [
            Series(
                "single-server prediction (M/M/1)",
                [rate for rate, _ in drawn],
                [each for _, each in drawn],
                style="line",
            ),
            Series("predicted wall", [wall, wall], [0.0, tallest], style="dashed"),
        ]
        caption += (
            " The line is one server that serves a commit at a time, arrivals at random: its service time "
            f"is the mean flush of {min(found.names)} session, {1e3 * service:.3g} ms. It has no "
            f"steady state from {wall:,.0f} commits per second on (predicted wall), and is cut where it "
            "leaves the figure. It knows of the log alone, so compare it with log sync."
        )
    return Figure(
        "commit-scaling-time",
        "Commit time over commits",
        caption,
        Axis("Commits", "per s"),
        Axis("Time per commit", "ms"),
        series,
    )


def _paired(samples: Sequence[Sample], log_sync_s: Sequence[float | None]) -> dict[int, float]:
    """Seconds of log sync per commit by block."""
    by_sample_number = {item.sample: sync for item, sync in zip(samples, log_sync_s, strict=True)}
    return _by_block(samples, lambda item: _over(by_sample_number[item.sample], item.commits))


def _points(name: str, x: Sequence[float], y: Sequence[Estimate]) -> Series:
    return Series(name, x, [item.point for item in y], [item.low for item in y], [item.high for item in y])


def _mean(samples: Sequence[Sample], pick: Pick) -> Estimate:
    return mean_estimate(map(pick, samples))


def _over(amount: float | None, by: float) -> float | None:
    return None if amount is None or not by else amount / by


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
