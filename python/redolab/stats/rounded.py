"""Numbers that were rounded before anyone saw them: the range that the rounding leaves open, carried through
sums.

Interval arithmetic: the ends of a result are the least and the most that its parts allow. That is wider than
a probability would make it, and needs none.

Source: R. E. Moore, Interval Analysis (1966), chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from redolab.stats.estimates import Estimate

CERTAIN = 1.0
"""The level of an interval that rounding alone leaves open."""


@dataclass(frozen=True)
class Rounded:
    """A number, and the ends between which it must have been."""

    value: float
    low: float
    high: float

    def __add__(self, other: Rounded) -> Rounded:
        return Rounded(self.value + other.value, self.low + other.low, self.high + other.high)

    def __sub__(self, other: Rounded) -> Rounded:
        return Rounded(self.value - other.value, self.low - other.high, self.high - other.low)

    def __mul__(self, other: Rounded) -> Rounded:
        """The product; both must not be negative."""
        return Rounded(self.value * other.value, self.low * other.low, self.high * other.high)

    def per(self, other: Rounded) -> Rounded | None:
        """The quotient by a number that must be positive; None where it may be 0."""
        if other.low <= 0:
            return None
        low = self.low / (other.high if self.low >= 0 else other.low)
        high = self.high / (other.low if self.high >= 0 else other.high)
        return Rounded(self.value / other.value, low, high)

    def times(self, factor: float) -> Rounded:
        """The same in another unit; `factor` must be positive."""
        return Rounded(self.value * factor, self.low * factor, self.high * factor)

    @property
    def width(self) -> float:
        """Distance between its ends."""
        return self.high - self.low

    def estimate(self) -> Estimate:
        """The same as an estimate, whose interval is certain."""
        return Estimate(self.value, self.low, self.high, CERTAIN)


def printed(value: float, rounding: float) -> Rounded:
    """The number that was printed as `value`, which may differ from it by `rounding`; never below 0."""
    return Rounded(value, min(value, max(0.0, value - rounding)), value + rounding)


def exactly(value: float) -> Rounded:
    """A number that was not rounded."""
    return Rounded(value, value, value)


def total(parts: Iterable[Rounded]) -> Rounded:
    """The sum; nothing where there are no parts."""
    found = exactly(0.0)
    for part in parts:
        found += part
    return found


def sharpest(candidates: Iterable[Rounded | None]) -> Rounded | None:
    """The reading of a number that was rounded least, out of several; None where there are no readings."""
    known = [item for item in candidates if item is not None]
    return min(known, key=lambda item: item.width, default=None)
