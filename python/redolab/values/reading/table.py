"""Columns of a file of separated values as numbers and groups, read whole by Arrow."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from redolab import units
from redolab.bounds import MOST_LINE
from redolab.errors import UsageError
from redolab.files.refusals import one_line
from redolab.printable import printable
from redolab.values.content import Content
from redolab.values.reading.cells import is_of_two_parts
from redolab.values.reading.form import Form
from redolab.values.reading.numbers import MISSING, CellsSeen, TwoReadingsError, decimal_mark, endless, number
from redolab.values.reading.unit_cells import factor, unit_of

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]
NOT_UTF8 = "Name its encoding with --encoding, for example --encoding latin1."
_SHOWN = 40
_BLOCK_BYTES = 2 * MOST_LINE
"""Bytes of a block; no row is longer."""


@dataclass(frozen=True)
class NumberColumn:
    """One column as numbers."""

    values: Floats
    unknown: Flags
    """The rows that do not have a number."""
    unit: str | None
    decimal: str
    notes: tuple[str, ...] = ()
    """Facts that a reader must know about how its cells were read."""


class ValuesTable:
    """The rows of a file whose form is known."""

    def __init__(self, content: Content, form: Form, head: list[list[str]], decimal: str | None) -> None:
        """Look at a file.

        Args:
            content: of the file.
            form: how it is written.
            head: cells of its first rows.
            decimal: the mark before decimals, where the user named it.
        """
        self._content, self._form, self._decimal = content, form, decimal
        self._separator = form.separator if len(form.names) > 1 else None
        self._head = [row for row in head if len(row) == len(form.names)]

    def column(self, place: int) -> CellsSeen:
        """How a column is written in the first rows."""
        cells = CellsSeen()
        cells.add(row[place] for row in self._head)
        return cells

    def numbers(self, place: int) -> NumberColumn:
        """A column as numbers.

        Raises:
            UsageError: a cell is not a number, or the column can be read in two ways; it names the line.
        """
        return self._plain(place) or self._written(place)

    def groups(self, place: int) -> tuple[tuple[str, ...], Codes]:
        """A column of names, as `coded` gives it."""
        import pyarrow as pa

        read = self._read(place, pa.dictionary(pa.int32(), pa.string()), ".")
        if isinstance(read, Exception):
            raise self._explained((), read) from read
        return coded(read)

    def _plain(self, place: int) -> NumberColumn | None:
        """The column in the one way in which a program would write all its numbers, where that is certain."""
        import pyarrow as pa

        for decimal in ".," if self._decimal is None else self._decimal:
            read = self._read(place, pa.float64(), decimal)
            if isinstance(read, Exception):
                continue
            values = np.asarray(read.to_numpy(), dtype=float)
            unknown = np.asarray(read.is_null().to_numpy(), dtype=bool)
            known = np.abs(values[np.isfinite(values) & ~unknown])
            if self._decimal is not None or _no_groups(known):
                return NumberColumn(values, unknown, None, decimal)
            if not isinstance(self._read(place, pa.int64(), decimal), Exception):
                return NumberColumn(values, unknown, None, self._beside(place))
        return None

    def _beside(self, place: int) -> str:
        """The decimal mark of the file, for a column that does not show it."""
        return decimal_mark(CellsSeen(), self._others(place), self._separator, machine=False)

    def _others(self, place: int) -> Iterator[CellsSeen]:
        return (self.column(other) for other in range(len(self._form.names)) if other != place)

    def _written(self, place: int) -> NumberColumn:
        """The column as its cells are written, with groups of thousands and units."""
        import pyarrow as pa

        read = self._read(place, pa.string(), ".")
        if isinstance(read, Exception):
            raise self._explained((place,), read) from read
        texts, codes = coded(read.dictionary_encode())
        column = CellsSeen()
        column.add(texts, np.bincount(codes[codes >= 0], minlength=len(texts)).tolist())
        name = self._form.names[place]
        if column.odd is not None:
            raise self._explained((place,), ValueError(f"{column.odd} is not a number"))
        try:
            unit = unit_of(column)
            decimal = self._decimal or decimal_mark(
                column, self._others(place), self._separator, machine=self._content.by_machine
            )
        except TwoReadingsError as error:
            raise UsageError(f"{self._content.place}: the column {name} {error}") from error
        # The last element belongs to rows without a text.
        by_text = np.full(len(texts) + 1, np.nan)
        is_known = np.zeros(len(texts) + 1, dtype=bool)
        for at, text in enumerate(texts):
            if text.strip() not in MISSING:
                value = _value(text, decimal, unit)
                if value is None:
                    raise self._explained((place,), ValueError(text), decimal)
                by_text[at], is_known[at] = value, True
        values, unknown = by_text[codes], ~is_known[codes]
        return NumberColumn(values, unknown, unit, decimal, tuple(_taken(name, column)))

    def _read(self, place: int, kind: Any, decimal: str) -> Any:
        """One column in a type of Arrow's, or the error that Arrow raised."""
        import pyarrow as pa
        import pyarrow.csv as arrow

        content, form = self._content, self._form
        names = [str(index) for index in range(len(form.names))]
        if isinstance(content.source, Path):
            source: Any = pa.OSFile(str(content.source))
        else:
            source = pa.BufferReader(content.source)
        with source:
            try:
                return arrow.read_csv(
                    source,
                    arrow.ReadOptions(column_names=names, skip_rows=form.skip, block_size=_BLOCK_BYTES),
                    # An empty line is a missing value where there is only one column.
                    arrow.ParseOptions(
                        delimiter=form.separator,
                        newlines_in_values=True,
                        ignore_empty_lines=len(names) > 1,
                    ),
                    arrow.ConvertOptions(
                        column_types={str(place): kind},
                        include_columns=[str(place)],
                        null_values=list(MISSING),
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=True,
                        decimal_point=decimal,
                    ),
                )[str(place)]
            except pa.ArrowInvalid as error:
                return error

    def _explained(self, places: Sequence[int], error: Exception, decimal: str | None = None) -> UsageError:
        """The error in the file and its line, found by reading it line by line."""
        form, place = self._form, self._content.place
        width = len(form.names)
        for line, row in self._rows():
            if len(row) != width and (row or width == 1):
                return UsageError(
                    f"{place}, {self._named(line)} has {units.counted(len(row), 'cell')}, but the first line "
                    f"has {width}. {form.separated_by}. Correct that line, or quote the cells that contain "
                    "the separator."
                )
            for column in places:
                cell = row[column].strip() if row else ""
                if cell not in MISSING and _value(cell, decimal, None) is None:
                    shown = cell if len(cell) <= _SHOWN else cell[:_SHOWN] + "..."
                    said = (
                        "" if decimal is None else f" with a decimal {'point' if decimal == '.' else 'comma'}"
                    )
                    return UsageError(
                        f"{place}, {self._named(line)}: {shown!r} in the column {form.names[column]} is not "
                        f"a number{said}{_two_parts(cell)}. {form.separated_by}. Correct that line, leave "
                        "the cell empty, or name another column."
                    )
        if "UTF8" in str(error):
            return UsageError(f"{place} contains bytes that are not UTF-8. {NOT_UTF8}")
        return UsageError(f"{place} cannot be read as CSV: {one_line(error)}.")

    def _named(self, line: int) -> str:
        """A line of the file; for a drawn table the row instead, because its lines were rewritten."""
        return f"line {line}" if self._content.format == "CSV" else f"row {line - self._form.skip}"

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        form, place = self._form, self._content.place
        with self._content.open() as binary, io.TextIOWrapper(binary, "utf-8", "replace", newline="") as file:
            for _ in range(form.skip):
                file.readline(MOST_LINE)
            reader = csv.reader(_lines(file, place), delimiter=form.separator)
            while True:
                begins = form.skip + reader.line_num + 1
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    raise UsageError(f"{place}, line {begins} cannot be read as CSV: {error}.") from error
                if row:
                    yield begins, row


