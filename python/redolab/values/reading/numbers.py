"""How numbers are written: with a point or a comma, with groups of thousands, with a unit.

`1.001` is one thousand and one where the decimal mark is a comma. One cell cannot decide that, so every cell
of a column is read, then the other columns of the file. A column that is still undecided is refused.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from redolab.printable import printable
from redolab.values.reading.cells import CURRENCIES, bare, duration, is_clock

MISSING = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "Null", "None", "-nan", "#N/A", "-", "--", "–", "—",
    "\\N", "(null)", "(NULL)", "<null>", "<NULL>", "[null]", "[NULL]", "∅", "¤",
)  # fmt: skip
"""Cells that mean a missing value: those of programs, and those that users of psql and others set."""
_LONGEST = 100
"""Letters of a cell that may be a number; what is longer is a text."""
_GROUPING = " \u00a0\u2009\u202f'\u2019\u066c"
"""Marks that group thousands in some locale and are the decimal mark in none (CLDR)."""
_ENDLESS = {"inf": math.inf, "infinity": math.inf}
_GROUPS = re.compile(f"[{_GROUPING}]")
_CELL = re.compile(
    rf"(?P<sign>[-+\u2212]?)(?P<body>(?:\d|[.,\u066b]\d)(?:[.,{_GROUPING}\u066b]?\d)*[.,]?)"
    r"(?P<power>[eE][-+]?\d{1,3})?"
    rf"(?:\s{{0,3}}(?P<unit>[^\W\d_]{{1,12}}(?:/[^\W\d_]{{1,12}})?|[%‰{CURRENCIES}]))?"
)
_DECIMAL = {".": "point", ",": "comma"}


class Written(Enum):
    """The decimal mark that the marks of one number show or leave open."""

    SHORT = "a whole number below 1,000 without a mark"
    LONG = "a whole number from 1,000 on without a mark"
    POINT = "a point before its decimals"
    COMMA = "a comma before its decimals"
    EITHER_POINT = "a point before three digits"
    EITHER_COMMA = "a comma before three digits"


_OPEN = {Written.EITHER_POINT: ".", Written.EITHER_COMMA: ","}
_PROOFS = {Written.POINT: ".", Written.COMMA: ","}


@dataclass(frozen=True)
class Number:
    """One cell, cut into what it is made of."""

    sign: str
    body: str
    """Digits and marks, without signs of grouping that mean nothing else."""
    power: str
    unit: str
    written: Written

    def value(self, decimal: str) -> float | None:
        """The number, where `decimal` is the decimal mark; None where its groups then have wrong sizes."""
        other = "," if decimal == "." else "."
        whole, mark, decimals = self.body.partition(decimal)
        if other in decimals or decimal in decimals or (other in whole and not _grouped(whole, other)):
            return None
        return float(f"{self.sign}{whole.replace(other, '')}{'.' if mark else ''}{decimals}{self.power}")


def number(text: str) -> Number | None:
    """A cell as a number in any writing; None where it is not a number, or is infinite."""
    text = text.strip()
    if text.isdecimal() and len(text) <= _LONGEST:
        return Number("", text, "", "", Written.SHORT if len(text) <= 3 else Written.LONG)
    if not 0 < len(text) <= _LONGEST:
        return None
    found = _CELL.fullmatch(text)
    return _of_another_form(text) if found is None else _of_cell(found)


def _of_another_form(text: str) -> Number | None:
    """A duration, or a number with brackets or a currency around it."""
    if time := duration(text):
        power = f"e-{time.decimals}" if time.decimals else ""
        return Number(time.sign, time.digits, power, "s", Written.SHORT)
    around = bare(text)
    found = None if around is None else _CELL.fullmatch(around[0])
    if around is None or found is None or (found["unit"] and around[1]):
        return None
    one = _of_cell(found)
    return None if one is None else dataclasses.replace(one, unit=around[1] or one.unit)


def _of_cell(found: re.Match[str]) -> Number | None:
    body = found["body"].replace("\u066b", ".")
    kept = _GROUPS.sub("", body)
    spaced = kept != body
    if spaced and not _spaced_well(body):
        return None
    written = _written(kept, decided=spaced or bool(found["power"]) or "\u066b" in found["body"])
    if written is None:
        return None
    sign = found["sign"].replace("\u2212", "-")
    return Number(sign, kept, found["power"] or "", found["unit"] or "", written)


def endless(text: str) -> float | None:
    """Plus or minus infinity, where the cell holds it."""
    text = text.strip()
    size = _ENDLESS.get(text.lstrip("+-").lower())
    return None if size is None else -size if text.startswith("-") else size


def _spaced_well(body: str) -> bool:
    whole = re.split("[.,]", body, maxsplit=1)[0]
    groups = re.split(f"[{_GROUPING}]", whole)
    decimals = body[len(whole) :]
    return (
        len({mark for mark in body if mark in _GROUPING}) == 1
        and 1 <= len(groups[0]) <= 3
        and all(len(group) == 3 for group in groups[1:])
        and not re.search(f"[{_GROUPING}]", decimals)
    )


def _written(body: str, *, decided: bool) -> Written | None:
    """How a number is written, by its marks; `decided` where something else shows the decimal mark."""
    marks = [mark for mark in body if mark in ".,"]
    if not marks:
        return Written.LONG if len(body) > 3 else Written.SHORT
    last = marks[-1]
    proof = Written.POINT if last == "." else Written.COMMA
    opposite = Written.COMMA if last == "." else Written.POINT
    if len(set(marks)) == 2:
        other = "," if last == "." else "."
        whole, _, decimals = body.rpartition(last)
        fits = marks.count(last) == 1 and _grouped(whole, other) and bool(decimals)
        return proof if fits else None
    if len(marks) == 3 and all(len(part) <= 3 and int(part) <= 255 for part in body.split(last)):
        # An address of four bytes is not a number and proves nothing about the other cells.
        return None
    if len(marks) > 1:
        return opposite if _grouped(body, last) and not decided else None
    whole, _, decimals = body.partition(last)
    if decided or not re.fullmatch(r"[1-9]\d{0,2}", whole) or len(decimals) != 3:
        return proof
    return Written.EITHER_POINT if last == "." else Written.EITHER_COMMA


def _grouped(whole: str, mark: str) -> bool:
    """Whether the digits are grouped as thousands, or as lakhs and crores."""
    first, *others = whole.split(mark)
    if not re.fullmatch(r"[1-9]\d{0,2}", first) or not all(part.isdecimal() for part in others):
        return False
    sizes = [len(part) for part in others]
    return all(size == 3 for size in sizes) or (
        sizes[-1] == 3 and all(size == 2 for size in sizes[:-1]) and len(first) <= 2
    )


@dataclass
class CellsSeen:
    """How the numbers of one column are written, by all its cells."""

    cells: int = 0
    """Cells with something in them."""
    numbers: int = 0
    seen: dict[Written, str] = field(default_factory=dict)
    """The first cell of each writing."""
    units: Counter[str] = field(default_factory=Counter)
    odd: str | None = None
    """The first cell that is not a number."""
    clock: str | None = None
    """The first cell that is a duration, or a time of day."""
    negative: str | None = None
    """The first cell whose sign is not before its number."""

    def add(self, texts: Iterable[str | None], counts: Iterable[int] | None = None) -> None:
        """Look at further cells.

        Args:
            texts: of the cells.
            counts: how often each text is in the column; None for once.
        """
        for text, count in Counter(texts).items() if counts is None else zip(texts, counts, strict=True):
            if text is None or text.strip() in MISSING:
                continue
            self.cells += count
            one = number(text)
            if one is None and endless(text) is None:
                self.odd = self.odd or text.strip()
                continue
            self.numbers += count
            if one is not None:
                if self.clock is None and ":" in text and is_clock(text.strip()):
                    self.clock = text.strip()
                if self.negative is None and one.sign == "-" and text.strip()[0] not in "-\u2212":
                    self.negative = text.strip()
                self.seen.setdefault(one.written, text.strip())
                if one.unit or one.body.strip("0."):
                    self.units[one.unit] += count

    @property
    def proved(self) -> set[str]:
        """Decimal marks that cells of it prove."""
        return {mark for written, mark in _PROOFS.items() if written in self.seen}

    @property
    def is_numeric(self) -> bool:
        """Whether it has numbers and nothing else."""
        return self.numbers > 0 and self.odd is None


class TwoReadingsError(Exception):
    """A column can be read in two ways, or in none; the text names both and how to choose."""


def decimal_mark(
    column: CellsSeen, others: Iterable[CellsSeen], separator: str | None, *, machine: bool
) -> str:
    """The mark before decimals in a column.

    Args:
        column: all its cells.
        others: the other columns of the file, as far as they were read.
        separator: of the file; None where there is none that a locale would choose.
        machine: whether a program without a locale wrote the file.

    Raises:
        TwoReadingsError: nothing in the file settles it, or its cells contradict one another.
    """
    proved, seen = column.proved, column.seen
    undecided = {mark for written, mark in _OPEN.items() if written in seen}
    if len(proved) == 2:
        first, second = seen[Written.POINT], seen[Written.COMMA]
        raise TwoReadingsError(
            f"has both {_shown(first)}, where the decimal mark is a point, and {_shown(second)}, where it is "
            "a comma. Write all its numbers in one way."
        )
    if proved:
        return proved.pop()
    of_others = set[str]().union(*(other.proved for other in others if other.is_numeric))
    if len(undecided) == 2:
        if len(of_others) == 1:
            return of_others.pop()
        raise TwoReadingsError(_either(seen, Written.EITHER_POINT))
    if not undecided:
        return of_others.pop() if len(of_others) == 1 else "."
    mark = undecided.pop()
    if Written.LONG in seen:
        # Thousands are not grouped here, so the mark does not group them.
        return mark
    if len(of_others) == 1:
        return of_others.pop()
    if mark == "." and (machine or (separator in _OF_PROGRAMS and Written.SHORT not in seen)):
        return mark
    raise TwoReadingsError(_either(seen, Written.EITHER_POINT if mark == "." else Written.EITHER_COMMA))


_OF_PROGRAMS = (",", " ")
"""Separators of files whose decimal mark is not a comma, unless somebody quoted every cell."""


def _either(seen: dict[Written, str], written: Written) -> str:
    text = seen[written]
    one = number(text)
    readings = {mark: one.value(mark) if one is not None else None for mark in ".,"}
    short = (
        f" Numbers without a mark, such as {_shown(seen[Written.SHORT])}, do not show which mark is the "
        "decimal mark."
        if Written.SHORT in seen
        else ""
    )
    return (
        f"can be read in two ways: {_shown(text)} is {readings['.']:g} with a decimal point, and "
        f"{readings[',']:g} with a decimal comma.{short} No other column of the file shows which is meant. "
        "Name the decimal mark with --decimal . or --decimal ,"
    )


def _shown(text: str) -> str:
    return printable(text[:40])
