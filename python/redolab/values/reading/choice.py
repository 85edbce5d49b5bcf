"""Which column of a file is meant, and the notes on the other columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redolab import units
from redolab.errors import UsageError
from redolab.printable import printable
from redolab.values.reading.numbers import MISSING, CellsSeen, Number, number

_MOST_NAMED = 20
_MOST_SAID = 4
_SHOWN = 40
_YEAR = re.compile(r"(?:19|20)\d{2}")
"""A number that names many a column."""
_FEWEST_STEPS = 5
"""Rows from which equal steps are not a coincidence."""
_COUNTERS = frozenset((
    "", "n", "no", "no.", "nr", "nr.", "num", "#", "id", "i", "idx", "index", "row", "rows", "row_number",
    "rownum", "row_num", "seq", "lfd", "line", "unnamed: 0",
))  # fmt: skip
"""How columns are called that number the rows."""


@dataclass(frozen=True)
class ColumnNames:
    """The columns that the user named."""

    value: str | None = None
    group: str | None = None
    against: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the user gave."""
        return tuple(name for name in (self.value, self.group, self.against) if name is not None)


@dataclass(frozen=True)
class ColumnPlaces:
    """Places of the columns that are read."""

    value: int
    against: int | None
    group: int | None
    notes: tuple[str, ...]


def choose(
    place: str, names: Sequence[str], rows: Sequence[Sequence[str]], wanted: ColumnNames
) -> ColumnPlaces:
    """The columns that are meant.

    Args:
        place: of the file, as it was named.
        names: of its columns.
        rows: cells of its first rows.
        wanted: what the user named.

    Raises:
        UsageError: there is no such column, or more than one may be meant.
    """
    group = None if wanted.group is None else find(wanted.group, names, place, "--group")
    against = None if wanted.against is None else find(wanted.against, names, place, "--against")
    notes: tuple[str, ...] = ()
    if wanted.value is not None:
        value = find(wanted.value, names, place, "--value")
    else:
        whole = [row for row in rows if len(row) == len(names)]
        value, notes = _only(place, names, whole, (group, against))
    named = [("--value", value), ("--against", against), ("--group", group)]
    for (one, first), (two, second) in itertools.combinations(named, 2):
        if first is not None and first == second:
            raise UsageError(f"{one} and {two} both name {names[first]}. Give two columns.")
    return ColumnPlaces(value, against, group, notes)


def check_header(place: str, names: Sequence[str], rows: Sequence[Sequence[str]], value: int) -> None:
    """Refuse a first line that can be names or values: a number is over the values (`UsageError`)."""
    name = names[value]
    one = number(name)
    below = {each.unit for row in rows if len(row) > value and (each := number(row[value])) is not None}
    if one is None or _YEAR.fullmatch(name) or (one.unit and one.unit not in below):
        return
    shown = printable(name[:_SHOWN])
    raise UsageError(
        f"{place}: its first line can be names of columns, or values: {shown} is a number. Give --value "
        f"column_{value + 1} if it is a value, or --value {shown} if it is the name of a column."
    )


def find(name: str, names: Sequence[str], place: str, option: str) -> int:
    """The place of a column that the user named.

    Raises:
        UsageError: no column has that name, or more than one has.
    """
    places = [index for index, known in enumerate(names) if known == name]
    if not places:
        raise UsageError(
            f"{place} has no column {name!r} for {option}. It has: {units.some(names, _MOST_NAMED)}."
        )
    if len(places) > 1:
        raise UsageError(f"{place} has {len(places)} columns named {name!r}. Give each its own name.")
    return places[0]


def _only(
    place: str, names: Sequence[str], rows: Sequence[Sequence[str]], taken: Sequence[int | None]
) -> tuple[int, tuple[str, ...]]:
    """The only column of numbers, and notes on others that may have been meant."""
    others = [index for index in range(len(names)) if index not in taken]
    looked_at = {index: _looked_at(rows, index) for index in others}
    counting = [index for index in others if _counts(names[index], [row[index] for row in rows])]
    if len(others) == 1:
        return others[0], _about(names, others, counting, "")
    numeric = [
        index
        for index in others
        if looked_at[index].is_numeric and looked_at[index].clock is None and index not in counting
    ]
    if len(numeric) == 1:
        return numeric[0], (
            *_about(
                names, counting, counting, " This column is ignored; name it with --value to analyse it."
            ),
            *_nearly(names, looked_at),
        )
    if not numeric and counting:
        why = " ".join(_nearly(names, looked_at, least=0.0))
        raise UsageError(
            f"{place} has no column of numbers but "
            f"{units.some([names[one] for one in counting], _MOST_NAMED)}, whose numbers follow each other "
            f"in equal steps, like row numbers. {why}{' ' if why else ''}Choose one with --value: "
            f"{units.some([names[one] for one in others], _MOST_NAMED)}."
        )
    for index in numeric:
        check_header(place, names, rows, index)
    what = "no column of numbers" if not numeric else f"{len(numeric)} columns of numbers"
    named = units.some([names[index] for index in numeric or others], _MOST_NAMED)
    why = "" if numeric else "".join(f" {text}" for text in _unread(names, looked_at))
    raise UsageError(f"{place} has {what}. Choose one with --value: {named}.{why}")


def _unread(names: Sequence[str], looked_at: dict[int, CellsSeen]) -> Iterator[str]:
    """Cells of the columns that do not hold numbers."""
    for index, column in list(looked_at.items())[:_MOST_SAID]:
        if column.odd is not None:
            yield f"{names[index]} has {printable(column.odd[:_SHOWN])!r}."
        elif column.clock is not None:
            yield f"{names[index]} has times such as {printable(column.clock)}, which are read as durations."


def _looked_at(rows: Sequence[Sequence[str]], index: int) -> CellsSeen:
    found = CellsSeen()
    found.add(row[index] for row in rows)
    return found


def _counts(name: str, cells: Sequence[str]) -> bool:
    """Whether a column counts rows, or gives the time in equal steps, and measures nothing."""
    fewest = 2 if name.strip().lower() in _COUNTERS else _FEWEST_STEPS
    known = [cell.strip() for cell in cells if cell.strip() not in MISSING]
    if len(known) < fewest:
        return False
    # Most columns show it in their first cells.
    return any(
        all(_in_steps([number(cell) for cell in some], decimal) for some in (known[:fewest], known))
        for decimal in ".,"
    )


def _in_steps(cells: Sequence[Number | None], decimal: str) -> bool:
    """Whether whole numbers follow each other in equal steps, read with that decimal mark."""
    values = []
    for one in cells:
        value = None if one is None or one.unit else one.value(decimal)
        if value is None or not value.is_integer():
            return False
        values.append(int(value))
    steps = {after - before for before, after in itertools.pairwise(values)}
    return len(steps) == 1 and steps != {0}


def _about(names: Sequence[str], of: Sequence[int], counting: Sequence[int], then: str) -> tuple[str, ...]:
    """Which columns count rows."""
    return tuple(
        f"The numbers in {names[one]} follow each other in equal steps, like row numbers.{then}"
        for one in of
        if one in counting
    )


def _nearly(names: Sequence[str], looked_at: dict[int, CellsSeen], least: float = 0.5) -> tuple[str, ...]:
    """Which columns would hold numbers except for some cell."""
    said = []
    for index, column in looked_at.items():
        if column.odd is not None and column.numbers > 0 and column.numbers >= least * column.cells:
            shown = printable(column.odd[:_SHOWN])
            said.append(f"{names[index]} is ignored, because {shown!r} in it is not a number.")
    return tuple(said[:_MOST_NAMED])