def coded(column: Any) -> tuple[tuple[str, ...], Codes]:
    """Texts in order of appearance, and the place of each row's text among them; -1 without a text.

    Args:
        column: Arrow's dictionary array, in chunks.
    """
    column = column.unify_dictionaries()
    if not column.num_chunks:
        return (), np.empty(0, dtype=np.int64)
    codes = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return tuple(column.chunk(0).dictionary.to_pylist()), np.concatenate(codes).astype(np.int64)


def _lines(file: io.TextIOWrapper, place: str) -> Iterator[str]:
    number_of = 0
    while line := file.readline(MOST_LINE):
        number_of += 1
        if len(line) == MOST_LINE:
            raise UsageError(
                f"{place} has more than {MOST_LINE:,} letters in line {number_of:,} of its values. That is "
                "not a file of numbers, or the ends of its lines are missing."
            )
        yield line


def _no_groups(known: Floats) -> bool:
    """Whether some value shows that the mark of all values is a decimal mark.

    A mark that groups thousands has three digits behind it and one to three before it, which are not zero.
    Such a number, read with that mark as the decimal mark, is from 1 to 999.999 in thousandths.
    """
    small = known[known < 1000]
    if small.size < known.size or bool(((small > 0) & (small < 1)).any()):
        return True
    thousandths = small * 1000
    return bool((np.abs(thousandths - np.rint(thousandths)) > 1e-6).any())


def _taken(name: str, column: CellsSeen) -> Iterator[str]:
    """Notes on how unusually written cells were read."""
    if column.clock is not None:
        yield f"Times in {name}, such as {printable(column.clock)}, were read as durations in s."
    if column.negative is not None:
        yield f"Cells in {name} such as {printable(column.negative)} were read as negative numbers."


def _two_parts(cell: str) -> str:
    """Why a time of two parts is not read as a number."""
    if not is_of_two_parts(cell):
        return ""
    return ", because it can be minutes and seconds, or hours and minutes. Write it as 00:01:30"


def _value(text: str, decimal: str | None, unit: str | None) -> float | None:
    """A cell as a number in that unit, or infinite; None where it is neither."""
    one = number(text)
    if one is None:
        return endless(text)
    if decimal is None:
        return 0.0
    value = one.value(decimal)
    if value is None or unit is None or not one.unit:
        return value
    up, down = factor(one.unit, unit) or (1, 1)
    return value * up / down
