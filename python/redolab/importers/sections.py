"""Which tables of a report are read, and what their columns mean, whatever the report's layout.

Sections and measures that come out:

    load profile            per_s, per_transaction
    top event, foreground event, background event, event
                            waits, seconds, mean_s, share (percent), class
    histogram               share (percent) between two times in seconds, as `0.001 to 0.002`; total
    time model              seconds
    statistic               total, per_s, per_transaction
    os                      value (times in centiseconds, as the server counts them)
    parameter               begin, end

`event` covers foreground and background together, as older Statspack prints it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from redolab.bounds import MOST_FIGURES, OutOfBoundsError
from redolab.importers.grid import Grid
from redolab.importers.numbers import BINARY, THOUSAND, Numbers, PrintedNumber
from redolab.importers.printed import Printed
from redolab.records.report import Entry

Reader = Callable[[Numbers, "FigureCell"], Printed]
"""Reads a number."""
_MOST_NAME = 120
_UNIT = re.compile(r"\(?\b(s|sec|secs|seconds|cs|ms|us)\b\)?")
_UNITS_S = {"s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "cs": 1e-2, "ms": 1e-3, "us": 1e-6}
_BOUND = re.compile(r"(<=?|>=?) ?(1/)?([1-9]\d{0,8})(us|ms|s|m|min|h|hr)")
_BOUND_S = {"us": 1e-6, "ms": 1e-3, "s": 1.024, "m": 65.536, "min": 65.536, "h": 4194.304, "hr": 4194.304}
"""Oracle's bounds are powers of two of a millisecond: 1 s is 1,024 ms, 1/8 s 128 ms, and 1 min 65,536 ms."""
_BYTES = re.compile(r"bytes|_(size|memory)_|redo (size|wastage)|session [pu]ga memory")
"""Names of amounts of data, whose K is 1,024."""


Item = TypeVar("Item")
_WHOLE = frozenset({"waits", "total"})
"""Measures that count something."""


@dataclass(frozen=True)
class Measure:
    """A column that is read."""

    key: str
    heading: re.Pattern[str]
    """Pattern of the whole heading, in lower case."""
    read: Reader


