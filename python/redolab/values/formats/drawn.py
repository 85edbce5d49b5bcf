"""Tables that psql and mysql draw: aligned or in a box, and without alignment (`psql -A`).

They become CSV, whose cells are then read like the cells of any other file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from redolab import units
from redolab.errors import UsageError
from redolab.values.content import Content

_STROKES = {ord(mark): "|" for mark in "│┃║"} | {ord(mark): "-" for mark in "─━═"}
_DRAWN = _STROKES | {code: "+" for code in range(0x2500, 0x2580) if code not in _STROKES}
_RULE = re.compile(r"[|+]:?-+:?(?:[+|]:?-+:?)*[|+]|-+(?:\+-+)+|-{3,}|-+(?: -+)+")
COUNT = re.compile(r"\((\d+) \w+\)|(\d+) rows? in set.*")
_LOOKED_AT = 50
_INSTEAD = "write the table with psql --csv or mysql --batch instead"


@dataclass
class Drawn:
    """One table, or several of the same columns one after another."""

    names: list[str]
    rows: list[list[str]] = field(default_factory=list)
    tables: int = 1

    def join(self, content: Content, line: int, names: list[str]) -> None:
        """Go on with a further table.

        Raises:
            UsageError: it has other columns.
        """
        if names != self.names:
            raise UsageError(
                f"{content.place}, line {line:,}: another table begins here. The second table has the "
                f"columns {units.some(names, 10)}; the first table has {units.some(self.names, 10)}. Give "
                "each table its own file."
            )
        self.tables += 1


@dataclass(frozen=True)
class _Rule:
    """The line under the names, which shows where columns are."""

    text: str
    edges: bool
    """Whether lines begin and end with a bar."""
    boxed: bool
    """Whether another rule ends the table."""
    spans: tuple[tuple[int, int], ...]
    """Places of the columns where they have blanks between them; else empty."""

    @property
    def width(self) -> int:
        """Columns."""
        return len(re.findall("-+", self.text))

    def cells(self, line: str) -> list[str]:
        """The cells of a line."""
        if self.spans:
            return [line[begin:end].strip() for begin, end in self.spans]
        text = line.strip()
        if self.edges and len(text) > 1 and text.startswith("|") and text.endswith("|"):
            line = text[1:-1]
        return [cell.strip() for cell in line.split("|")]


def drawn_lines(content: Content) -> Iterator[tuple[int, str]]:
    """Each line with its number, its strokes in ASCII."""
    for number, line in enumerate(content.lines(), 1):
        yield number, line.translate(_DRAWN)


def is_ruled(head: str) -> bool:
    """Whether a rule under names is among the first lines."""
    lines = head.translate(_DRAWN).splitlines()[:_LOOKED_AT]
    return any(_rule_under(above, line) is not None for above, line in zip(["", *lines], lines, strict=False))


def _rule_under(above: str, line: str) -> _Rule | None:
    """The rule in a line, where names are above it."""
    text = line.strip()
    if not above.strip() or not _RULE.fullmatch(text) or _RULE.fullmatch(above.strip()):
        return None
    spans = tuple((one.start(), one.end()) for one in re.finditer("-+", line)) if " " in text else ()
    rule = _Rule(text, text[0] in "+|", text[0] == "+", spans)
    return rule if len(rule.cells(above)) == rule.width and all(rule.cells(above)) else None


def read_ruled(content: Content) -> Drawn:
    """The rows under each rule, until a count of them, another rule or an empty line.

    Raises:
        UsageError: a table is not whole, or has a cell with a bar or an end of a line in it.
    """
    found: Drawn | None = None
    rule: _Rule | None = None
    above, rows = "", 0
    for number, line in drawn_lines(content):
        text = line.strip()
        under = _rule_under(above, line) if rule is None else None
        if (said := COUNT.fullmatch(text)) is not None:
            check_count(content, number, rows, int(said[1] or said[2]))
            rule = None
        elif under is not None:
            names = under.cells(above)
            rule, rows = under, 0
            if found is None:
                found = Drawn(names)
            else:
                found.join(content, number, names)
        elif rule is not None and found is not None:
            if _RULE.fullmatch(text):
                if not rule.boxed:
                    raise UsageError(
                        f"{content.place}, line {number:,}: a line that frames a table is inside the table. "
                        f"If that line is a cell, {_INSTEAD}."
                    )
                rule = None
            elif text or rule.width == 1:
                found.rows.append(_row(content, number, line, rule))
                rows += 1
            else:
                rule = None
        above = line
    if found is None:
        raise UsageError(f"{content.place} has lines that frame a table, but no table under these lines.")
    return found


def _row(content: Content, number: int, line: str, rule: _Rule) -> list[str]:
    cells = rule.cells(line)
    wide = rule.spans and any(unicodedata.east_asian_width(one) in "WF" for one in line)
    if len(cells) != rule.width:
        raise UsageError(
            f"{content.place}, line {number:,} has {units.counted(len(cells), 'cell')}, but its table has "
            f"{units.counted(rule.width, 'column')}. If a cell contains a bar or spans several lines, "
            f"{_INSTEAD}."
        )
    if wide:
        raise UsageError(
            f"{content.place}, line {number:,} has letters of double width, so the places of its columns are "
            f"not known. Please {_INSTEAD}."
        )
    return cells


def check_count(content: Content, number: int, rows: int, said: int) -> None:
    """Compare the rows that were read with the count that the table prints (`UsageError`)."""
    if rows != said:
        raise UsageError(
            f"{content.place}, line {number:,}: the table's own count is {units.counted(said, 'row')}, but "
            f"it has {rows:,} here. The table is not whole, or one of its cells spans several lines. If so, "
            f"{_INSTEAD}."
        )


def read_unaligned(content: Content) -> Drawn:
    """The table that `psql -A` prints: bars between cells, and a count below.

    Raises:
        UsageError: a line has other cells, or the count differs.
    """
    found: Drawn | None = None
    for number, line in enumerate(content.lines(), 1):
        said = COUNT.fullmatch(line.strip())
        cells = line.split("|")
        if found is None:
            found = Drawn(cells)
        elif said is not None:
            check_count(content, number, len(found.rows), int(said[1] or said[2]))
        elif line.strip():
            if len(cells) != len(found.names):
                raise UsageError(
                    f"{content.place}, line {number:,} has {units.counted(len(cells), 'cell')} between bars, "
                    f"but the first line has {len(found.names)}. If a cell contains a bar or spans several "
                    f"lines, {_INSTEAD}."
                )
            found.rows.append(cells)
    return found or Drawn([])
