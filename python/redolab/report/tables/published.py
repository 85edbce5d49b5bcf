"""The tables of the published experiment, with the columns they had there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable
from redolab.report.tables.tables import baseline_of

_LOG_WRITE = (
    "Log write is the time of all write and flush calls on the log, including their CPU time, run queue and "
    "background processes. Log write exceeds 100 % where there are few other waits, for example where no "
    "commit waits for the log."
)


def unit_of_work(results: Results, scope: str) -> ShownTable:
    """The published unit-of-work table; `scope` is `session` or `instance`."""
    unit = cells.time_unit(results)
    figures = (
        ("arrival_rate_per_s", "arrival_rate_change_pct", 1.0),
        ("cpu_ms", "cpu_change_pct", unit.per_ms),
        ("wait_ms", "wait_change_pct", unit.per_ms),
        ("response_ms", "response_change_pct", unit.per_ms),
    )
    rows = []
    for entry in results["as_published"]["unit_of_work"].get(scope) or ():
        row = [Cell(entry["setting"]), Cell(cells.count(entry["samples"]))]
        for figure, figure_change, scale in figures:
            value = entry.get(figure)
            row.append(Cell(cells.number(None if value is None else value * scale)))
            row.append(_change(entry, figure_change, results))
        rows.append(row)
    columns = [ShownColumn("Setting", align="left"), ShownColumn("Samples")]
    for title, unit_name in (
        ("Avg L", f"{wording.units(results)}/s"),
        ("Avg CPUt", f"{unit.name}/{wording.unit(results)}"),
        ("Avg Wt", f"{unit.name}/{wording.unit(results)}"),
        ("Avg Rt", f"{unit.name}/{wording.unit(results)}"),
    ):
        columns += [ShownColumn(title, unit_name), ShownColumn("change", "%")]
    meaning = {
        "session": "Time of the working sessions alone.",
        "instance": "Time of every server process, including background processes.",
    }[scope]
    return ShownTable(f"unit-of-work-{scope}", f"Unit of work, {scope} scope", columns, rows, meaning)


def has_overview(results: Results) -> bool:
    """Whether anything was committed that the overview could show."""
    return any(entry["commits_per_s"] for entry in results["as_published"]["overview"])


def overview(results: Results) -> ShownTable:
    """The published overview table."""
    rows = [
        [
            Cell(entry["setting"]),
            Cell(cells.number(entry["commits_per_s"])),
            *(Cell(cells.number(entry[key])) for key in ("cpu_pct", "log_sync_pct", "log_write_pct")),
        ]
        for entry in results["as_published"]["overview"]
    ]
    columns = (
        ShownColumn("Setting", align="left"),
        ShownColumn("Commits", "per s"),
        ShownColumn("CPU", "%"),
        ShownColumn("Log sync", "% of non-idle wait"),
        ShownColumn("Log write", "% of non-idle wait"),
    )
    over = any((entry["log_write_pct"] or 0.0) > 100 for entry in results["as_published"]["overview"])
    return ShownTable("overview", "Overview", columns, rows, _LOG_WRITE if over else "")


def published_tests(results: Results) -> ShownTable:
    """The tests the published experiments used, which ignore the order of the samples."""
    rows = [
        [
            Cell(test["a"] or "all settings"),
            Cell(test["b"] or "each other"),
            cells.pvalue(test["normal_a_pvalue"]),
            cells.pvalue(test["normal_b_pvalue"]),
            Cell(test["test"]),
            cells.pvalue(test["pvalue"]),
        ]
        for test in results["as_published"]["tests"]
    ]
    columns = (
        ShownColumn("Setting", align="left"),
        ShownColumn("against", align="left"),
        ShownColumn("Normality, setting", "p"),
        ShownColumn("Normality, against", "p"),
        ShownColumn("Test", align="left"),
        ShownColumn("Difference", "p"),
    )
    note = (
        "The published tests assume independent samples, so in a run that drifts they find differences "
        "between equal settings."
    )
    return ShownTable("published-tests", "Tests as published", columns, rows, note)


def curve_published(results: Results) -> ShownTable:
    """Inputs and outputs of the published curves."""
    unit = cells.time_unit(results)
    rows = [
        [
            Cell(curve["setting"]),
            Cell(cells.number(curve["servers"])),
            Cell(cells.number(unit.of(curve["service_time_ms"]))),
            Cell(cells.number(rate, 4)),
            Cell(cells.number(unit.of(time), 4)),
        ]
        for curve in results["curve"].get("published", ())
        for rate, time in zip(curve["arrival_rate_per_s"], curve["response_time_ms"], strict=True)
    ]
    columns = (
        ShownColumn("Setting", align="left"),
        ShownColumn("Servers M"),
        ShownColumn("Service time S", unit.name),
        ShownColumn(f"{wording.units(results).capitalize()} L", "per s"),
        ShownColumn("Response time R", wording.per_unit(results, unit)),
    )
    return ShownTable("curve-published", "Curves as published, R = S / (1 − (S L / M)^M)", columns, rows)


def _change(entry: Mapping[str, Any], key: str, results: Results) -> Cell:
    if entry["setting"] == baseline_of(results, entry["setting"]):
        return Cell("–")
    return cells.change(entry.get(key))
