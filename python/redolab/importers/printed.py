"""A number of a report: its value, how far it was rounded, or why there is no value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from redolab.files.tables import LARGEST, SMALLEST

TIMES: Mapping[str, float] = {"s": 1.0, "cs": 1e-2, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Units of time that are printed, in seconds."""


@dataclass(frozen=True)
class Printed:
    """A number that was printed."""

    value: float | None
    """None where there is no value."""
    rounding: float | None
    """Half of the last printed place, in the value's unit."""
    reason: str | None
    """Why there is no value; None where there is one."""

    def times(self, factor: float) -> Printed:
        """The same in another unit."""
        if self.value is None or self.rounding is None:
            return self
        return Printed(self.value * factor, self.rounding * factor, None)

    def kept(self) -> Printed:
        """The same, or the reason why a table of a run cannot hold it.

        Limits of a system, such as 2^63 - 1 bytes, are larger than any figure that enters a computation.
        """
        for number in (self.value, self.rounding):
            if number and not SMALLEST <= abs(number) <= LARGEST:
                return Printed(
                    None,
                    None,
                    f"a run keeps numbers from {SMALLEST:g} to {LARGEST:g}, and this number is outside that "
                    "range",
                )
        return self
