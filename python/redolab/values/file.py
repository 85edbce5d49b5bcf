"""One column of numbers, and the groups beside it, out of somebody's CSV file.

Read whole by Arrow, so that ten million rows take seconds. What cannot be read as a number ends in an
error that names the line; what is missing is counted and left out.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from redolab import units
from redolab.errors import UsageError
from redolab.files.refusals import one_line
from redolab.values.content import Content, open_content

Floats = npt.NDArray[np.float64]

LARGEST = 1e100
"""Beyond it squares leave the range of a double; below its inverse they vanish."""
_MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-nan", "#N/A")
_SEPARATORS = (",", ";", "\t")
_HEAD_BYTES = 1 << 20
_SHOWN = 40
_MOST_NAMED = 20
_LONGEST_NAME = 1000
"""Letters of the name of a column or of a group, which is shown."""


@dataclass(frozen=True)
class ValuesFile:
    """The numbers of one column that can be analysed, and what was left out."""

    place: str
    """The file as it was named; `stdin` for the standard input."""
    name: str
    """The name of the column."""
    against: str | None
    """The name of the column that was taken off row by row."""
    values: Floats
    """In the order of the file, finite; differences where there are two columns."""
    group_name: str | None
    """The name of the column with the groups."""
    groups: tuple[str, ...]
    """Their names in order of appearance, those without any value too; empty without groups."""
    member: npt.NDArray[np.int64]
    """The place in `groups` of each value; empty without groups."""
    separator: str
    decimal_point: str
    header: bool
    """Whether the first line names the columns; else they are called `column_1`, `column_2` ..."""
    rows: int
    missing: int
    """Rows whose value, or what is taken off it, is empty or says that there is none."""
    not_finite: int
    """Rows whose value is infinite."""
    no_group: int
    """Rows with a value and without a group."""
    in_time: bool = False
    """Whether the values are known to follow each other in time."""

    @property
    def title(self) -> str:
        """What the values are."""
        return self.name if self.against is None else f"{self.name} less {self.against}"


@dataclass(frozen=True)
class _Form:
    """How the file is written."""

    separator: str
    decimal_point: str
    names: tuple[str, ...]
    header: bool
    skip: int
    """Lines before the first row of values."""


@dataclass(frozen=True)
class _Columns:
    """Places of the columns that are read."""

    value: int
    against: int | None
    group: int | None


def read_values(
    place: str, value: str | None = None, group: str | None = None, against: str | None = None
) -> ValuesFile:
    """Read the column `value` of a CSV file, and the groups that the column `group` names.

    The separator is a comma, semicolon or tab, whichever cuts the first line into most columns; a
    file with semicolons may have decimal commas. Lines before the names that begin with `#` are
    skipped. A first line of numbers alone names no columns.

    Args:
        place: of the file; `-` for the standard input.
        value: the column of numbers; None when the file has only one.
        group: the column of groups; None for none.
        against: a column of numbers to take off, row by row; None for none.

    Raises:
        UsageError: there is no such file or column, it is not text in UTF-8, or something in the
            column of values is not a number; the text names the line.
    """
    content = open_content(place)
    try:
        return _read_content(content, value, group, against)
    except OSError as error:
        raise UsageError(f"{content.place} cannot be read: {error.strerror or one_line(error)}.") from error


def _read_content(content: Content, value: str | None, group: str | None, against: str | None) -> ValuesFile:
    head = _head(content)
    try:
        form = _form(content.place, head)
        group_index = None if group is None else _find(group, form, content.place, "--group")
        other_index = None if against is None else _find(against, form, content.place, "--against")
        value_index = _value_column(value, form, (group_index, other_index), content, head)
    except csv.Error as error:
        raise UsageError(f"{content.place} cannot be read as CSV: {error}.") from error
    columns = _Columns(value_index, other_index, group_index)
    named = [("--value", value_index), ("--against", other_index), ("--group", group_index)]
    for (one, first), (two, second) in itertools.combinations(named, 2):
        if first is not None and first == second:
            raise UsageError(f"{one} and {two} both name {form.names[first]}. Give two columns.")
    return _values(content.place, form, columns, _read(content, form, columns))


def _head(content: Content) -> str:
    """The first lines as text."""
    with content.open() as file:
        head = file.read(_HEAD_BYTES)
    if not head.strip():
        raise UsageError(f"{content.place} is empty. A CSV file has a line of names and a line per value.")
    if len(head) == _HEAD_BYTES:
        head = head[: head.rfind(b"\n") + 1]
    if not head or b"\0" in head:
        raise UsageError(f"{content.place} is not a CSV file: it is no text of lines. {_UTF8}")
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = head.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{content.place}, line {line}: byte 0x{head[error.start]:02x} is not UTF-8. {_UTF8}"
        ) from error


_UTF8 = "Convert it first, for example: iconv -f latin1 -t utf-8."


def _form(place: str, head: str) -> _Form:
    lines = head.splitlines()
    comments = 0
    while comments < len(lines) and (lines[comments].startswith("#") or not lines[comments].strip()):
        comments += 1
    if comments == len(lines):
        raise UsageError(
            f"{place} holds comments alone. A CSV file has a line of names and a line per value."
        )
    rest = lines[comments:]
    first = {separator: next(csv.reader(rest, delimiter=separator)) for separator in _SEPARATORS}
    separator = max(_SEPARATORS, key=lambda item: len(first[item]))
    reader = csv.reader(rest, delimiter=separator)
    cells = [cell.strip() for cell in next(reader)]
    point = "," if separator == ";" and _decimal_commas(rest) else "."
    header = not all(_is_number(cell, point) for cell in cells)
    names = cells if header else [f"column_{number}" for number in range(1, len(cells) + 1)]
    _check_names(place, names)
    return _Form(separator, point, tuple(names), header, comments + (reader.line_num if header else 0))


def _check_names(place: str, names: Sequence[str]) -> None:
    longest = max(map(len, names), default=0)
    if longest > _LONGEST_NAME:
        raise UsageError(
            f"{place}: the name of a column or of a group has {longest:,} letters, of {_LONGEST_NAME:,} at "
            "the most. Give it a shorter one."
        )


def _decimal_commas(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    # No step goes back, nor over the end of a line: a file may have a million blanks in it.
    number = r"(?:^|;)[^\S\n]*+[-+]?\d*+%s\d++[^\S\n]*+(?=;|$)"
    return bool(re.search(number % ",", text, re.MULTILINE)) and not re.search(
        number % r"\.", text, re.MULTILINE
    )


def _is_number(text: str, point: str = ".") -> bool:
    try:
        float(text.replace(point, ".") if point != "." else text)
    except ValueError:
        return False
    return "_" not in text


def _find(name: str, form: _Form, place: str, option: str) -> int:
    places = [index for index, known in enumerate(form.names) if known == name]
    if not places:
        raise UsageError(
            f"{place} has no column {name!r} for {option}. It has: {units.some(form.names, _MOST_NAMED)}."
        )
    if len(places) > 1:
        raise UsageError(f"{place} has {len(places)} columns named {name!r}. Give each its own name.")
    return places[0]


def _value_column(
    name: str | None, form: _Form, taken: Sequence[int | None], content: Content, head: str
) -> int:
    if name is not None:
        return _find(name, form, content.place, "--value")
    others = [index for index in range(len(form.names)) if index not in taken]
    if len(others) == 1:
        return others[0]
    rows = list(csv.reader(io.StringIO(head), delimiter=form.separator))[form.skip :]
    whole = [row for row in rows if len(row) == len(form.names)]
    numeric = [index for index in others if _looks_numeric(whole, index, form)]
    if len(numeric) != 1:
        what = "no column of numbers" if not numeric else f"{len(numeric)} columns of numbers"
        named = units.some([form.names[index] for index in numeric or others], _MOST_NAMED)
        raise UsageError(f"{content.place} has {what}. Say which to take with --value: {named}.")
    return numeric[0]


def _looks_numeric(rows: Sequence[Sequence[str]], index: int, form: _Form) -> bool:
    """Whether the head of the file has numbers in a column and nothing else."""
    cells = [row[index].strip() for row in rows]
    known = [cell for cell in cells if cell not in _MISSING]
    return bool(known) and all(_is_number(cell, form.decimal_point) for cell in known)


def _read(content: Content, form: _Form, columns: _Columns) -> Any:
    import pyarrow as pa
    import pyarrow.csv as arrow

    names = [str(index) for index in range(len(form.names))]
    numbers = [column for column in (columns.value, columns.against) if column is not None]
    types: dict[str, Any] = {str(column): pa.float64() for column in numbers}
    if columns.group is not None:
        types[str(columns.group)] = pa.dictionary(pa.int32(), pa.string())
    if isinstance(content.source, Path):
        source: Any = pa.OSFile(str(content.source))
    else:
        source = pa.BufferReader(content.source)
    with source:
        try:
            return arrow.read_csv(
                source,
                arrow.ReadOptions(column_names=names, skip_rows=form.skip),
                # A line without anything in it is a missing value where there is one column alone.
                arrow.ParseOptions(
                    delimiter=form.separator,
                    newlines_in_values=True,
                    ignore_empty_lines=len(names) > 1,
                ),
                arrow.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=list(_MISSING),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                    decimal_point=form.decimal_point,
                ),
            )
        except pa.ArrowInvalid as error:
            raise _explained(content, form, numbers, error) from error


def _explained(content: Content, form: _Form, numbers: Sequence[int], error: Exception) -> UsageError:
    """What is wrong with the file and where, found by reading it line by line."""
    width = len(form.names)
    for line, row in _rows(content, form):
        if len(row) != width and (row or width == 1):
            return UsageError(
                f"{content.place}, line {line} has {len(row)} of the {width} cells of the first line. "
                "Mend that line, or quote the cells that contain the separator."
            )
        for column in numbers:
            cell = row[column].strip() if row else ""
            if cell not in _MISSING and not _is_number(cell, form.decimal_point):
                shown = cell if len(cell) <= _SHOWN else cell[:_SHOWN] + "..."
                return UsageError(
                    f"{content.place}, line {line}: {shown!r} in the column {form.names[column]} is not a "
                    "number. Mend that line, leave the cell empty, or name another column."
                )
    if "UTF8" in str(error):
        return UsageError(f"{content.place} is not UTF-8 throughout. {_UTF8}")
    return UsageError(f"{content.place} cannot be read as CSV: {one_line(error)}.")


def _rows(content: Content, form: _Form) -> Iterator[tuple[int, list[str]]]:
    with content.open() as binary, io.TextIOWrapper(binary, "utf-8", "replace", newline="") as file:
        for _ in range(form.skip):
            file.readline()
        reader = csv.reader(file, delimiter=form.separator)
        while True:
            begins = form.skip + reader.line_num + 1
            try:
                row = next(reader)
            except (StopIteration, csv.Error):
                return
            if row:
                yield begins, row


def _values(place: str, form: _Form, columns: _Columns, table: Any) -> ValuesFile:
    group = columns.group
    numbers, unknown = _column(table, columns.value)
    if columns.against is not None:
        others, also = _column(table, columns.against)
        with np.errstate(invalid="ignore", over="ignore"):
            numbers, unknown = numbers - others, unknown | also
    missing = int(unknown.sum())
    finite = np.isfinite(numbers)
    groups: tuple[str, ...] = ()
    member = np.empty(0, dtype=np.int64)
    no_group = 0
    if group is not None:
        import pyarrow as pa

        column = pa.chunked_array(table[str(group)].unify_dictionaries())
        if column.num_chunks:
            groups = tuple(column.chunk(0).dictionary.to_pylist())
            _check_names(place, groups)
        codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in column.chunks]
        member = np.concatenate(codes).astype(np.int64) if codes else member
        no_group = int((finite & (member < 0)).sum())
        kept = finite & (member >= 0)
        member = member[kept]
    else:
        kept = finite
    file = ValuesFile(
        place=place,
        name=form.names[columns.value],
        against=None if columns.against is None else form.names[columns.against],
        values=numbers[kept],
        group_name=None if group is None else form.names[group],
        groups=groups,
        member=member,
        separator=form.separator,
        decimal_point=form.decimal_point,
        header=form.header,
        rows=len(numbers),
        missing=missing,
        not_finite=int((~finite & ~unknown).sum()),
        no_group=no_group,
    )
    check_size(file)
    return file


def _column(table: Any, place: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The numbers of a column, and where it has none."""
    column = table[str(place)]
    return np.asarray(column.to_numpy(), dtype=float), np.asarray(column.is_null().to_numpy(), dtype=bool)


def check_size(file: ValuesFile) -> None:
    """Refuse a column without a number, and sizes whose squares fit no double (`UsageError`)."""
    if not file.values.size:
        raise UsageError(
            f"{file.place} has no number in the column {file.title}: {file.rows} rows, {file.missing} of "
            f"them without a value, {file.not_finite} infinite, {file.no_group} without a group. "
            "Name another column with --value."
        )
    largest = float(np.abs(file.values).max())
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise UsageError(
            f"The largest value of {file.title} in {file.place} is {largest:g}; its square does not fit a "
            f"double. Use another unit: sizes from {1 / LARGEST:g} to {LARGEST:g} can be analysed."
        )
