"""A series of reports by hour, by day and by how busy the CPUs were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from redolab.analysis.exhibits import Column, Table
from redolab.analysis.observed.awr.cost import Cost
from redolab.analysis.observed.awr.summary import Summary
from redolab.analysis.observed.exhibits import DAYS, groups_table, hour_text

_LEVELS = (25, 50, 75)
"""Bounds between the levels of use, percent of the threads' time."""
_FEWEST = 3
"""Fewest reports for such tables: two cannot show a day or a level."""


def day_of(cost: Cost) -> str:
    """The day of the week on which a report began."""
    return DAYS[datetime.fromisoformat(cost.figures.report.started_at).weekday()]


def hour_of(cost: Cost) -> str:
    """The hour of the day in which it began, as `09h`."""
    return hour_text(datetime.fromisoformat(cost.figures.report.started_at).hour)


def tables(summary: Summary, name: str, key: str) -> list[Table]:
    """The tables of a series; none of a few reports, and none with a single row."""
    costs = summary.costs
    if len(costs) < _FEWEST:
        return []
    found = [
        _table(f"hours-{key}", f"{name}: by hour of the day", "Hour", _grouped(costs, hour_of)),
        _table(f"days-{key}", f"{name}: by day of the week", "Day", _in_week(_grouped(costs, day_of))),
        _use(f"use-{key}", f"{name}: by use of the CPUs", _grouped(costs, level_of)),
    ]
    return [table for table in found if len(table.rows) > 1]


def level_of(cost: Cost) -> str:
    """How much of the threads' time was busy, as `25 to 50 %`; empty where it is not known."""
    used = cost.values.get("cpu_utilization_threads")
    if used is None:
        return ""
    percent = 100 * used.value
    below = next((level for level in _LEVELS if percent < level), None)
    if below is None:
        return f"{_LEVELS[-1]} % and more"
    return f"{below - _LEVELS[0]} to {below} %"


def _grouped(costs: Sequence[Cost], group: Callable[[Cost], str]) -> dict[str, Summary]:
    found: dict[str, list[Cost]] = {}
    for cost in costs:
        found.setdefault(group(cost), []).append(cost)
    return {name: Summary(found[name]) for name in sorted(found) if name}


def _in_week(groups: Mapping[str, Summary]) -> dict[str, Summary]:
    return {day: groups[day] for day in DAYS if day in groups}


def _table(key: str, caption: str, title: str, groups: Mapping[str, Summary]) -> Table:
    return groups_table(
        key,
        caption,
        title,
        {name: (len(summary.costs), summary.mean) for name, summary in groups.items()},
        ("reports", "Log file sync", "DB time"),
        ("response_time_s", "log_sync_s"),
        "A group with a single report does not have an interval.",
    )


def _use(key: str, caption: str, groups: Mapping[str, Summary]) -> Table:
    rows: list[dict[str, Any]] = [
        {
            "level": name,
            "reports": len(summary.costs),
            "cores": summary.mean("cpu_utilization_cores"),
            "threads": summary.mean("cpu_utilization_threads"),
            "response": summary.mean("response_time_s").scaled(1e3),
        }
        for name, summary in groups.items()
    ]
    columns = (
        Column("level", "Threads busy", "text"),
        Column("reports", "Reports", "count"),
        Column("cores", "Use of cores", "share"),
        Column("threads", "Use of threads", "share"),
        Column("response", "R", "estimate", "ms"),
    )
    note = "Most systems count busy time in threads, so the use of cores can be more than 100 %."
    return Table(key, caption, columns, rows, note)
