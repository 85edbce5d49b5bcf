"""How a file of separated values is written: what separates its cells, and how its columns are called."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from redolab.bounds import MOST_FILE_COLUMNS
from redolab.errors import UsageError
from redolab.values.reading.numbers import MISSING, endless, number

LONGEST_NAME = 1000
"""Letters of the name of a column or of a group, which is shown."""
BLANKS = " "
"""The separator of a file whose cells have any number of blanks between them."""
_SEPARATORS = (",", ";", "\t", "|")
_TOLD = re.compile(r'"?sep=([,;|~^:!\t ])"?\s*', re.IGNORECASE)
"""A first line for spreadsheets, which names the separator."""
_LOOKED_AT = 500
_SNIFFED = 100
_NAMED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", BLANKS: "blanks"}


@dataclass(frozen=True)
class Form:
    """How the file is written."""

    separator: str
    names: tuple[str, ...]
    header: bool
    skip: int
    """Lines before the first row of values."""

    @property
    def separated_by(self) -> str:
        """The separator of its cells, in words."""
        if len(self.names) == 1:
            return (
                "The file was read as one column, because no comma, semicolon, tab, bar or blank cuts all "
                "its lines into the same number of cells"
            )
        return f"The cells of the file are separated by {_NAMED.get(self.separator, repr(self.separator))}"


def find_form(place: str, head: str, wanted: Sequence[str] = ()) -> Form:
    """The form of a file, from its first lines.

    Args:
        place: of the file, as it was named.
        head: its first lines.
        wanted: columns that the user named; without a line of names columns are called `column_2` and so on.

    Raises:
        UsageError: it holds only comments, or its names are too long or too many.
        csv.Error: its first lines cannot be cut into cells.
    """
    lines = io.StringIO(head, newline="").readlines()
    comments, told = 0, None
    while comments < len(lines) and (lines[comments].startswith("#") or not lines[comments].strip()):
        comments += 1
    if comments < len(lines) and (found := _TOLD.fullmatch(lines[comments])):
        told, comments = found[1], comments + 1
    if comments == len(lines):
        raise UsageError(
            f"{place} holds only comments. A CSV file has a line with the column names and one line per "
            "value."
        )
    rest = lines[comments:]
    separator = told or _separator(rest)
    first = rows(rest, separator)
    cells = [cell.strip() for cell in next(first)]
    lines_read = 1 if separator == BLANKS else _lines_of_first(rest, separator)
    header = not all(_is_value(cell) for cell in cells) or _names_of_units(cells, next(first, None))
    unnamed = [f"column_{place}" for place in range(1, len(cells) + 1)]
    header = header and not (set(wanted) & set(unnamed)) - set(cells)
    names = cells if header else unnamed
    check_names(place, names)
    return Form(separator, tuple(names), header, comments + (lines_read if header else 0))


def rows(lines: Sequence[str], separator: str) -> itertools.chain[list[str]]:
    """The cells of each line, or of several lines where a quoted cell has an end of a line in it."""
    if separator == BLANKS:
        return itertools.chain(line.split() for line in lines)
    return itertools.chain(csv.reader(lines, delimiter=separator))


def check_names(place: str, names: Sequence[str]) -> None:
    """Refuse names that cannot be shown, and more columns than any table has (`UsageError`)."""
    if len(names) > MOST_FILE_COLUMNS:
        raise UsageError(
            f"{place} has {len(names):,} columns, and Redolab reads at most {MOST_FILE_COLUMNS:,}. Cut out "
            "the columns that matter first, for example: cut -d, -f1-10."
        )
    longest = max(map(len, names), default=0)
    if longest > LONGEST_NAME:
        raise UsageError(
            f"{place}: the name of a column or of a group has {longest:,} letters, and the limit is "
            f"{LONGEST_NAME:,}. Give it a shorter name."
        )


def _lines_of_first(lines: Sequence[str], separator: str) -> int:
    reader = csv.reader(lines, delimiter=separator)
    next(reader)
    return reader.line_num


def _is_value(cell: str) -> bool:
    """Whether the first line would not call a column so."""
    return cell in ("NaN", "nan", "-nan") or endless(cell) is not None or number(cell) is not None


def _names_of_units(cells: Sequence[str], second: Sequence[str] | None) -> bool:
    """Whether all numbers of the first line have units that the next line lacks, as `50% 99%` has."""
    units = [one.unit for cell in cells if (one := number(cell)) is not None]
    if second is None or not any(units):
        return False
    below = [one.unit for cell in second if (one := number(cell)) is not None]
    return units != below


def _separator(lines: Sequence[str]) -> str:
    """The mark that cuts every line into as many cells as the first one, and into more than one.

    Where none does, or several do, CleverCSV decides between those that cut the first line; where no line
    is cut, the file has one column.
    """
    looked_at = lines[:_LOOKED_AT]
    widths = {separator: _widths(looked_at, separator) for separator in _SEPARATORS}
    cutting = [separator for separator in _SEPARATORS if widths[separator][0] > 1]
    even = [separator for separator in cutting if len(set(widths[separator])) == 1]
    if len(even) == 1:
        return even[0]
    if cutting:
        widest = max(cutting, key=lambda separator: widths[separator][0])
        return widest if len(cutting) == 1 else _sniffed(looked_at, even or cutting, widest)
    blanks = _widths(looked_at, BLANKS)
    if blanks[0] > 1 and len(blanks) > 1 and len(set(blanks)) == 1:
        return BLANKS
    # One column, and its separator is a mark that none of its numbers has in it.
    commas = any("," in line for line in looked_at)
    return ";" if commas and all(_is_number_or_none(line.strip()) for line in looked_at[1:]) else ","


def _is_number_or_none(text: str) -> bool:
    return text in MISSING or number(text) is not None


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    """Cells of each row that has any; `[0]` where a cell would be too long."""
    try:
        return [len(row) for row in rows(lines, separator) if row] or [0]
    except csv.Error:
        return [0]


def _sniffed(lines: Sequence[str], among: Sequence[str], otherwise: str) -> str:
    import clevercsv

    try:
        dialect = clevercsv.Sniffer().sniff("".join(lines[:_SNIFFED]), delimiters="".join(among))
    except clevercsv.Error:
        return otherwise
    found = None if dialect is None else dialect.delimiter
    return found if found is not None and found in among else otherwise
