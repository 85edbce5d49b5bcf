"""The figures of a session-count run, as data."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.commit_times import PERCENTS
from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.experiment.session_count.by_sessions import SessionCounts, throughput
from redolab.stats.estimates import Estimate


def figures(found: SessionCounts) -> tuple[Figure, ...]:
    """Throughput and commit time over the number of sessions."""
    numbers = list(found.sessions)
    axis = Axis("sessions", logarithmic=True)
    rates = [throughput(found.samples(number)) for number in numbers]
    return (
        Figure(
            "throughput-by-sessions",
            "Commits per second over the number of sessions",
            "Means with 95 % intervals. The same work in every sample.",
            axis,
            Axis("commits", "per s"),
            (_series("throughput", numbers, rates),),
        ),
        Figure(
            "commit-time-by-sessions",
            "Commit time over the number of sessions",
            "Commit time is what the client saw: from sending the statement to its acknowledgement.",
            axis,
            Axis("commit time", "ms", logarithmic=True),
            tuple(
                _series(f"p{percent}", numbers, [found.commit_time_ms(n, percent) for n in numbers])
                for percent in PERCENTS
            ),
        ),
    )


def _series(name: str, numbers: Sequence[int], values: Sequence[Estimate]) -> Series:
    return Series(
        name,
        [float(number) for number in numbers],
        [value.point for value in values],
        [value.low for value in values],
        [value.high for value in values],
        "line",
    )
