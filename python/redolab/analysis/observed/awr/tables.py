"""The tables of an imported run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.analysis.amdahl import bound
from redolab.analysis.exhibits import Column, Table
from redolab.analysis.observed.awr.cost import OTHER_WAITS, Cost
from redolab.analysis.observed.awr.shares import Cumulative
from redolab.analysis.observed.awr.summary import Summary
from redolab.analysis.observed.figures import AWR
from redolab.analysis.profile import ON_CPU, UNACCOUNTED
from redolab.dialect.oracle import LOG_SYNC
from redolab.stats.estimates import Estimate

FIGURE_COLUMNS = (
    Column("figure", "Figure", "text"),
    Column("value", "Value", "estimate"),
    Column("unit", "Unit", "text"),
)
PARAMETER_COLUMNS = (Column("parameter", "Parameter", "text"), Column("value", "Value", "text"))
MEANING_COLUMNS = (Column("figure", "Figure", "text"), Column("meaning", "What it is", "text"))


_ROWS: Mapping[str, str] = {
    ON_CPU: "CPU",
    LOG_SYNC: "log file sync",
    OTHER_WAITS: "other waits",
    UNACCOUNTED: "UNACCOUNTED",
}
_MENDS: Mapping[str, str] = {
    LOG_SYNC: "fewer commits (more rows in each), a faster log device, nowait where a loss may be borne",
    ON_CPU: "less work: the SQL that takes it, or faster CPUs",
}


def cost_table(summary: Summary, name: str, key: str) -> Table:
    """What a commit cost: every figure with its interval."""
    interval = "the interval is what rounding leaves open" if summary.single else "95 % over the reports"
    rows = [
        {
            "figure": told.name,
            "value": summary.estimate(told.key).scaled(told.scale),
            "unit": told.unit,
        }
        for told in AWR.values()
    ]
    return Table(
        f"cost-{key}",
        f"{name}: what a commit costs",
        FIGURE_COLUMNS,
        rows,
        f"In brackets: {interval}. n/a: the report does not print what it is made of.",
        first=True,
    )


def meanings_table() -> Table:
    """What each figure is made of."""
    return Table(
        "meanings",
        "What the figures are made of",
        MEANING_COLUMNS,
        [{"figure": told.name, "meaning": told.meaning} for told in AWR.values()],
    )


def time_columns(of: str) -> tuple[Column, ...]:
    """The columns of an account of time; `of` heads the shares."""
    return (
        Column("row", "Time spent", "text"),
        Column("seconds", "Time", "number", "s"),
        Column("share", of, "share"),
        Column("per_commit_ms", "Per commit", "number", "ms"),
    )


def account_table(summary: Summary, name: str, key: str) -> Table:
    """DB time divided into four rows that add up to it."""
    rows = [
        {
            "row": _ROWS[row],
            "seconds": seconds,
            "share": share,
            "per_commit_ms": per_commit,
        }
        for row, seconds, share, per_commit in summary.account_rows(tuple(_ROWS))
    ]
    return Table(
        f"account-{key}",
        f"{name}: where DB time went",
        time_columns("Of DB time"),
        rows,
        "The rows add up to DB time. Unaccounted is what CPU and waits do not explain: waiting for a CPU, "
        "and it is negative where they overlap.",
        first=True,
    )


def bounds_table(summary: Summary, name: str, key: str) -> Table:
    """What removing a part can give at the most."""
    rows = [
        {
            "part": _ROWS.get(part, part),
            "share": share,
            "most": bound(share),
            "mend": _MENDS.get(part, "what this event waits for"),
        }
        for part, share in summary.parts()
    ]
    return Table(
        f"bounds-{key}",
        f"{name}: what to change, and what it can give at the most",
        (
            Column("part", "Part of DB time", "text"),
            Column("share", "Share", "share"),
            Column("most", "At most times as fast", "estimate"),
            Column("mend", "By", "text"),
        ),
        rows,
        "Amdahl's bound: without a part of share s a call is done 1 / (1 - s) times as fast, if nothing else "
        "changes.",
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
            Column("share", "Of DB time", "share"),
        ),
        summary.top_events(5),
        "Of sessions. Background waits are no part of DB time.",
    )


def histogram_table(
    sync: Cumulative,
    write: Cumulative,
    caption: str,
    key: str,
    names: tuple[str, str] = ("Log file sync", "Log file parallel write"),
) -> Table:
    """Waits of commits beside writes of the log, wait by wait; `names` are those of the two."""
    bounds = sorted(set(sync) & set(write))
    return Table(
        key,
        caption,
        (
            Column("below_ms", "Less than", "number", "ms"),
            Column("sync", names[0], "share"),
            Column("write", names[1], "share"),
        ),
        [
            {
                "below_ms": 1e3 * below,
                "sync": Estimate(sync[below], None, None),
                "write": Estimate(write[below], None, None),
            }
            for below in bounds
        ],
        "Means hide the few long waits that decide: a sync lasts as long as the write it waits for, the one "
        "before it, and the queue for a CPU. So the two are compared wait by wait, never by means alone.",
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


def parameters_table(cost: Cost, parameters: Sequence[str]) -> Table:
    """The parameters that matter to commits, of the last report."""
    known = dict(cost.figures.texts("parameter"))
    return Table(
        "parameters",
        "Parameters that matter to commits, as the last report lists them",
        PARAMETER_COLUMNS,
        [
            {"parameter": name, "value": known.get(name, "not listed: the default, or unchanged")}
            for name in parameters
        ],
        "A report lists what was set; what it does not list has its default.",
    )
