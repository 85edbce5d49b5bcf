"""An experiment's own tables (`redolab.analysis.exhibits.Table`) as tables ready to be shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from redolab.report.tables import cells
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable

_TALL = 20
"""Rows beyond which a table is folded on the page."""
_MANY = 4
"""Tables of an experiment beyond which the page folds all of them."""
_WRITERS: Mapping[str, Callable[[Any], Cell]] = {
    "text": cells.words,
    "count": lambda value: Cell(cells.count(value)),
    "number": lambda value: Cell(cells.number(value, 4)),
    "estimate": cells.estimate,
    "share": cells.share,
    "change": cells.change,
    "pvalue": cells.pvalue,
    "outcome": lambda value: Cell(cells.NOT_AVAILABLE) if value is None else cells.outcome(value),
}
_WORDS = frozenset({"text", "outcome"})
_PERCENT = frozenset({"share", "change"})


def first(results: Results) -> list[ShownTable]:
    """The tables that answer the question: next to the verdict, and on the terminal."""
    return [table(item) for item in results.get("tables") or () if item["first"]]


def others(results: Results) -> list[ShownTable]:
    """The rest of the experiment's own tables."""
    return [table(item) for item in results.get("tables") or () if not item["first"]]


def league(results: Results) -> list[ShownTable]:
    """The accuracy of every model's forecasts, a table for each record; empty if none was checked."""
    return [table(item) for item in (results.get("league") or {}).get("tables", ())]


def is_tall(shown: ShownTable) -> bool:
    """Whether a table has so many rows that the page folds it."""
    return len(shown.rows) > _TALL


def are_many(shown: Sequence[ShownTable]) -> bool:
    """Whether there are so many tables that the page folds them all."""
    return len(shown) > _MANY


def table(data: Mapping[str, Any]) -> ShownTable:
    """A table as the results object has it (`redolab.analysis.exhibits.Table.as_json`)."""
    columns = data["columns"]
    return ShownTable(
        # The page's own tables have names that these must not take.
        f"own-{data['key']}",
        data["caption"],
        [_column(column) for column in columns],
        [[_WRITERS[column["kind"]](row.get(column["key"])) for column in columns] for row in data["rows"]],
        data["note"],
    )


def _column(data: Mapping[str, Any]) -> ShownColumn:
    kind = data["kind"]
    unit = data["unit"] or ("%" if kind in _PERCENT else "")
    return ShownColumn(data["title"], unit, "left" if kind in _WORDS else "right")
