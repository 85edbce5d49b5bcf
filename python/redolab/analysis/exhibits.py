"""Additions of an experiment to the standard report: tables, figures and findings, as data.

The analysis fills them; the report draws them for every experiment in the same way, and scripts
read them in the results object under `tables`, `figures` and `published`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from redolab.stats.estimates import Estimate

Kind = Literal["text", "count", "number", "estimate", "share", "change", "pvalue", "outcome"]
"""How a column's values are written: `share` is an estimate of a part of 1 shown in percent,
`change` a plain number of percent shown with its sign, `outcome` a word with its colour."""
Style = Literal["points", "line", "dashed", "bars", "area"]
Agreement = Literal["agrees", "differs", "not comparable"]


@dataclass(frozen=True)
class Column:
    """One column: the key of its values in each row, and how they are headed and written."""

    key: str
    title: str
    kind: Kind
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """One table; a row maps each column's key to a value, None where it is not known."""

    key: str
    """Unique in the report, lower case with hyphens."""
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    note: str = ""
    first: bool = False
    """Whether it answers the question: it is then shown next to the verdict and on the terminal."""

    @classmethod
    def of(
        cls,
        key: str,
        caption: str,
        items: Iterable[Any],
        columns: Sequence[Column],
        values: Mapping[str, Callable[[Any], Any]] = MappingProxyType({}),
        note: str = "",
        first: bool = False,
    ) -> Table:
        """A table with a row for each item, a record or a mapping: a column has what `values` makes of the
        item under the column's key, or else the item's field or entry of that name.
        """
        rows = [
            {
                column.key: values[column.key](item) if column.key in values else _field(item, column.key)
                for column in columns
            }
            for item in items
        ]
        return cls(key, caption, columns, rows, note, first)

    def as_json(self) -> dict[str, Any]:
        """The table as the results object has it; estimates as their own objects."""
        return {
            "key": self.key,
            "caption": self.caption,
            "columns": [dataclasses.asdict(column) for column in self.columns],
            "rows": [{key: _plain(value) for key, value in row.items()} for row in self.rows],
            "note": self.note,
            "first": self.first,
        }


@dataclass(frozen=True)
class Axis:
    """One axis of a figure."""

    title: str
    unit: str = ""
    logarithmic: bool = False


@dataclass(frozen=True)
class Series:
    """One set of points; `low` and `high` are the ends of their intervals, or empty."""

    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    style: Style = "points"


@dataclass(frozen=True)
class Figure:
    """One figure; its numbers are its own table in the report."""

    key: str
    """Unique in the report, lower case with hyphens."""
    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Series]

    def as_json(self) -> dict[str, Any]:
        """The figure as the results object has it."""
        found = dataclasses.asdict(self)
        for series in found["series"]:
            for name in ("x", "y", "low", "high"):
                series[name] = list(series[name])
        return found | {"series": list(found["series"])}


@dataclass(frozen=True)
class Finding:
    """One published finding, next to ours."""

    key: str
    """Unique among the findings of all experiments, lower case with hyphens."""
    finding: str
    """The finding in our own words."""
    theirs: str
    """Their figure, with its unit."""
    ours: Estimate | None
    unit: str
    agreement: Agreement
    why: str
    """The reason for the agreement; for `not comparable` the obstacle."""
    source: str
    """Author, title and date of the post."""

    @classmethod
    def judged(
        cls,
        key: str,
        finding: str,
        theirs: str,
        ours: Estimate | None,
        unit: str,
        agrees: bool | None,
        why: str,
        unless: str,
        source: str,
    ) -> Finding:
        """A finding that agrees or differs by `agrees`; None for not comparable, which `unless` explains."""
        known = None if ours is None or ours.point is None else ours
        if agrees is None:
            return cls(key, finding, theirs, known, unit, "not comparable", unless, source)
        return cls(key, finding, theirs, known, unit, "agrees" if agrees else "differs", why, source)

    def as_json(self) -> dict[str, Any]:
        """The finding as the results object has it."""
        return {
            "key": self.key,
            "finding": self.finding,
            "theirs": self.theirs,
            "ours": None if self.ours is None else self.ours.as_json(),
            "unit": self.unit,
            "agreement": self.agreement,
            "why": self.why,
            "source": self.source,
        }


def _field(item: Any, key: str) -> Any:
    return item[key] if isinstance(item, Mapping) else getattr(item, key)


def _plain(value: Any) -> Any:
    return value.as_json() if isinstance(value, Estimate) else value
