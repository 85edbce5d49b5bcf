"""One column of numbers, and the column with its groups, from anybody's file.

A cell that cannot be read as a number ends in an error that names the line; missing ones are counted and
left out.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from redolab import units
from redolab.errors import UsageError
from redolab.files.refusals import one_line
from redolab.values.content import Content, check_memory, head_of, open_content
from redolab.values.formats.known import as_csv, sheet_of
from redolab.values.formats.sheet import Sheet, SheetNumbers
from redolab.values.reading.choice import ColumnNames, check_header, choose, find
from redolab.values.reading.form import BLANKS, check_names, find_form, rows
from redolab.values.reading.table import Codes, Flags, Floats, NumberColumn, ValuesTable, coded
from redolab.values.reading.text import as_text
from redolab.values.reading.unit_cells import factor

LARGEST = 1e100
"""Beyond it squares leave the range of a double; below its inverse they vanish."""


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
    separator: str | None
    """The mark between its cells; None where the file does not hold separated values."""
    decimal_point: str
    header: bool
    """Whether the first line names the columns; else they are called `column_1`, `column_2` ..."""
    rows: int
    missing: int
    """Rows whose value, or the value taken off it, is empty or marked as missing."""
    not_finite: int
    """Rows whose value is infinite."""
    no_group: int
    """Rows with a value and without a group."""
    in_time: bool = False
    """Whether the values are known to follow each other in time."""
    ordered: bool = True
    """Whether they are in the order in which they were measured, as far as anybody knows."""
    format: str = "CSV"
    """The program or format that wrote the file."""
    encoding: str = "UTF-8"
    unit: str | None = None
    """Unit of the values, where the file names it."""
    notes: tuple[str, ...] = ()
    """Facts that a reader must know about how the file was read."""

    @property
    def title(self) -> str:
        """The values by name: the column, or the difference of two columns."""
        return self.titled if self.against is None else f"{self.titled} less {self.against}"

    @property
    def titled(self) -> str:
        """The name of the column, with its unit where cells or the format say it."""
        return self.name if self.unit is None else f"{self.name} ({self.unit})"


@dataclass(frozen=True)
class _Parts:
    """The columns read from a file, before anything is left out."""

    value: NumberColumn
    against: NumberColumn | None
    groups: tuple[tuple[str, ...], Codes] | None
    """Names of groups, and the place of each row's among them, -1 without one; None without groups."""
    facts: dict[str, Any]
    """Fields of `ValuesFile` that are known already."""


def read_values(
    place: str,
    value: str | None = None,
    group: str | None = None,
    against: str | None = None,
    *,
    decimal: str | None = None,
    encoding: str | None = None,
) -> ValuesFile:
    """Read the column `value` of a file, and the groups that the column `group` names.

    Read are files of separated values in the writing of any locale, and what pgbench, sysbench, vmstat, psql,
    mysql, HdrHistogram, fio and k6 write; packed by gzip and in any encoding.

    Args:
        place: of the file; `-` for the standard input.
        value: the column of numbers; None for the only one, or the one that is meant of such a format.
        group: the column of groups; None for none.
        against: a column of numbers to take off, row by row; None for none.
        decimal: the mark before decimals, `.` or `,`; None to find out.
        encoding: of the letters; None to find out.

    Raises:
        UsageError: there is no such file or column, something in the column of values is not a number, or
            the column can be read in two ways; the text names the line.
    """
    wanted = ColumnNames(value, group, against)
    try:
        content = as_text(open_content(place), encoding)
        head = head_of(content)
        check_memory(content, head)
        sheet = sheet_of(content, head, value)
        if sheet is not None:
            return _values(_of_sheet(content, sheet, wanted))
        drawn = as_csv(content, head)
        return _values(_of_csv(drawn or content, head_of(drawn) if drawn else head, wanted, decimal))
    except csv.Error as error:
        raise UsageError(f"{_named(place)} cannot be read as CSV: {error}.") from error
    except OSError as error:
        raise UsageError(f"{_named(place)} cannot be read: {error.strerror or one_line(error)}.") from error


def _named(place: str) -> str:
    return "stdin" if place == "-" else place


def _of_csv(content: Content, head: str, wanted: ColumnNames, decimal: str | None) -> _Parts:
    form = find_form(content.place, head, wanted.names)
    if form.separator == BLANKS:
        content = content.rewritten("\n".join(" ".join(line.split()) for line in content.lines()) + "\n")
    first = list(rows(head.splitlines(keepends=True), form.separator))[form.skip :]
    chosen = choose(content.place, form.names, first, wanted)
    if wanted.value is None and form.header:
        check_header(content.place, form.names, first, chosen.value)
    table = ValuesTable(content, form, first, decimal)
    number = table.numbers(chosen.value)
    other = None if chosen.against is None else table.numbers(chosen.against)
    groups = None if chosen.group is None else table.groups(chosen.group)
    facts = {
        "place": content.place,
        "name": form.names[chosen.value],
        "against": None if chosen.against is None else form.names[chosen.against],
        "group_name": None if chosen.group is None else form.names[chosen.group],
        "separator": form.separator if content.format == "CSV" else None,
        "header": form.header,
        "format": content.format,
        "encoding": content.encoding,
        "notes": tuple(
            dict.fromkeys(content.notes + chosen.notes + number.notes + (other.notes if other else ()))
        ),
    }
    return _Parts(number, other, groups, facts)


