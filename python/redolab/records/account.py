"""Where time went: rows of seconds over one interval, the same for every source that measures it."""

from __future__ import annotations

import math
import typing
from dataclasses import dataclass
from typing import Literal

Scope = Literal["session", "instance"]
"""Whose time it is: the sessions' alone, or that of all server processes, background ones among them."""
_SCOPES: tuple[str, ...] = typing.get_args(Scope)
_ROUNDING = 1e-9
"""Part of the time in all rows: rows that were divided so that they add up differ only by rounding."""


@dataclass(frozen=True)
class AccountRow:
    """Time that went into one thing.

    Raises:
        ValueError: a field contradicts its documentation.
    """

    scope: Scope
    row: str
    """Name of the row: `on_cpu`, `run_queue`, `Class:Event` (words: `redolab.dialect.row_names`)."""
    seconds: float | None
    """Process-seconds; None where they are not known, and then `reason` gives the reason.

    May be negative: `unaccounted` is a remainder, and the parts can exceed the whole.
    """
    from_s: float
    """Beginning of the interval, seconds since the run, the profile or the first report began."""
    to_s: float
    """Its end, on the same clock."""
    source: str
    """Where the figure comes from: the kernel's accounts, the wait sampler, a section of a report, ..."""
    count: float | None = None
    """How many waits, or other units, took this time; None where only their time is known."""
    reason: str | None = None
    """Why there are no seconds; None where there are."""

    def __post_init__(self) -> None:
        if self.scope not in _SCOPES:
            raise ValueError(f"an account's scope is {self.scope!r}, but must be one of {', '.join(_SCOPES)}")
        if not self.row or not self.source:
            raise ValueError(f"a row of an account needs a name and a source: {self.row!r}, {self.source!r}")
        numbers = [self.from_s, self.to_s, self.seconds or 0.0, self.count or 0.0]
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"the row {self.row} of an account has a number that is not finite")
        if self.from_s > self.to_s:
            raise ValueError(f"the row {self.row} has an interval that ends before it begins")
        if self.count is not None and self.count < 0:
            raise ValueError(f"the row {self.row} has the count {self.count:g}, which is below zero")
        if (self.seconds is None) != bool(self.reason):
            raise ValueError(
                f"the row {self.row} needs either seconds or the reason why they are not known, not both"
            )


@dataclass(frozen=True)
class Account:
    """The rows of one scope over one interval: disjoint parts of a whole.

    Raises:
        ValueError: there is no row, two have the same name, they differ in scope or interval, or they do not
            add up to `elapsed_s`.
    """

    rows: tuple[AccountRow, ...]
    elapsed_s: float | None = None
    """Process-seconds to which the rows add up, measured without them; None where nobody measured it."""

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("an account needs a row")
        names = [item.row for item in self.rows]
        if len(set(names)) != len(names):
            raise ValueError(f"an account has two rows of the same name among {', '.join(names)}")
        if len({(item.scope, item.from_s, item.to_s) for item in self.rows}) > 1:
            raise ValueError("the rows of an account differ in their scope or in their interval")
        if self.elapsed_s is not None and not self.adds_up_to(self.elapsed_s):
            raise ValueError(
                f"the rows of an account add up to {self.total_s} s, but {self.elapsed_s} s have elapsed"
            )

    @property
    def total_s(self) -> float | None:
        """Process-seconds of all rows; None where those of a row are not known."""
        times = self.times()
        return None if times is None else sum(times.values())

    def times(self) -> dict[str, float] | None:
        """Process-seconds by the name of the row; None where those of a row are not known."""
        known = {item.row: item.seconds for item in self.rows if item.seconds is not None}
        return known if len(known) == len(self.rows) else None

    def row(self, name: str) -> AccountRow | None:
        """The row of that name; None where no time was found to go there."""
        return next((item for item in self.rows if item.row == name), None)

    def adds_up_to(self, elapsed_s: float) -> bool:
        """Whether the rows are all known and add up to `elapsed_s` seconds, rounding apart."""
        times = self.times()
        if times is None:
            return False
        parts = [*times.values(), -elapsed_s]
        return abs(math.fsum(parts)) <= _ROUNDING * math.fsum(map(abs, parts))
