"""Every figure of every setting in one table, its columns in groups that a reader picks from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.report.tables import cells, tables, wording
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable

_Show = Callable[[Mapping[str, Any]], Cell]
_EMPTY = ("", cells.NOT_AVAILABLE)


@dataclass(frozen=True)
class FigureGroup:
    """Columns that are shown or hidden together."""

    title: str
    places: Sequence[int]
    """The places of its columns in the table."""
    shown: bool
    """Whether they are shown before anybody picks."""


@dataclass(frozen=True)
class AllFigures:
    """The table and its groups."""

    table: ShownTable
    groups: Sequence[FigureGroup]


def all_figures(results: Results) -> AllFigures:
    """A row for each setting; a column that has a figure in none of them is left out.

    Args:
        results: the results object of a run of samples.
    """
    settings = results["settings"]
    columns, rows = [ShownColumn("Setting", align="left")], [[Cell(setting["name"])] for setting in settings]
    groups = []
    for title, shown, parts in _groups(results):
        places = []
        for column, show in parts:
            shown_cells = [show(setting) for setting in settings]
            if all(cell.text in _EMPTY for cell in shown_cells):
                continue
            places.append(len(columns))
            columns.append(column)
            for row, cell in zip(rows, shown_cells, strict=True):
                row.append(cell)
        if places:
            groups.append(FigureGroup(title, places, shown))
    return AllFigures(ShownTable("all-figures", "All figures of each setting", columns, rows), groups)


def _groups(results: Results) -> list[tuple[str, bool, list[tuple[ShownColumn, _Show]]]]:
    unit = cells.time_unit(results)
    each = wording.per_unit(results, unit)

    def estimate(key: str, scale: float = 1.0) -> _Show:
        return lambda setting: cells.estimate(setting.get(key), scale)

    def ratio(setting: Mapping[str, Any]) -> Cell:
        entry = tables.comparison(results, setting["name"], "throughput_per_s")
        return Cell("") if entry is None else cells.estimate(entry["ratio"], suffix="×")

    def at_risk(setting: Mapping[str, Any]) -> Cell:
        risk = setting.get("at_risk")
        return Cell("") if risk is None else Cell(cells.number(risk["commits"], 2))

    return [
        (
            "Throughput",
            True,
            [
                (ShownColumn(wording.units(results).capitalize(), "per s"), estimate("throughput_per_s")),
                (ShownColumn("Ratio", f"to {tables.baseline_text(results)}"), ratio),
            ],
        ),
        (
            "Response time",
            True,
            [
                (ShownColumn("R", each), estimate("response_time_ms", unit.per_ms)),
                (ShownColumn("CPU", each), estimate("service_time_ms", unit.per_ms)),
                (ShownColumn("Not on CPU", each), estimate("queue_time_ms", unit.per_ms)),
                (ShownColumn("Run queue", each), estimate("run_queue_time_ms", unit.per_ms)),
            ],
        ),
        (
            "Commit time",
            False,
            [
                (ShownColumn(f"Commit time p{percent}", "ms"), estimate(f"commit_time_ms_p{percent}"))
                for percent in (50, 95, 99)
            ],
        ),
        (
            "Log",
            False,
            [
                (ShownColumn("Commits per flush"), estimate("commits_per_flush")),
                (ShownColumn("Log flush", "ms"), estimate("flush_time_ms")),
                (ShownColumn("Log", "bytes per commit"), estimate("wal_bytes_per_commit")),
            ],
        ),
        (
            "Failures and durability",
            False,
            [
                (
                    ShownColumn(f"Failed {wording.units(results)}"),
                    lambda setting: Cell(cells.count(setting.get("failed"))),
                ),
                (ShownColumn("Durability", align="left"), lambda setting: cells.words(setting.get("tier"))),
                (ShownColumn("Commits at risk", "at most"), at_risk),
            ],
        ),
    ]
