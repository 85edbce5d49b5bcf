"""The figures of an imported run."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.analysis.observed.awr.cost import Cost
from redolab.analysis.observed.awr.summary import Summary
from redolab.analysis.observed.exhibits import published_line


def curve_figure(summary: Summary, name: str, key: str) -> Figure | None:
    """Load against response time: each report, and the published curve through their means."""
    service, rate, servers = (
        summary.estimate(figure).point for figure in ("service_time_s", "arrival_rate_per_s", "servers")
    )
    values = [cost.values for cost in summary.costs]
    known = [item for item in values if {"arrival_rate_per_s", "response_time_s"} <= item.keys()]
    if service is None or rate is None or servers is None or not known:
        return None
    return Figure(
        f"curve-{key}",
        f"{name}: load and response time",
        "Each point is a report. The line is the published curve R = S / (1 - (S L / M)^M), with M solved "
        "from the means: it describes these reports and does not forecast any other load.",
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
