"""The numbers of one file: which decimal mark and separator of thousands it prints, and the value of each.

A report prints `1,234.5`, `1.234,5`, `1 234,5`, `92.4K`, `4.96ms`, `.99ms`, `18.73 s`, `.0` and nothing at
all: the marks come from the session that made it (NLS_NUMERIC_CHARACTERS). `1,234` alone can be read in
two ways, a thousand times apart. So every cell that is read helps to decide which marks the file has, and a
number that they leave open is not known. A printed number was rounded by at most half of its last place.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from redolab.importers.printed import TIMES, Printed
from redolab.records.report import BLANK

THOUSAND, BINARY = 1_000.0, 1_024.0
"""The value of K: for counts and times, and for bytes."""
TWO_WAYS = "can be read in two ways"
_LONGEST = 48
_SUFFIXES = "KMGTP"
_BLANKS = re.compile("[\u00a0\u2009\u202f]")
_QUOTES = re.compile("[\u2019\u02bc`]")
_WITH_UNIT = re.compile(r"([-+]?[\d,.' ]*\d(?:E[-+]\d{1,2})?) ?([A-Za-z]{0,3})")
_PLAIN = re.compile(r"[-+]?\d+")
_MOST_DAMAGED, _DAMAGED_SHARE = 3, 0.005
"""Numbers of a file, and a part of them, that may have other marks than all the others."""
_DECIMALS = (".", ",")
_GROUPS = (",", ".", " ", "'", "")


@dataclass(frozen=True)
class NumberMarks:
    """A decimal mark, and what separates thousands."""

    decimal: str
    group: str


def _shape(marks: NumberMarks) -> re.Pattern[str]:
    grouped = rf"[1-9]\d{{0,2}}(?:{re.escape(marks.group)}\d{{3}})+|" if marks.group else ""
    return re.compile(rf"[-+]?(?:{grouped}\d*)(?:{re.escape(marks.decimal)}\d{{1,12}})?(?:E[-+]\d{{1,2}})?")


_SHAPES: Mapping[NumberMarks, re.Pattern[str]] = {
    marks: _shape(marks)
    for decimal in _DECIMALS
    for group in _GROUPS
    if decimal != group
    for marks in (NumberMarks(decimal, group),)
}
_ALL = frozenset(_SHAPES)
_UNGROUPED = frozenset(marks for marks in _SHAPES if not marks.group)

Readings = Mapping[NumberMarks, tuple[float, float]]
"""The value and the rounding of a number, by the marks with which it is one."""


@dataclass(frozen=True)
class PrintedNumber:
    """A number as a file prints it, from which its marks are found."""

    column: str
    """The column in which it is printed: numbers of a column have the same marks."""
    text: str
    whole: bool = False
    """Whether it counts something, so that it has no decimals."""


class Numbers:
    """How one file prints numbers."""

    def __init__(self, samples: Iterable[PrintedNumber] = (), *, grouped: bool = True) -> None:
        """Find the marks that all numbers agree on.

        Args:
            samples: every number that is read from the file.
            grouped: whether thousands may be separated.
        """
        self._every = _ALL if grouped else _UNGROUPED
        self._columns: dict[str, frozenset[NumberMarks]] = {}
        votes = Counter[frozenset[NumberMarks]]()
        for sample in samples:
            fitting = self._fitting(sample)
            if fitting and fitting != self._every:
                votes[fitting] += 1
                self._columns[sample.column] = self._columns.get(sample.column, self._every) & fitting
        self._marks = self._agreed(votes)

    def _fitting(self, sample: PrintedNumber) -> frozenset[NumberMarks]:
        """The marks with which a sample is a number."""
        readings, unit = _split(sample.text)
        whole = sample.whole and not unit
        return frozenset(
            marks for marks in self._every & readings.keys() if not whole or readings[marks][0].is_integer()
        )

    def _agreed(self, votes: Mapping[frozenset[NumberMarks], int]) -> frozenset[NumberMarks]:
        """The marks that fit every number of the file, or all but a few that are damaged; else none."""
        fits = {
            marks: sum(count for fitting, count in votes.items() if marks in fitting) for marks in self._every
        }
        all_votes, most = sum(votes.values()), max(fits.values())
        damaged = all_votes - most
        if damaged > min(_MOST_DAMAGED, _DAMAGED_SHARE * all_votes):
            return frozenset()
        return frozenset(marks for marks, count in fits.items() if count == most)

    @property
    def agree(self) -> bool:
        """Whether one way to print numbers fits the whole file."""
        return bool(self._marks)

    def count(
        self, text: str, column: str = "", thousand: float = THOUSAND, *, whole: bool = False
    ) -> Printed:
        """A number without a unit, perhaps in thousands: `1,234`, `.0`, `92.4K`.

        Args:
            text: as printed.
            column: where it is printed, as it was named to begin with.
            thousand: the value of K; M is as many K.
            whole: whether it counts something, so that it has no decimals.
        """
        number, unit = self._number(text, column)
        factor = _multiple(unit, thousand)
        if number.value is None:
            return number
        if whole and not unit and not number.value.is_integer():
            return Printed(None, None, f"{text[:_LONGEST]!r} has decimals, but this column holds counts")
        return _none(text) if factor is None else number.times(factor)

    def blank_is_zero(self, text: str, column: str = "") -> Printed:
        """The same where an empty cell is zero and `.0` is less than a printed place: shares of waits."""
        return self.count(text, column) if text else Printed(0.0, 0.0, None)

    def seconds(self, text: str, unit_s: float | None, column: str = "") -> Printed:
        """A time.

        Args:
            text: as printed, with its unit or without one, perhaps in thousands of the heading's unit.
            unit_s: the unit that the column's heading names, in seconds; None where it names none.
            column: where it is printed, as it was named to begin with.
        """
        number, unit = self._number(text, column)
        if number.value is None:
            return number
        if unit in TIMES:
            return number.times(TIMES[unit])
        factor = _multiple(unit, THOUSAND)
        if factor is None:
            return _none(text)
        if unit_s is None:
            return Printed(None, None, f"{text!r} has no unit, and its heading names none")
        return number.times(factor * unit_s)

    def _number(self, text: str, column: str) -> tuple[Printed, str]:
        if not text:
            return Printed(None, None, BLANK), ""
        if "#" in text:
            return Printed(None, None, "the number was too wide to be printed (####)"), ""
        readings, unit = _split(text)
        # Where cells of the file contradict one another, the cells of the same column decide.
        marks = self._marks or self._columns.get(column) or self._every
        found = {readings[item] for item in marks if item in readings}
        if not found:
            return _none(text), ""
        if len({value for value, _ in found}) > 1:
            values = " or ".join(f"{value:g}" for value, _ in sorted(found))
            return Printed(None, None, f"{text[:_LONGEST]!r} {TWO_WAYS}: {values}"), ""
        value, rounding = max(found)
        return Printed(value, rounding, None), unit


@functools.lru_cache(maxsize=20_000)
def _split(text: str) -> tuple[Readings, str]:
    """Every reading of a text's number, and its unit."""
    if len(text) > _LONGEST:
        return {}, ""
    found = _WITH_UNIT.fullmatch(_QUOTES.sub("'", _BLANKS.sub(" ", text)))
    if found is None:
        return {}, ""
    number, unit = found[1], found[2]
    if _PLAIN.fullmatch(number):
        return dict.fromkeys(_ALL, (float(number), 0.5)), unit
    return {marks: _value(number, marks) for marks, shape in _SHAPES.items() if shape.fullmatch(number)}, unit


def _value(number: str, marks: NumberMarks) -> tuple[float, float]:
    digits = number.replace(marks.group, "") if marks.group else number
    mantissa, _, exponent = digits.replace(marks.decimal, ".").partition("E")
    places = len(mantissa.partition(".")[2])
    return float(f"{mantissa}e{exponent or 0}"), 0.5 * 10.0 ** (int(exponent or 0) - places)


def _multiple(suffix: str, thousand: float) -> float | None:
    """The factor for a number in K, M, G, T or P; None for another letter."""
    if not suffix:
        return 1.0
    return thousand ** (1 + _SUFFIXES.index(suffix)) if suffix in list(_SUFFIXES) else None


def _none(text: str) -> Printed:
    return Printed(None, None, f"{text[:_LONGEST]!r} cannot be read as a number")
