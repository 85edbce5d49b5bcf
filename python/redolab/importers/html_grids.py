"""The tables of an AWR report in HTML, as grids.

Anything around them (SQL*Plus text, a browser's scripts, other headings) is skipped, and no text of the page
is ever read as markup again. Tables that are not closed, or not written whole, are repaired as browsers do:
see docs/decisions/0009.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from redolab.bounds import MOST_NESTED_TABLES, MOST_TABLES, OutOfBoundsError
from redolab.importers.grid import Cells, Grid
from redolab.importers.markup import attribute, tokens

_TITLES = frozenset({"h1", "h2", "h3", "h4"})
_HEADINGS = frozenset(f"{end}h{level}" for end in ("", "/") for level in range(1, 7))
_CELLS = frozenset({"td", "th"})
_PLAIN_CELLS = frozenset({"td/", "th/"})
_MOST_ROWS = 20_000
_MOST_COLUMNS = 64
_MOST_CELL = 400
_MOST_PENDING = 4 * _MOST_CELL
"""Characters of a cell as they came, blanks among them."""
_ABOVE = 3
"""Lines of a table among which its headings are."""


def html_grids(content: bytes) -> list[Grid]:
    """Every table of the page in its order; a table inside another one counts as a table too.

    The title consists of the last heading above the table and its summary.

    Args:
        content: the page; bytes that are not UTF-8 become replacement characters.

    Raises:
        OutOfBoundsError: it has more tables, more of them inside one another, or more cells than any report.
    """
    page = _Page()
    for name, said in tokens(content.decode(errors="replace").replace("\0", "")):
        page.take(name, said)
    return page.grids()


class _Text:
    """The text of a cell or of a heading as it comes, and no more of it than is kept."""

    __slots__ = ("_is_full", "_length", "_parts")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length, self._is_full = 0, False

    def add(self, text: str) -> None:
        """Add what follows; it may go on in the middle of a word."""
        if self._is_full:
            return
        self._parts.append(text)
        self._length += len(text)
        if self._length > _MOST_PENDING:
            whole = "".join(self._parts)
            # So many words have as many characters, at least.
            words = " ".join(whole.split(None, _MOST_CELL + 1)[: _MOST_CELL + 1])[: _MOST_CELL + 1]
            self._parts = [" " * whole[:1].isspace() + words + " " * whole[-1:].isspace()]
            self._length, self._is_full = len(self._parts[0]), len(words) > _MOST_CELL

    def __str__(self) -> str:
        return " ".join("".join(self._parts).split(None, _MOST_CELL))[:_MOST_CELL]


@dataclass(slots=True)
class _Row:
    """A row while it is read."""

    cells: list[str] = field(default_factory=list)
    headings: int = 0
    """Cells that are headings."""
    others: int = 0

    def add(self, kind: str, text: str) -> None:
        """Add a cell, whose kind is the name of its tag."""
        self.headings += kind == "th"
        self.others += kind != "th"
        if len(self.cells) < _MOST_COLUMNS:
            self.cells.append(text[:_MOST_CELL])

    @property
    def is_heading(self) -> bool:
        """Whether all of its cells are headings."""
        return self.headings > 0 and not self.others


@dataclass(slots=True)
class _Table:
    """A table while it is read."""

    summary: str
    heading: _Text | None
    rows: list[_Row] = field(default_factory=list)
    row: _Row | None = None
    """The one that is open."""
    cell: _Text | None = None
    """The one that is open."""
    kind: str = ""
    """The name of the open cell."""
    title: _Text | None = None
    """The heading that is open in the cell."""

    def open_row(self) -> _Row:
        """The row that is open; a page may have cells without the tag of a row."""
        if self.row is None:
            self.row = _Row()
        return self.row


class _Page:
    """Reads tags and text one after the other."""

    def __init__(self) -> None:
        self._tables: list[_Table] = []
        self._open: list[_Table] = []
        """From the outermost to the innermost."""
        self._outside: _Text | None = None
        """The heading that is open outside of all tables."""
        self._last: _Text | None = None
        """The last heading that began."""
        self._cells = Cells()

    def take(self, name: str, said: str) -> None:
        """Go on by a tag or a text."""
        if not name:
            self._text(said)
        elif name in _PLAIN_CELLS:
            if self._open:
                self._end_cell(self._open[-1])
                self._open[-1].open_row().add(name[:2], " ".join(said.split(None, _MOST_CELL)))
            self._text(said)
        elif name == "table":
            self._begin_table(said)
        elif name in _HEADINGS:
            self._heading(name)
        elif self._open:
            self._in_table(self._open[-1], name)

    def grids(self) -> list[Grid]:
        """The tables that were read."""
        for table in self._open:
            self._end_row(table)
        return [self._grid(table) for table in self._tables]

    def _grid(self, table: _Table) -> Grid:
        rows = table.rows
        # Above the headings of the columns there may be a line that spans several of them.
        place = next((number for number, row in enumerate(rows[:_ABOVE]) if row.is_heading), None)
        headings = () if place is None else tuple(rows[place].cells)
        width = len(headings) or max((len(row.cells) for row in rows), default=0)
        body = [row.cells for row in rows[0 if place is None else place + 1 :] if not row.is_heading]
        self._cells.take(sum(max(0, width - len(cells)) for cells in body))
        return Grid(
            f"{table.heading or ''} | {table.summary}".lower(),
            headings,
            tuple((*cells[:width], *("",) * (width - len(cells))) for cells in body),
        )

    def _text(self, text: str) -> None:
        if self._outside is not None:
            self._outside.add(text)
        for table in self._open:
            # Text in a table but outside of its cells is shown above the table.
            if table.cell is not None:
                table.cell.add(text)
                if table.title is not None:
                    table.title.add(text)

    def _in_table(self, table: _Table, name: str) -> None:
        if name in _CELLS:
            self._end_cell(table)
            table.cell, table.kind = _Text(), name
        elif name[1:] in _CELLS:
            # One kind does not close the other.
            if table.kind == name[1:]:
                self._end_cell(table)
        else:
            self._end_row(table)
            if name == "tr":
                table.row = _Row()
            elif name == "/table":
                self._open.pop()

    def _begin_table(self, attributes: str) -> None:
        if self._open and self._open[-1].cell is None:
            self._end_row(self._open.pop())
        if len(self._open) >= MOST_NESTED_TABLES:
            raise OutOfBoundsError(f"more than {MOST_NESTED_TABLES} tables are inside one another")
        if len(self._tables) >= MOST_TABLES:
            raise OutOfBoundsError(f"it has more than {MOST_TABLES:,} tables")
        summary = " ".join(attribute("summary", attributes)[:_MOST_CELL].split())
        self._tables.append(_Table(summary, self._last))
        self._open.append(self._tables[-1])

    def _end_cell(self, table: _Table) -> None:
        if table.cell is not None:
            table.open_row().add(table.kind, str(table.cell))
            table.cell, table.kind, table.title = None, "", None

    def _end_row(self, table: _Table) -> None:
        self._end_cell(table)
        row, table.row = table.row, None
        if row is not None and len(table.rows) < _MOST_ROWS:
            self._cells.take(len(row.cells) + 1)
            table.rows.append(row)

    def _heading(self, name: str) -> None:
        """Begin a heading, or end one; another one that is open ends."""
        is_end = name[0] == "/"
        text = None if is_end else _Text()
        # A heading in a table but outside of its cells is shown above the table.
        place = next((table for table in reversed(self._open) if table.cell is not None), None)
        if place is None:
            self._outside = text
        else:
            place.title = text
        if name in _TITLES:
            self._last = text
            if self._open and self._open[-1].cell is None:
                self._open[-1].heading = text
