"""Numbers as reports print them: what stands there, how far it was rounded, or why it is none.

A report prints `1,234.5`, `92.4K`, `4.96ms`, `.99ms`, `18.73 s`, `.0` and nothing at all. What was printed
has been rounded by at most half of its last place, which is kept beside the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NUMBER = re.compile(r"(-?)((?:\d{1,3}(?:,\d{3})+|\d{1,18})?)(\.\d{1,9})?")
_WITH_UNIT = re.compile(r"([-\d,.]+) ?([A-Za-z]{0,3})")
_COUNTS: Mapping[str, float] = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
TIMES: Mapping[str, float] = {"s": 1.0, "cs": 1e-2, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Units of time that are printed, in seconds."""
_LONGEST = 40
BLANK = "nothing is printed there"


@dataclass(frozen=True)
class Printed:
    """A number that was printed."""

    value: float | None
    """None where there is none."""
    rounding: float | None
    """Half of the last printed place, in the value's unit."""
    reason: str | None
    """Why there is no value; None where there is one."""

    def times(self, factor: float) -> Printed:
        """The same in another unit."""
        if self.value is None or self.rounding is None:
            return self
        return Printed(self.value * factor, self.rounding * factor, None)


def count(text: str) -> Printed:
    """A number without a unit, perhaps in thousands: `1,234`, `.0`, `92.4K`."""
    found = _with_unit(text)
    if isinstance(found, Printed):
        return found
    number, unit = found
    if unit not in _COUNTS:
        return _none(text)
    return number.times(_COUNTS[unit])


def blank_is_zero(text: str) -> Printed:
    """The same where nothing printed is a zero and `.0` less than a printed place: shares of waits."""
    return Printed(0.0, 0.0, None) if not text else count(text)


def seconds(text: str, unit_s: float | None) -> Printed:
    """A time.

    Args:
        text: as printed, with its unit or without one.
        unit_s: the unit that the column's heading names, in seconds; None where it names none.
    """
    found = _with_unit(text)
    if isinstance(found, Printed):
        return found
    number, unit = found
    factor = TIMES.get(unit) if unit else unit_s
    if factor is None:
        return (
            Printed(None, None, f"{text!r} has no unit, and its heading names none")
            if not unit
            else _none(text)
        )
    return number.times(factor)


def _with_unit(text: str) -> tuple[Printed, str] | Printed:
    if not text:
        return Printed(None, None, BLANK)
    if "#" in text:
        return Printed(None, None, "the number was too wide to be printed (####)")
    found = _WITH_UNIT.fullmatch(text) if len(text) <= _LONGEST else None
    number = _NUMBER.fullmatch(found[1]) if found else None
    if found is None or number is None or not (number[2] or number[3]):
        return _none(text)
    sign, whole, places = number[1], number[2].replace(",", ""), number[3] or ""
    value = float(f"{sign}{whole or '0'}{places}")
    return Printed(value, 0.5 * 10.0 ** -max(0, len(places) - 1), None), found[2]


def _none(text: str) -> Printed:
    return Printed(None, None, f"{text[:_LONGEST]!r} is no number that is read")