@dataclass(frozen=True)
class Section:
    """A table that is read."""

    key: str
    title: re.Pattern[str]
    """Pattern that is found anywhere in the title."""
    name: re.Pattern[str]
    """Pattern of the heading of its first column, in lower case."""
    measures: Sequence[Measure]


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A cell that is read, where its number belongs."""

    section: str
    name: str
    measure: str
    heading: str
    """In lower case."""
    text: str
    read: Reader | None
    """None where the text itself is kept."""

    @property
    def column(self) -> str:
        """The column that it is in, for how its numbers are printed."""
        return f"{self.section}/{'' if self.section == 'histogram' else self.measure}"


def cells_of(grids: Sequence[Grid]) -> list[FigureCell]:
    """Every cell of the sections that are read; where several have the same name, only the first.

    Raises:
        OutOfBoundsError: there are more than any report has.
    """
    found: dict[tuple[str, str, str], FigureCell] = {}
    for cell in bounded(cell for grid in grids for cell in _of_grid(grid)):
        found.setdefault((cell.section, cell.name, cell.measure), cell)
    return list(found.values())


def numbers_in(cells: Iterable[FigureCell]) -> Iterator[PrintedNumber]:
    """The numbers of cells."""
    for cell in cells:
        if cell.read is not None:
            yield PrintedNumber(cell.column, cell.text, cell.measure in _WHOLE)


def entries_of(cells: Iterable[FigureCell], numbers: Numbers) -> list[Entry]:
    """The figures of cells; the number of the report in them is 0."""
    return [
        Entry(0, cell.section, cell.name, cell.measure, None, None, cell.text, None)
        if cell.read is None
        else entry(cell.section, cell.name, cell.measure, cell.read(numbers, cell))
        for cell in cells
    ]


def bounded(entries: Iterable[Item]) -> Iterator[Item]:
    """The figures of one report as they come.

    Raises:
        OutOfBoundsError: there are more than any report has.
    """
    for number, found in enumerate(entries):
        if number == MOST_FIGURES:
            raise OutOfBoundsError(f"it has more than {MOST_FIGURES:,} figures")
        yield found


def _of_grid(grid: Grid) -> Iterator[FigureCell]:
    headings = tuple(heading.lower() for heading in grid.headings)
    if not headings:
        return
    if "histogram" in grid.title and "event" in headings:
        yield from _histogram(grid, headings)
        return
    if "parameters" in grid.title and "begin value" in headings:
        yield from _parameters(grid, headings)
        return
    for section in _SECTIONS:
        if section.title.search(grid.title) and section.name.fullmatch(headings[0]):
            yield from _figures(section, grid, headings)
            return


def _figures(section: Section, grid: Grid, headings: Sequence[str]) -> Iterator[FigureCell]:
    columns = [
        (measure, place)
        for measure in section.measures
        if (place := next((n for n, text in enumerate(headings) if measure.heading.fullmatch(text)), None))
    ]
    for row in grid.rows:
        # Thousands of reports have the same names.
        name = sys.intern(row[0].rstrip(":")[:_MOST_NAME])
        if not name:
            continue
        for measure, place in columns:
            yield FigureCell(section.key, name, measure.key, headings[place], row[place], measure.read)
        wait_class = row[headings.index("wait class")] if "wait class" in headings[1:] else ""
        if wait_class:
            yield FigureCell(section.key, name, "class", "wait class", wait_class[:_MOST_NAME], None)


def entry(section: str, name: str, measure: str, printed: Printed) -> Entry:
    """A figure as it is stored; one that a table cannot hold counts as not known."""
    kept = printed.kept()
    return Entry(0, section, name, measure, kept.value, kept.rounding, None, kept.reason)


def _parameters(grid: Grid, headings: Sequence[str]) -> Iterator[FigureCell]:
    begin = headings.index("begin value")
    for row in grid.rows:
        if row[0]:
            name = row[0][:_MOST_NAME]
            yield FigureCell("parameter", name, "begin", headings[begin], row[begin], None)
            if begin + 1 < len(row) and row[begin + 1]:
                yield FigureCell("parameter", name, "end", headings[begin + 1], row[begin + 1], None)


def _histogram(grid: Grid, headings: Sequence[str]) -> Iterator[FigureCell]:
    """Shares of waits between two times; the first bound of a table is for all waits below it."""
    place = headings.index("event")
    bounds = [(n, bound) for n, text in enumerate(headings) if (bound := _bound(text)) is not None]
    total = next((n for n, text in enumerate(headings) if re.fullmatch(r"(total )?waits", text)), None)
    for row in grid.rows:
        name = sys.intern(row[place][:_MOST_NAME])
        if not name or not bounds:
            continue
        if total is not None:
            yield FigureCell("histogram", name, "total", headings[total], row[total], _count)
        below = "0"
        for n, (above, limit) in bounds:
            between = sys.intern(f"{limit} and more" if above else f"{below} to {limit}")
            yield FigureCell("histogram", name, between, headings[n], row[n], _share)
            below = limit


def _bound(heading: str) -> tuple[bool, str] | None:
    """Whether a column is for times above its bound, and the bound in seconds, as text."""
    found = _BOUND.fullmatch(heading)
    if found is None:
        return None
    number = 1 / int(found[3]) if found[2] else float(found[3])
    return found[1].startswith(">"), f"{number * _BOUND_S[found[4]]:.9g}"


def _time(numbers: Numbers, cell: FigureCell) -> Printed:
    unit = _UNIT.search(cell.heading)
    return numbers.seconds(cell.text, _UNITS_S[unit[1]] if unit else None, cell.column)


def _count(numbers: Numbers, cell: FigureCell) -> Printed:
    thousand = BINARY if _BYTES.search(cell.name.lower()) else THOUSAND
    return numbers.count(cell.text, cell.column, thousand, whole=cell.measure in _WHOLE)


def _share(numbers: Numbers, cell: FigureCell) -> Printed:
    return numbers.blank_is_zero(cell.text, cell.column)


def _measure(key: str, heading: str, read: Reader = _count) -> Measure:
    return Measure(key, re.compile(heading), read)


_EVENT_MEASURES = (
    _measure("waits", r"waits"),
    _measure("seconds", r"(total )?(wait )?time ?\((s|sec|secs)\)|total wait time \(sec\)", _time),
    _measure("mean_s", r"(avg ?wait|wait ?avg|avg)( ?time)? ?(\((ms|us|s|cs)\))?", _time),
    _measure("share", r"% ?(db|bg|total call|call|total)( ?time)?|%total call time"),
)
_TOTALS = (
    _measure("total", r"total"),
    _measure("per_s", r"per second"),
    _measure("per_transaction", r"per (trans|transaction)"),
)


def _section(key: str, title: str, name: str, measures: Sequence[Measure]) -> Section:
    return Section(key, re.compile(title), re.compile(name), measures)


_SECTIONS = (
    _section("load profile", r"load profile", r"", _TOTALS[1:]),
    _section("top event", r"top \d+ (wait|timed|foreground|fg)", r"event", _EVENT_MEASURES),
    _section("foreground event", r"foreground wait events", r"event", _EVENT_MEASURES),
    _section("background event", r"background wait events", r"event", _EVENT_MEASURES),
    _section("event", r"(^|\| )wait events", r"event", _EVENT_MEASURES),
    _section(
        "time model",
        r"^(?!session).*time model",
        r"statistic( name)?",
        (_measure("seconds", r"time \(s\)", _time),),
    ),
    _section("os", r"(os|operating systems?) stat", r"statistic", (_measure("value", r"value|total"),)),
    _section("statistic", r"instance activity", r"statistic", _TOTALS),
)
