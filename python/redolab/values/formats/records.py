"""Expanded tables of psql and mysql, a line for each column, and statement times that psql prints."""

from __future__ import annotations

import re

from redolab.errors import UsageError
from redolab.values.content import Content
from redolab.values.formats.drawn import COUNT, Drawn, check_count, drawn_lines

_OF_PSQL = re.compile(r"\+?-\[ \w+ \d+ \][-+]*")
_WITHOUT_BORDER = re.compile(r"\* Record \d+\s*")
"""The head of a record in psql with `\\pset border 0`."""
_OF_MYSQL = re.compile(r"\*{5,} \d+\. row \*{5,}")
_TIMING = re.compile(
    r"(?:Time|Zeit|Temps|Tiempo|Duración|Duração|Tempo|Время): ([\d.,]+) (?:ms|мс)(?: \(.*\))?"
)
_OTHER_LINE = re.compile(
    r"\S*[=*!^'\"(-][#>].*|mysql> .*|MariaDB \[.*\]> .*|[A-Z]{3,}[A-Z ]*(?: \d+)*|Expanded display .*|"
)
_LOOKED_AT = 50


def is_expanded(head: str) -> bool:
    """Whether the head of a record is among the first lines."""
    lines = [line.strip() for line in head.splitlines()[:_LOOKED_AT]]
    return any(_between(_in_ascii(line)) is not None for line in lines)


def _between(line: str) -> str | None:
    """The mark between names and cells below the head of a record; None where the line is not a head."""
    if _OF_PSQL.fullmatch(line):
        return "|"
    return ":" if _OF_MYSQL.fullmatch(line) else " " if _WITHOUT_BORDER.fullmatch(line) else None


def _in_ascii(line: str) -> str:
    return re.sub("[─━═]", "-", re.sub("[┌├╔╠┐┤╗╣┬┼]", "+", line))


def read_expanded(content: Content) -> Drawn:
    """One row for each record.

    Raises:
        UsageError: records differ in their columns, or a line is not a column.
    """
    found: Drawn | None = None
    names: list[str] = []
    cells: list[str] = []
    between: str | None = None
    for number, line in drawn_lines(content):
        text = line.strip()
        if (head := _between(text)) is not None:
            found = _with_record(content, number, found, names, cells)
            names, cells, between = [], [], head
        elif said := COUNT.fullmatch(text):
            found = _with_record(content, number, found, names, cells)
            names, cells, between = [], [], None
            if said[2] and found is not None:
                check_count(content, number, len(found.rows), int(said[2]))
        elif between is not None and (between in text or (between == " " and text)):
            text = text[1:-1] if text.startswith("|") and text.endswith("|") and text.count("|") > 2 else text
            name, _, cell = text.partition(between)
            names.append(name.strip())
            cells.append(cell.strip())
        elif between is not None and not (
            _OTHER_LINE.fullmatch(text) or _TIMING.fullmatch(text) or not text.strip("+-")
        ):
            raise UsageError(
                f"{content.place}, line {number:,}: {text[:60]!r} is not a column of a record. If a cell "
                "spans several lines, write the table with psql --csv or mysql --batch instead."
            )
    found = _with_record(content, 0, found, names, cells)
    if found is None:
        raise UsageError(f"{content.place} has the head of a record but no columns under it.")
    return found


def _with_record(
    content: Content, number: int, found: Drawn | None, names: list[str], cells: list[str]
) -> Drawn | None:
    if names:
        if found is None:
            found = Drawn(names)
        elif found.names != names:
            found.join(content, number, names)
        found.rows.append(cells)
    return found


def is_timing(head: str) -> bool:
    """Whether the first lines are times of statements, and other lines that psql prints with them."""
    lines = [line.strip() for line in head.splitlines()[:_LOOKED_AT]]
    times = [line for line in lines if _TIMING.fullmatch(line)]
    return bool(times) and all(_TIMING.fullmatch(line) or _OTHER_LINE.fullmatch(line) for line in lines)


def read_timing(content: Content) -> Drawn:
    """The time of each statement."""
    times = [found[1] for line in content.lines() if (found := _TIMING.fullmatch(line.strip()))]
    return Drawn(["time"], [[f"{time} ms"] for time in times])
