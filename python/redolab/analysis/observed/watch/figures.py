"""The figures of a watch: load against R, utilisation, flushes and their times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.analysis.observed.exhibits import published_line
from redolab.analysis.observed.figures import WATCH
from redolab.analysis.observed.watch.measures import Found, each, known_response
from redolab.analysis.observed.watch.stretches import Floats, Stretches

MOST_POINTS = 400
"""Most points of a figure; where there are more stretches, successive ones share a point."""


def drawn(stretches: Stretches, found: Mapping[str, Found]) -> list[Figure]:
    """Every figure for which something is known.

    Args:
        stretches: those that count.
        found: every figure over them.
    """
    points = merged(stretches, MOST_POINTS)
    made = [_curve(points, found), _use(points), _sharing(points), _log_times(points)]
    return [figure for figure in made if figure is not None]


def merged(stretches: Stretches, most: int) -> Stretches:
    """The stretches with so many that follow each other taken together that there are `most` at the most.

    None is put together with one of another start of the watching. A number that is not known of one stretch
    is not known of its group.
    """
    count = len(stretches)
    if count <= most:
        return stretches
    starts = np.flatnonzero(np.diff(stretches.starts, prepend=stretches.starts[0] - 1))
    # Every start may leave a group that is not full.
    size = -(-count // max(1, most - min(len(starts), most // 2)))
    first = np.unique(
        np.concatenate(
            [np.arange(begin, end, size) for begin, end in zip(starts, [*starts[1:], count], strict=True)]
        )
    )
    return Stretches(
        stretches.numbers[first],
        stretches.starts[first],
        stretches.began[first],
        {name: np.add.reduceat(values, first) for name, values in stretches.columns.items()},
        [None] * len(first),
    )


def _curve(points: Stretches, found: Mapping[str, Found]) -> Figure | None:
    service, servers = found["service_time_s"].point, found["servers"].point
    key = known_response(points)
    rate, response = each("arrival_rate_per_s", points), each(key, points)
    known = np.isfinite(rate) & np.isfinite(response)
    if not known.any():
        return None
    watched = Series("watched", _plain(rate[known]), _plain(1e3 * response[known]))
    line = [] if service is None or servers is None or service <= 0 else [published_line(service, servers)]
    line = [_low_part(item, _HIGHEST * 1e3 * float(response[known].max())) for item in line]
    ends = servers / service if service and servers else None
    beyond = 0 if ends is None else int((rate[known] >= ends).sum())
    return Figure(
        "curve",
        "Load and response time",
        f"Each point is {_length(points)}. R is {WATCH[key].meaning}. "
        + (
            "The line is the published curve R = S / (1 - (S L / M)^M), with M solved from the means: it "
            "describes these stretches and does not forecast any other load."
            if line
            else "The published curve is not drawn, because its M (the number of parallel servers) is not "
            "known."
        )
        + (
            f" The curve ends at {ends:,.0f} commits per second, but {beyond} of {int(known.sum())} points "
            "lie beyond that: it does not describe this server."
            if beyond
            else ""
        ),
        Axis("Commits", "per s"),
        Axis("R", "ms per commit"),
        (watched, *line),
    )


_HIGHEST = 2.0
"""Times the longest R seen, up to which the curve is drawn."""


def _low_part(line: Series, most: float) -> Series:
    """The part of a rising line up to a height."""
    kept = [(x, y) for x, y in zip(line.x, line.y, strict=True) if y is not None and y <= most]
    return replace(line, x=[x for x, _ in kept], y=[y for _, y in kept])


def _use(points: Stretches) -> Figure | None:
    return _over_time(
        "use",
        "How busy the CPUs were",
        "CPU time of the database's processes by their own accounts, and of the whole machine by the "
        "kernel's. The use of cores can be more than 100 %, because each thread of a core counts.",
        Axis("Busy", "%"),
        points,
        [
            ("database, of cores", "cpu_utilization_cores"),
            ("database, of threads", "cpu_utilization_threads"),
            ("machine, of cores", "host_utilization_cores"),
            ("machine, of threads", "host_utilization_threads"),
        ],
    )


def _sharing(points: Stretches) -> Figure | None:
    rate, sharing = each("arrival_rate_per_s", points), each("commits_per_flush", points)
    known = np.isfinite(rate) & np.isfinite(sharing)
    if not known.any():
        return None
    return Figure(
        "sharing",
        "Commits per flush, by load",
        f"Each point is {_length(points)}. Above 1, commits share flushes.",
        Axis("Commits", "per s"),
        Axis("Commits per flush"),
        (Series("watched", _plain(rate[known]), _plain(sharing[known])),),
    )


def _log_times(points: Stretches) -> Figure | None:
    return _over_time(
        "log-times",
        "How long commits waited for the log, and how long its flushes took",
        "Log sync is the sessions' wait per commit; a flush is one call on the log.",
        Axis("Mean", "ms"),
        points,
        [
            ("log sync per commit", "log_sync_per_commit_s"),
            ("one flush", "time_per_flush_s"),
            ("one binlog flush", "time_per_binlog_flush_s"),
        ],
    )


_HOURS_FROM_S = 3 * 3600.0


def _over_time(
    key: str, title: str, caption: str, axis: Axis, points: Stretches, lines: Sequence[tuple[str, str]]
) -> Figure | None:
    """Figures over the time since the first stretch; lines are broken where nothing was watched."""
    values = {name: WATCH[figure].scale * each(figure, points) for name, figure in lines}
    known = {name: found for name, found in values.items() if np.isfinite(found).any()}
    if not known or len(points) < 2:
        return None
    breaks = np.flatnonzero(np.diff(points.starts)) + 1
    since_s = np.insert(points.began, breaks, points.ended[breaks - 1]) - points.began[0]
    unit, step = ("h", 3600) if since_s[-1] >= _HOURS_FROM_S else ("min", 60)
    return Figure(
        key,
        title,
        f"{caption} Each point is {_length(points)}; time counts from the first point.",
        Axis("Time", unit),
        axis,
        tuple(
            Series(name, _plain(since_s / step), _with_gaps(np.insert(found, breaks, np.nan)), style="line")
            for name, found in known.items()
        ),
    )


def _length(points: Stretches) -> str:
    seconds = float(np.median(points.columns["elapsed_s"]))
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _plain(values: Floats) -> list[float]:
    return [float(value) for value in values]


def _with_gaps(values: Floats) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
