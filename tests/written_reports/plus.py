"""What SQL*Plus makes of `column ... format ... heading` clauses: columns, headings, numbers, pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Value = str | float | None
_PAGE = 50
FOOTER = " " * 10 + "-" * 61


@dataclass(frozen=True)
class Column:
    """`a33` is text, cut at its width; anything else is the format of a number. '|' breaks the heading."""

    form: str
    heading: str
    wrapped: bool = False

    @property
    def text(self) -> bool:
        return self.form.startswith("a")

    @property
    def width(self) -> int:
        if self.text:
            return int(self.form[1:])
        return max(len(self.form) + 1, *map(len, self.heading.split("|")))

    def cell(self, value: Value) -> str:
        """The value as the column prints it."""
        shown = value if isinstance(value, str) else number(value, self.form)
        if self.text:
            return shown[: self.width].ljust(self.width)
        return shown.rjust(self.width) if len(shown) <= self.width else "#" * self.width

    def head(self, line: int, lines: int) -> str:
        """One of the lines of the heading, which stands at their bottom."""
        own = self.heading.split("|")
        place = line - (lines - len(own))
        shown = own[place] if place >= 0 else ""
        return shown.ljust(self.width)[: self.width] if self.text else shown.rjust(self.width)


def number(value: float | None, form: str) -> str:
    """In a format such as 999,990.9: hashes where it does not fit, the leading zero the format asks for."""
    if value is None:
        return " " * (len(form) + 1)
    whole, _, after = form.partition(".")
    shown = f"{value:,.{len(after)}f}" if "," in form else f"{value:.{len(after)}f}"
    if after and whole.endswith("9") and shown.startswith("0."):
        shown = shown[1:]
    return shown.rjust(len(form) + 1) if len(shown) <= len(form) else "#" * (len(form) + 1)


def table(title: Sequence[str], columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> list[str]:
    """A query's rows, its title and headings on every page of them, and the line that ends it."""
    lines = max(column.heading.count("|") + 1 for column in columns)
    heads = [" ".join(column.head(line, lines) for column in columns) for line in range(lines)]
    heads.append(" ".join("-" * column.width for column in columns))
    printed = []
    for start in range(0, max(len(rows), 1), _PAGE):
        printed += [*title, *heads]
        for row in rows[start : start + _PAGE]:
            printed += _lines(columns, row)
    return [line.rstrip() for line in [*printed, FOOTER]]


def _lines(columns: Sequence[Column], row: Sequence[Value]) -> list[str]:
    """The row, and what is left of its wrapped texts on lines of their own."""
    lines = []
    rest = list(row)
    while True:
        pairs = list(zip(columns, rest, strict=True))
        lines.append(" ".join(column.cell(value) for column, value in pairs))
        rest = [
            value[column.width :]
            if column.wrapped and isinstance(value, str)
            else ("" if column.text else None)
            for column, value in pairs
        ]
        if not any(rest):
            return lines
