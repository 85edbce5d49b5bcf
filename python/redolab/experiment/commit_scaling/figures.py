"""The figures of a commit-scaling run, as data."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.experiment.commit_scaling import growth
from redolab.experiment.commit_scaling.by_sessions import (
    Scaling,
    flushes_per_s,
    log_sync_per_commit_s,
    typical,
)
from redolab.stats.estimates import Estimate


def figures(found: Scaling) -> tuple[Figure, ...]:
    """Commits against flushes, and commit time over commits with the single-server prediction."""
    return (_flush_figure(found), _time_figure(found))


def _flush_figure(found: Scaling) -> Figure:
    commits = [typical(values).point or 0.0 for values in found.rates.values()]
    flushes = [typical(flushes_per_s(items)) for items in found.samples.values()]
    return Figure(
        "commit-scaling-flushes",
        "Log flushes over commits",
        "Each point is a number of sessions. On the dashed line every commit has a flush of its own; below "
        "that line one flush serves several commits.",
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
        typical(log_sync_per_commit_s(items, found.log_sync_s[sessions])).scaled(1e3)
        for sessions, items in found.samples.items()
    ]
    series = [_points("commit time", commits, times), _points("log sync in it", commits, syncs)]
    caption = "Each point is a number of sessions, with its 95 % intervals."
    service, wall = found.service_s, found.wall_per_s
    tallest = max((item.high or item.point or 0.0 for item in times), default=0.0)
    if service is not None and wall is not None and tallest:
        rates, responses = growth.single_server(service, max(*commits, wall))
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
            " The line is the prediction for one server that serves a commit at a time, with commits "
            f"arriving at random: its service time is the mean flush of {min(found.names)} session, "
            f"{1e3 * service:.3g} ms. From {wall:,.0f} commits per second on (the predicted wall), such a "
            "server does not have a steady state; the line is cut where it leaves the figure. The prediction "
            "includes only the log, so compare it with log sync."
        )
    return Figure(
        "commit-scaling-time",
        "Commit time over commits",
        caption,
        Axis("Commits", "per s"),
        Axis("Time per commit", "ms"),
        series,
    )


def _points(name: str, x: Sequence[float], y: Sequence[Estimate]) -> Series:
    return Series(name, x, [item.point for item in y], [item.low for item in y], [item.high for item in y])
