"""The list of sessions on the live screen, renewed in place."""

from __future__ import annotations

from rich.text import Text
from textual.coordinate import Coordinate
from textual.widgets import DataTable

from redolab.report.tables.cells import ShownTable


class SessionList(DataTable[Text]):
    """Sessions by busy time; the cursor stays on the one it was on."""

    def __init__(self, id: str) -> None:  # noqa: A002  textual's word
        super().__init__(id=id, cursor_type="row", zebra_stripes=True)
        self.numbers: list[int] = []
        self._widths: list[int] = []

    @property
    def under_cursor(self) -> int | None:
        """The number of the session under the cursor."""
        return self.numbers[self.cursor_row] if self.cursor_row < len(self.numbers) else None

    def forget_widths(self) -> None:
        """Let columns become narrower again."""
        self._widths = []

    def show(self, table: ShownTable) -> None:
        """Show other rows; `table` is `profile_lists.sessions`."""
        was = self.under_cursor
        self.numbers = [int(row[0].text) for row in table.rows]
        self._fit(table)
        # In place, for a list that is made anew begins at its top.
        while self.row_count > len(table.rows):
            self.remove_row(self.ordered_rows[-1].key)
        while self.row_count < len(table.rows):
            self.add_row(*[Text()] * len(table.columns))
        for y, row in enumerate(table.rows):
            for x, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
                self.update_cell_at(Coordinate(y, x), Text(cell.text, justify=column.align))
        if was in self.numbers:
            self.move_cursor(row=self.numbers.index(was))

    def _fit(self, table: ShownTable) -> None:
        """Make the columns wide enough; letting the widget do it takes seconds for hundreds of rows."""
        titles = [f"{column.title} {column.unit}".strip() for column in table.columns]
        texts = [titles, *([cell.text for cell in row] for row in table.rows)]
        needed = [max(map(len, column)) for column in zip(*texts, strict=True)]
        before = self._widths or [0] * len(needed)
        if all(width <= room for width, room in zip(needed, before, strict=True)):
            return
        self._widths = [*map(max, needed, before)]
        self.clear(columns=True)
        for title, width, column in zip(titles, self._widths, table.columns, strict=True):
            self.add_column(Text(title, justify=column.align), width=width)
