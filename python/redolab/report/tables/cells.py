"""How a figure is written: every number of the page and of the terminal passes through here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from redolab import units

Results = Mapping[str, Any]
"""The results object of a stored run, as `redolab.experiment.answers.analyse` makes it."""

NOT_AVAILABLE = "n/a"


@dataclass(frozen=True)
class ShownColumn:
    """A table column: its title, the unit of its figures, and whether it holds figures or words."""

    title: str
    unit: str = ""
    align: Literal["left", "right"] = "right"


@dataclass(frozen=True)
class Cell:
    """One table cell."""

    text: str
    interval: str = ""
    """`low – high` of the same figure, in the same unit."""
    tone: str = ""
    """An outcome (`better`, `failed`, ...) where the cell states one; never the only sign of it."""

    @property
    def full(self) -> str:
        """The figure with its interval."""
        return f"{self.text} ({self.interval})" if self.interval else self.text


@dataclass(frozen=True)
class ShownTable:
    """A table ready to be shown."""

    key: str
    """Names the table within the page."""
    caption: str
    columns: Sequence[ShownColumn]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True)
class TimeUnit:
    """The unit in which times per unit of work are shown, for a whole report."""

    name: str
    per_ms: float

    def of(self, value_ms: float | None) -> float | None:
        """Convert a time stored in milliseconds."""
        return None if value_ms is None else value_ms * self.per_ms


def time_unit(results: Results) -> TimeUnit:
    """Choose the unit in which the longest response time of the run has a digit before the point."""
    times = [setting.get("response_time_ms") for setting in results["settings"]]
    points = [time["point"] for time in times if time is not None]
    longest = max((abs(point) for point in points if point is not None), default=1.0)
    return TimeUnit("ms", 1.0) if longest >= 1 or longest == 0 else TimeUnit("µs", 1000.0)


def number(value: float | None, digits: int = 3) -> str:
    """Write a figure with `digits` significant digits; `n/a` for what was not available."""
    if value is None:
        return NOT_AVAILABLE
    return units.significant(value, digits)


def part(value: float, whole: float) -> str:
    """Write a part of `whole` to the thousandth of it or 0.000001, so that the parts of a column add up."""
    decimals = max(0, min(6, 3 - math.floor(math.log10(abs(whole))))) if whole else 0
    return f"{round(value, decimals) + 0.0:,.{decimals}f}".replace("-", "−")


def count(value: int | None) -> str:
    """Write a count in full."""
    return NOT_AVAILABLE if value is None else f"{value:,}".replace("-", "−")


def estimate(value: Mapping[str, Any] | None, scale: float = 1.0, suffix: str = "") -> Cell:
    """Write an estimate and its interval, to the digit the interval's width makes meaningful."""
    if value is None or value["point"] is None:
        return Cell(NOT_AVAILABLE)
    point = scale * value["point"]
    if value["low"] is None or value["high"] is None:
        return Cell(number(point) + suffix)
    low, high = scale * value["low"], scale * value["high"]
    if max(abs(low), abs(high)) > 20 * abs(point) > 0:
        # Digits that suit the far end would round the figure itself away.
        return Cell(number(point) + suffix, f"{number(low)} – {number(high)}")
    decimals = _decimals(point, low, high)
    return Cell(
        _fixed(point, decimals) + suffix,
        f"{_fixed(low, decimals)} – {_fixed(high, decimals)}",
    )


def share(value: Mapping[str, Any] | None) -> Cell:
    """Write a share (1.0 is all) in percent; the header carries the unit."""
    return estimate(value, 100.0)


def share_of_time(value: Mapping[str, Any] | None) -> Cell:
    """Write a share of time in percent, with two decimals at most: what is finer is `< 0.01`."""
    if value is None or value["point"] is None:
        return Cell(NOT_AVAILABLE)
    point = 100 * value["point"]
    bare = value["low"] is None or value["high"] is None
    low, high = (point, point) if bare else (100 * value["low"], 100 * value["high"])
    # Digits that suit a far end would round the figure itself away.
    decimals = 2 if max(abs(low), abs(high)) > 20 * abs(point) > 0 else min(2, _decimals(point, low, high))
    text = _fixed(point, decimals)
    if 0 < abs(point) < 0.005:
        text = "< 0.01" if point > 0 else "> −0.01"
    low = math.floor(100 * low) / 100 if abs(low) < 0.005 else low
    high = math.ceil(100 * high) / 100 if abs(high) < 0.005 else high
    return Cell(text, "" if bare else f"{_fixed(low, decimals)} – {_fixed(high, decimals)}")


def change(percent: float | None) -> Cell:
    """Write a change in percent with its sign."""
    if percent is None:
        return Cell(NOT_AVAILABLE)
    text = number(percent) if abs(percent) >= 100 else f"{percent:.1f}".replace("-", "−")
    return Cell(text if text.startswith("−") or percent == 0 else f"+{text}")


def pvalue(value: float | None) -> Cell:
    """Write a p-value."""
    if value is None:
        return Cell(NOT_AVAILABLE)
    return Cell("< 0.0001" if value < 0.0001 else f"{value:.4f}" if value < 0.1 else f"{value:.3f}")


def p_equals(value: float | None) -> str:
    """Write a p-value inside a sentence."""
    text = pvalue(value).text
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def words(value: object) -> Cell:
    """Write anything that is not a figure."""
    if value is None or value == "":
        return Cell(NOT_AVAILABLE)
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    return Cell(str(value))


def level(value: Mapping[str, Any]) -> str:
    """Name an estimate's interval: `95 % interval`."""
    return f"{units.significant(100 * value['level'], 2)} % interval"


def _decimals(point: float, low: float, high: float) -> int:
    largest = max(abs(point), abs(low), abs(high))
    if largest == 0 or not math.isfinite(largest):
        return 0
    by_size = 2 - math.floor(math.log10(largest))
    width = high - low
    if width <= 0:
        return by_size
    # Two digits of a width that begins with 1, 2 or 3, one digit of a wider one.
    power = math.floor(math.log10(width))
    by_width = (1 if width < 3.5 * 10.0**power else 0) - power
    return max(by_size, min(by_width, by_size + 2))


def _fixed(value: float, decimals: int) -> str:
    if value == 0:
        return "0"
    rounded = round(value, decimals) + 0.0
    return f"{rounded:,.{max(0, decimals)}f}".replace("-", "−")


def outcome(name: str) -> Cell:
    """An outcome in words."""
    return Cell(name.replace("_", " "), tone=name.replace(" ", "_"))
