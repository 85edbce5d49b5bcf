"""Text, facts and tables of every screen of the terminal, in colour or in ASCII."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.box import Box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from redolab.printable import in_ascii, printable
from redolab.report.tables.cells import ShownTable

TONES: Mapping[str, str] = {
    "better": "bold green",
    "passed": "green",
    "worse": "bold red",
    "failed": "bold red",
    "broken": "bold red",
    "kept": "green",
    "agrees": "green",
    "differs": "bold yellow",
    "not_comparable": "dim",
    "withheld": "bold red",
    "equivalent": "bold blue",
    "undecided": "bold yellow",
    "warning": "bold yellow",
    "baseline": "dim",
    "not_available": "dim",
    "on_cpu": "cyan",
    "run_queue": "blue",
    "steal": "green",
    "unaccounted": "dim",
    "wait": "magenta",
}
"""Styles of outcomes and of rows of time; colour is never the only sign."""
_RULE = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
_PLAIN_RULE = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


@dataclass(frozen=True)
class Paper:
    """A screen of one width and one character set."""

    width: int
    plain: bool
    """ASCII alone."""

    def facts(self, facts: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
        """Names and values, the values wrapped in a column of their own."""
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(max_width=self.width // 2)
        grid.add_column(ratio=1)
        for name, value in facts:
            grid.add_row(self.text(name, "dim"), self.text(value))
        yield grid

    def table(self, table: ShownTable, stamp: str = "") -> Iterator[RenderableType]:
        """A table under its caption; `stamp` follows the caption."""
        yield Text()
        title = self.text(table.caption, "bold")
        if stamp:
            fits = len(table.caption) + 2 + len(stamp) <= self.width
            title.append("  " if fits else "\n  ").append_text(self.text(stamp, "bold yellow"))
        yield title
        grid = Grid(
            box=_PLAIN_RULE if self.plain else _RULE,
            show_edge=False,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="dim",
        )
        heads = [column.title + (f"\n{column.unit}" if column.unit else "") for column in table.columns]
        lines = max((head.count("\n") for head in heads), default=0)
        for column, head in zip(table.columns, heads, strict=True):
            # Titles end at the rule, and the figures of a row begin where its name does.
            header = self.text("\n" * (lines - head.count("\n")) + head)
            grid.add_column(header, justify=column.align, no_wrap=True, vertical="top")
        for row in table.rows:
            grid.add_row(*(self.text(cell.full, TONES.get(cell.tone, "")) for cell in row))
        if table.columns:
            yield Padding(grid, (0, 0, 0, 2))
        if table.note:
            yield Padding(self.text(table.note, "dim"), (0, 0, 0, 2))

    def numbered(self, title: str, lines: Sequence[str]) -> Iterator[RenderableType]:
        """Sentences under a title, numbered; nothing where there are none."""
        if not lines:
            return
        yield Text()
        yield self.text(title, "bold")
        grid = Grid.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1)
        for number, line in enumerate(lines, 1):
            grid.add_row(Text(f"  {number}", "dim"), self.text(line))
        yield grid

    def text(self, text: str, style: str = "") -> Text:
        """Text as this screen can show it."""
        return Text(self.words(text), style)

    def words(self, text: str) -> str:
        """The characters that this screen can show, without any control characters."""
        text = printable(text)
        if not self.plain:
            return text
        return in_ascii(text).encode("ascii", "replace").decode("ascii")
