"""Output of `vmstat`: a line for each interval, with its heads again after some of them."""

from __future__ import annotations

import re

import numpy as np

from redolab.errors import UsageError
from redolab.values.content import Content
from redolab.values.formats.sheet import Sheet, SheetNumbers

_FIRST = re.compile(r"-*procs-*\s+-*\s*memory")
_RATES = frozenset({"si", "so", "bi", "bo", "in", "cs", "us", "sy", "id", "wa", "st", "gu"})


def read_vmstat(content: Content, head: str) -> Sheet | None:
    """The columns of vmstat; None for a file in another format.

    Raises:
        UsageError: a line has other columns.
    """
    lines = head.splitlines()
    if len(lines) < 2 or not _FIRST.match(lines[0].strip()) or lines[1].split()[:2] != ["r", "b"]:
        return None
    names = lines[1].split()
    numeric = [name for name in names if re.fullmatch("[a-z]+", name)]
    # One head, a time zone, is above two cells, a date and a time.
    width = 2 * len(names) - len(numeric)
    rows: list[list[float]] = []
    for number, line in enumerate(content.lines(), 1):
        cells = line.split()
        if not cells or _FIRST.match(line.strip()) or cells[:2] == ["r", "b"]:
            if cells[:2] == ["r", "b"] and cells != names:
                raise UsageError(
                    f"{content.place}, line {number:,}: vmstat has other columns from this line on. Give one "
                    "file for each set of columns."
                )
            continue
        figures = cells[: len(numeric)]
        if len(cells) != width:
            raise _wrong(content, number, line, names)
        try:
            rows.append([float(cell) for cell in figures])
        except ValueError as error:
            raise _wrong(content, number, line, names) from error
    if not rows:
        raise UsageError(f"{content.place} has the heading lines of vmstat but no line of figures.")
    notes = []
    columns = {name: np.array(values) for name, values in zip(numeric, zip(*rows, strict=True), strict=True)}
    for name in _RATES & set(columns):
        columns[name][0] = np.nan
    if _RATES & set(numeric):
        notes.append(
            "In the first line of vmstat, rates per second and CPU time are means since the machine started, "
            "so these columns have no value in that line. With vmstat -y it is an interval like the others."
        )
    figures_by_name = {name: SheetNumbers(values) for name, values in columns.items()}
    return Sheet("output of vmstat", figures_by_name, {}, None, tuple(notes), in_time=True)


def _wrong(content: Content, number: int, line: str, names: list[str]) -> UsageError:
    return UsageError(
        f"{content.place}, line {number:,}: {line[:60]!r} is not a line of vmstat, which has {len(names)} "
        "columns of numbers here, separated by blanks. Remove that line."
    )
