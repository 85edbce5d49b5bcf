"""The figures of an imported run."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.analysis.observed.awr.cost import Cost
from redolab.analysis.observed.awr.shares import Cumulative
from redolab.analysis.observed.awr.summary import Summary
from redolab.model.queueing import response_time_cpu

_POINTS = 60
_NEAREST = 0.98
"""Of M at which the drawn curve ends: at M it has no end."""


def curve_figure(summary: Summary, name: str, key: str) -> Figure | None:
    """Load against response time: each report, and the published curve through their means."""
    service, rate, servers = (
        summary.estimate(figure).point for figure in ("service_time_s", "arrival_rate_per_s", "servers")
    )
    seen = [cost.values for cost in summary.costs]
    known = [item for item in seen if {"arrival_rate_per_s", "response_time_s"} <= item.keys()]
    if service is None or rate is None or servers is None or not known:
        return None
    return Figure(
        f"curve-{key}",
        f"{name}: load and response time",
        "Each point is a report. The line is the published curve R = S / (1 - (S L / M)^M), with M solved "
        "from the means: it describes them, and is no forecast of a load that was not there.",
        Axis("Commits", "per s"),
        Axis("R", "ms per commit"),
        (
            Series(
                "reports",
                [item["arrival_rate_per_s"].value for item in known],
                [1e3 * item["response_time_s"].value for item in known],
            ),
            published_line(service, servers),
        ),
    )


def published_line(service: float, servers: float) -> Series:
    """The published curve for S seconds and M servers, response times in ms."""
    most = _NEAREST * servers / service
    rates = [most * number / _POINTS for number in range(1, _POINTS + 1)]
    times = [1e3 * response_time_cpu(service, at, servers) for at in rates]
    return Series("published curve", rates, times, style="line")


def time_figure(costs: Sequence[Cost]) -> Figure | None:
    """Log file sync and log write over time, where there are several reports."""
    first = [cost for cost in costs if cost.figures.report.spoiled is None]
    if len(first) < 2:
        return None
    hours = [cost.figures.report.start_s / 3600 for cost in first]
    values = [cost.values for cost in first]

    def line(title: str, key: str) -> Series:
        points = [1e3 * item[key].value if key in item else None for item in values]
        return Series(title, hours, points)

    return Figure(
        "over-time",
        "How long a log file sync and a log write took, report by report",
        "Hours count from the first snapshot of the first report.",
        Axis("Time", "h"),
        Axis("Mean", "ms"),
        (line("log file sync", "log_sync_s"), line("log file parallel write", "log_write_s")),
    )


def shares_figure(
    sync: Cumulative,
    write: Cumulative,
    title: str,
    key: str,
    names: tuple[str, str] = ("log file sync", "log file parallel write"),
) -> Figure | None:
    """Which part of the waits took less than a time, of commits and of the log's writes, by their names."""
    if not sync or not write:
        return None
    return Figure(
        key,
        title,
        "The further right a line, the longer the waits.",
        Axis("Took less than", "ms", logarithmic=True),
        Axis("Of the waits", "%"),
        tuple(
            Series(name, [1e3 * at for at in shares], [100 * part for part in shares.values()], style="line")
            for name, shares in zip(names, (sync, write), strict=True)
        ),
    )
