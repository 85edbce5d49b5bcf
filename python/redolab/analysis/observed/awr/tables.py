"""The tables of an imported run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.analysis.amdahl import bound
from redolab.analysis.exhibits import Column, Table
from redolab.analysis.observed.awr.cost import OTHER_WAITS, Cost
from redolab.analysis.observed.awr.summary import Summary
from redolab.analysis.observed.exhibits import time_columns
from redolab.analysis.observed.verdict import not_the_disk
from redolab.analysis.profile import ON_CPU, UNACCOUNTED
from redolab.dialect.oracle import LOG_SYNC

_ROWS: Mapping[str, str] = {
    ON_CPU: "CPU",
    LOG_SYNC: "log file sync",
    OTHER_WAITS: "other waits",
    UNACCOUNTED: "UNACCOUNTED",
}
_NOT_THE_DISK = (
    "fewer commits (more rows in each), or more CPU for the log writer and the sessions; log writes are "
    "short, so a faster log device gives little"
)
_MENDS: dict[str, str] = {
    LOG_SYNC: "fewer commits (more rows in each), a faster log device, commit_wait = NOWAIT if a crash may "
    "lose commits",
    ON_CPU: "less work in the SQL that uses most CPU, or faster CPUs",
}


def part_name(part: str) -> str:
    """A part of DB time in words."""
    return _ROWS.get(part, part)


def account_table(summary: Summary, name: str, key: str) -> Table | None:
    """DB time divided into four rows that add up to it; None where not one of them is known."""
    rows = summary.account_rows(_ROWS)
    if all(row["seconds"] is None and row["share"].point is None for row in rows):
        return None
    return Table(
        f"account-{key}",
        f"{name}: where DB time went",
        time_columns("Share of DB time"),
        rows,
        "The rows add up to DB time. The unaccounted row is the time that CPU and waits do not explain, "
        "such as waiting for a CPU. The unaccounted row is negative where CPU and waits overlap.",
        first=True,
    )


def bounds_table(summary: Summary, name: str, key: str) -> Table:
    """The most that removing a part can give."""
    mends = _MENDS | {LOG_SYNC: _NOT_THE_DISK} if not_the_disk(*summary.log_times()) else _MENDS
    rows = [
        {
            "part": part_name(part),
            "share": share,
            "most": bound(share),
            "mend": mends.get(part, "changing the cause of this wait"),
        }
        for part, share in summary.parts()
    ]
    return Table(
        f"bounds-{key}",
        f"{name}: what to change, and the most that it can give",
        (
            Column("part", "Part of DB time", "text"),
            Column("share", "Share", "share"),
            Column("most", "Times as fast, at most", "estimate"),
            Column("mend", "By", "text"),
        ),
        rows,
        "Amdahl's bound: if a part with share s is removed and nothing else changes, calls are 1 / (1 - s) "
        "times as fast.",
    )


def events_table(summary: Summary, name: str, key: str) -> Table:
    """The five timed events with the most time."""
    return Table(
        f"events-{key}",
        f"{name}: top five timed events",
        (
            Column("event", "Event", "text"),
            Column("waits", "Waits", "count"),
            Column("seconds", "Time", "number", "s"),
            Column("mean_ms", "Mean", "number", "ms"),
            Column("share", "Share of DB time", "share"),
        ),
        summary.top_events(5),
        "Waits of sessions only: DB time does not include waits of background processes.",
    )


def reports_table(costs: Sequence[Cost]) -> Table:
    """A row for each report, in the order of time."""
    rows: list[dict[str, Any]] = []
    for cost in costs:
        report, values = cost.figures.report, cost.values

        def value(key: str, scale: float, known: Mapping[str, Any] = values) -> float | None:
            return known[key].value * scale if key in known else None

        rows.append(
            {
                "report": f"{report.begin_snapshot}-{report.end_snapshot}",
                "instance": report.setting,
                "began": report.started_at.replace("T", " "),
                "minutes": report.elapsed_s / 60,
                "rate": value("arrival_rate_per_s", 1),
                "response": value("response_time_s", 1e3),
                "sync": value("log_sync_s", 1e3),
                "write": value("log_write_s", 1e3),
                "share": value("log_sync_share", 100),
                "spoiled": report.spoiled or "",
                "file": report.file,
            }
        )
    return Table(
        "reports",
        "The reports, in the order of time",
        (
            Column("report", "Snapshots", "text"),
            Column("instance", "Instance", "text"),
            Column("began", "Began", "text"),
            Column("minutes", "Length", "number", "min"),
            Column("rate", "Commits", "number", "per s"),
            Column("response", "R", "number", "ms"),
            Column("sync", "Log file sync", "number", "ms"),
            Column("write", "Log write", "number", "ms"),
            Column("share", "Log file sync", "number", "% of DB time"),
            Column("spoiled", "Not counted", "text"),
            Column("file", "File", "text"),
        ),
        rows,
    )


def printed_tables(cost: Cost) -> list[Table]:
    """The load profile, the time model and the background's waits of one report, as it prints them."""

    def rows(section: str, *measures: str) -> list[dict[str, Any]]:
        return [
            {"name": name, **{measure: _printed(cost, section, name, measure) for measure in measures}}
            for name in cost.figures.names(section)
        ]

    name, seconds = Column("name", "Name", "text"), Column("seconds", "Time", "number", "s")
    per_s, per_transaction = (
        Column(key, title, "number")
        for key, title in (("per_s", "Per second"), ("per_transaction", "Per transaction"))
    )
    waits, mean = Column("waits", "Waits", "number"), Column("mean_s", "Mean", "number", "s")
    found = [
        Table(
            "load-profile",
            "Load profile of the last report, as printed",
            (name, per_s, per_transaction),
            rows("load profile", "per_s", "per_transaction"),
        ),
        Table(
            "time-model",
            "Time model of the last report, as printed",
            (name, seconds),
            rows("time model", "seconds"),
        ),
        Table(
            "background-waits",
            "Background waits of the last report, as printed",
            (name, waits, seconds, mean),
            rows("background event", "waits", "seconds", "mean_s"),
        ),
    ]
    return [table for table in found if table.rows]


def _printed(cost: Cost, section: str, name: str, measure: str) -> float | None:
    number = cost.figures.number(section, name, measure)
    return None if number is None else number.value
