"""Tables made as narrow as a terminal: titles broken, intervals and then columns left to the page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from redolab.printable import printable
from redolab.report.tables.cells import Cell, ShownColumn, ShownTable

_PROSE = 32
"""Characters at which words in a cell are broken into lines."""
NAMES = (_PROSE, 25, 22, 20)
"""Characters at which the names of rows are broken, the widest first."""
_TITLE = 10
"""Characters a title may have on one line, however narrow its figures are."""
_INDENT = 2
_GAP = 3
"""Characters between two columns of `redolab.report.screen.paper`."""


def fitted(table: ShownTable, width: int, elsewhere: str = "In the report too") -> ShownTable:
    """The table in the fullest form that `width` characters hold; its note names what was left out.

    Args:
        table: as it should be.
        width: of the screen, characters.
        elsewhere: where what is left out can be read.
    """
    whole, *narrower = (folded(table, names) for names in NAMES)
    bare = _bare(narrower[-1])
    for form in (whole, broken(whole), *map(broken, narrower), broken(_bare(whole)), broken(bare)):
        if needed(form) <= width:
            return form
    kept = len(bare.columns)
    while kept > 1 and needed(broken(_first(bare, kept))) > width:
        kept -= 1
    missing = ", ".join(column.title for column in bare.columns[kept:])
    note = " ".join(part for part in (table.note, f"{elsewhere}: {missing}.") if part)
    return replace(broken(_first(bare, kept)), note=note)


def needed(table: ShownTable) -> int:
    """The characters a table needs across."""
    widths = [_width(table, place) for place in range(len(table.columns))]
    return _INDENT + sum(widths) + _GAP * (len(widths) - 1)


def _width(table: ShownTable, place: int) -> int:
    column = table.columns[place]
    texts = [column.title, column.unit, *(row[place].full for row in table.rows)]
    return max(len(line) for text in texts for line in text.split("\n"))


def folded(table: ShownTable, names: int) -> ShownTable:
    """The table with its words broken into lines, those of the first column at `names` characters."""

    def fold(cell: Cell, most: int) -> Cell:
        # Measured as it is shown, in which one odd character may take six places.
        text = "\n".join(map(printable, cell.text.split("\n")))
        return replace(cell, text=textwrap.fill(text, most) if len(text) > most else text)

    rows = [[fold(cell, _PROSE if place else names) for place, cell in enumerate(row)] for row in table.rows]
    return replace(table, rows=rows)


def _bare(table: ShownTable) -> ShownTable:
    return replace(table, rows=[[replace(cell, interval="") for cell in row] for row in table.rows])


def broken(table: ShownTable) -> ShownTable:
    """The table with its titles broken to the width of their columns."""
    columns: list[ShownColumn] = []
    for place, column in enumerate(table.columns):
        body = max((_longest(row[place].full) for row in table.rows), default=0)
        room = max(body, len(column.unit), _TITLE)
        columns.append(replace(column, title=textwrap.fill(column.title, room, break_long_words=False)))
    return replace(table, columns=columns)


def _longest(text: str) -> int:
    return max(map(len, text.split("\n")))


def _first(table: ShownTable, columns: int) -> ShownTable:
    rows: Sequence[Sequence[Cell]] = [row[:columns] for row in table.rows]
    return replace(table, columns=table.columns[:columns], rows=rows)