def _of_sheet(content: Content, sheet: Sheet, wanted: ColumnNames) -> _Parts:
    import pyarrow as pa

    names = list(sheet.figures)
    notes = content.notes + sheet.notes
    taken = wanted.value or sheet.default
    if taken is None:
        raise UsageError(
            f"{content.place} is {sheet.format} and has {len(names)} columns of numbers. Choose one with "
            f"--value: {', '.join(names)}."
        )
    find(taken, names, content.place, "--value")
    if wanted.value is None:
        others = ", ".join(name for name in names if name != taken)
        choices = f" --value also accepts {others}." if others else ""
        notes = (f"The file is {sheet.format}. Its column {taken} is analysed.{choices}", *notes)
    if wanted.against is not None:
        find(wanted.against, names, content.place, "--against")
    if wanted.against == taken:
        raise UsageError(f"--value and --against both name {taken}. Give two columns.")
    groups = None
    if wanted.group is not None:
        find(wanted.group, list(sheet.texts), content.place, "--group")
        names_of_groups = pa.array(sheet.texts[wanted.group](), pa.string())
        groups = coded(pa.chunked_array([names_of_groups.dictionary_encode()]))
    facts = {
        "place": content.place,
        "name": taken,
        "against": wanted.against,
        "group_name": wanted.group,
        "separator": None,
        "header": True,
        "format": sheet.format,
        "encoding": content.encoding,
        "notes": notes,
        "in_time": sheet.in_time,
        "ordered": sheet.ordered,
    }
    other = None if wanted.against is None else _numbers(sheet.figures[wanted.against])
    return _Parts(_numbers(sheet.figures[taken]), other, groups, facts)


def _numbers(figures: SheetNumbers) -> NumberColumn:
    return NumberColumn(figures.values, np.isnan(figures.values), figures.unit, ".")


def _values(parts: _Parts) -> ValuesFile:
    """The values that can be analysed, with counts of those that cannot."""
    numbers, unknown = _less(parts)
    finite = np.isfinite(numbers)
    groups: tuple[str, ...] = ()
    member = np.empty(0, dtype=np.int64)
    kept, no_group = finite, 0
    if parts.groups is not None:
        groups, member = parts.groups
        check_names(parts.facts["place"], groups)
        no_group = int((finite & (member < 0)).sum())
        kept = finite & (member >= 0)
        member = member[kept]
    file = ValuesFile(
        values=numbers[kept],
        groups=groups,
        member=member,
        decimal_point=parts.value.decimal,
        unit=parts.value.unit,
        rows=len(numbers),
        missing=int(unknown.sum()),
        not_finite=int((~finite & ~unknown).sum()),
        no_group=no_group,
        **parts.facts,
    )
    check_size(file)
    return file


def _less(parts: _Parts) -> tuple[Floats, Flags]:
    """The values, less those of the other column where there is one."""
    value, other = parts.value, parts.against
    if other is None:
        return value.values, value.unknown
    scale = (1, 1) if value.unit == other.unit else factor(other.unit or "", value.unit or "")
    if scale is None:
        raise UsageError(
            f"{parts.facts['place']}: {parts.facts['name']} is in {value.unit or 'no unit'}, and "
            f"{parts.facts['against']} in {other.unit or 'no unit'}. Write both in one unit."
        )
    with np.errstate(invalid="ignore", over="ignore"):
        return value.values - other.values * scale[0] / scale[1], value.unknown | other.unknown


def joined(files: Sequence[ValuesFile]) -> ValuesFile:
    """The values of several files of one form, one file after another.

    Raises:
        UsageError: they differ in format, columns or unit.
    """
    first, *others = files
    if not others:
        return first
    for other in others:
        for what in ("format", "name", "against", "group_name", "unit"):
            one, another = getattr(first, what), getattr(other, what)
            if one != another:
                raise UsageError(
                    f"{first.place} and {other.place} cannot be analysed together: the "
                    f"{what.replace('_', ' ')} of the first is {one}, that of the second is {another}. Give "
                    "files of one kind."
                )
    groups = tuple(dict.fromkeys(name for file in files for name in file.groups))
    code = {name: place for place, name in enumerate(groups)}
    member = [np.array([code[name] for name in file.groups], dtype=np.int64)[file.member] for file in files]
    return dataclasses.replace(
        first,
        place=units.some([file.place for file in files], 5),
        values=np.concatenate([file.values for file in files]),
        groups=groups,
        member=np.concatenate(member) if groups else first.member,
        notes=tuple(dict.fromkeys(note for file in files for note in file.notes)),
        in_time=False,
        **{
            name: sum(getattr(file, name) for file in files)
            for name in ("rows", "missing", "not_finite", "no_group")
        },
    )


def check_size(file: ValuesFile) -> None:
    """Refuse a column without a number, and sizes whose squares do not fit a double (`UsageError`)."""
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
            f"double. Use another unit: values from {1 / LARGEST:g} to {LARGEST:g} in size can be analysed."
        )
