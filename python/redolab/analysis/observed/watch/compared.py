"""One period of a watch against another: every quantity as a ratio, with its interval and its p-value.

Neighbouring stretches are not independent, so each period's error comes from its slow movements
(`redolab.stats.serial`), and the ratio's from both by Welch. P-values are adjusted by Holm over all
quantities. It is not a controlled experiment: nothing was put in random order, and a difference may have
another cause.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab import units
from redolab.analysis.exhibits import Column, Table
from redolab.analysis.observed.figures import WATCH
from redolab.analysis.observed.watch.measures import Found, over_stretches
from redolab.analysis.observed.watch.stretches import Stretches
from redolab.stats.blocks import ALPHA
from redolab.stats.estimates import MISSING, Estimate
from redolab.stats.families import holm
from redolab.stats.serial import FEWEST, MeanError, difference

LOAD = "arrival_rate_per_s"
QUANTITIES: Mapping[str, str] = {
    LOAD: "commits per second",
    "session_response_time_s": "busy time per commit",
    "log_sync_per_commit_s": "log sync per commit",
    "time_per_flush_s": "flush time",
    "time_per_binlog_flush_s": "binlog flush time",
    "commits_per_flush": "commits per flush",
    "service_time_s": "CPU per commit",
    "queue_time_s": "other time per commit",
    "log_sync_share": "log sync's share",
    "busy_sessions": "busy sessions",
    "rows_per_commit": "rows per commit",
    "log_bytes_per_commit": "log per commit",
    "cpu_utilization_threads": "the database's CPU",
    "host_utilization_threads": "the machine's CPU",
}
"""Compared quantities by the keys of `figures.WATCH`, as a sentence names them."""
_NO_EXPERIMENT = (
    "This is not a controlled experiment: nothing was put in random order, and these ratios include whatever "
    "else changed between the periods."
)
_NAMED = 4


@dataclass(frozen=True)
class Quantity:
    """One figure in both periods."""

    key: str
    one: Found
    other: Found
    ratio: Estimate
    """Ratio of the first period to the other."""
    pvalue: float | None
    why: str | None
    """Why there is no p-value; None where there is one."""
    pvalue_adjusted: float | None = None

    @property
    def differs(self) -> bool | None:
        """Whether a difference was found at 5 %, whatever its size; None where it could not be looked for."""
        return None if self.pvalue_adjusted is None else self.pvalue_adjusted < ALPHA

    @property
    def text(self) -> str:
        """In words: `commits 1.35× (1.20 to 1.50)`."""
        ratio = self.ratio
        return f"{QUANTITIES[self.key]} {units.with_interval(ratio.point, ratio.low, ratio.high, '×')}"

    def as_json(self) -> dict[str, Any]:
        """The quantity as the results object has it."""
        return {
            "figure": self.key,
            "period": self.one.estimate().as_json(),
            "against": self.other.estimate().as_json(),
            "ratio": self.ratio.as_json(),
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "differs": self.differs,
            "why_null": self.why,
        }


def compare(one: Stretches, other: Stretches) -> tuple[Quantity, ...]:
    """Every quantity of the first period against the other's; Holm over those that can be compared."""
    found = [_quantity(key, over_stretches(key, one), over_stretches(key, other)) for key in QUANTITIES]
    adjusted = holm([item.pvalue for item in found])
    return tuple(
        Quantity(item.key, item.one, item.other, item.ratio, item.pvalue, item.why, pvalue)
        for item, pvalue in zip(found, adjusted, strict=True)
    )


def sentences(quantities: Sequence[Quantity], names: tuple[str, str]) -> list[str]:
    """The comparison in words, differences first.

    Args:
        quantities: all of them.
        names: of the two periods, such as `This period` and `the rest of the watch`.
    """
    tested = [item for item in quantities if item.differs is not None]
    differing = [item for item in tested if item.differs]
    load = next(item for item in quantities if item.key == LOAD)
    if not tested:
        return [f"{names[0]} cannot be compared with {names[1]}: {quantities[0].why or 'nothing is known'}."]
    said = []
    if not differing:
        said.append(
            f"{names[0]} is not shown to differ from {names[1]} in any of "
            f"{units.counted(len(tested), 'quantity')} (5 %, corrected for several comparisons by Holm); "
            "that does not prove that the two are equal."
        )
    else:
        named = "; ".join(item.text for item in differing[:_NAMED])
        more = f"; and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
        said.append(
            f"{names[0]} differs from {names[1]} in {len(differing)} of "
            f"{units.counted(len(tested), 'quantity')} (5 %, corrected for several comparisons by Holm): "
            f"{named}{more}."
        )
    return [*said, _of_load(load), _NO_EXPERIMENT]


def _of_load(load: Quantity) -> str:
    """Whether the load was the same, by its ratio alone: a caution must not wait for a family of tests."""
    low, high = load.ratio.low, load.ratio.high
    if low is None or high is None:
        return "It is not known whether the load of the two periods was the same."
    if not low <= 1 <= high:
        return (
            f"The load was not the same: {load.text}. Response times, flushes and their sharing depend on "
            "the load, so these ratios do not show the effect of one change alone."
        )
    if low > 1 - _NEARLY and high < 1 + _NEARLY:
        return f"The load was nearly the same: {load.text}."
    return f"It is not known whether the load of the two periods was the same: {load.text}."


_NEARLY = 0.1
"""Distance between two loads below which they are nearly the same."""


def tables(quantities: Sequence[Quantity], names: tuple[str, str]) -> list[Table]:
    """A row for each quantity that is known in a period: its ratio, and its value in either."""
    known = [item for item in quantities if item.one.point is not None or item.other.point is not None]
    ratios = Table(
        "periods",
        f"{names[0]} against {names[1]}",
        (
            Column("figure", "Figure", "text"),
            Column("ratio", "Ratio", "estimate", "×"),
            Column("pvalue", "p, adjusted", "pvalue"),
        ),
        [
            {"figure": WATCH[item.key].name, "ratio": item.ratio, "pvalue": item.pvalue_adjusted}
            for item in known
        ],
        "Each ratio divides a figure of the period by that of the period it is compared with, at 95 %; p is "
        "by Welch's t test, corrected for several comparisons (Holm). Intervals and p allow for the "
        "correlation between successive stretches of time.",
        first=True,
    )
    values = Table(
        "period-values",
        f"{names[0]} and {names[1]}, each by itself",
        (
            Column("figure", "Figure", "text"),
            Column("one", "Period", "estimate"),
            Column("other", "Against", "estimate"),
            Column("unit", "Unit", "text"),
        ),
        [
            {
                "figure": WATCH[item.key].name,
                "one": item.one.estimate().scaled(WATCH[item.key].scale),
                "other": item.other.estimate().scaled(WATCH[item.key].scale),
                "unit": WATCH[item.key].unit,
            }
            for item in known
        ],
    )
    return [ratios, values]


def _quantity(key: str, one: Found, other: Found) -> Quantity:
    why = one.why or other.why
    if one.point is None or other.point is None:
        return Quantity(key, one, other, MISSING, None, why)
    if one.point <= 0 or other.point <= 0:
        return Quantity(key, one, other, MISSING, None, "a ratio needs two figures above zero")
    logs = math.log(one.point) - math.log(other.point)
    ratio = Estimate(math.exp(logs), None, None)
    if one.error is None or other.error is None:
        few = f"a period has fewer than {FEWEST} stretches in which it is known"
        return Quantity(key, one, other, ratio, None, few)
    found = difference(
        math.log(one.point), _relative(one.error, one.point),
        math.log(other.point), _relative(other.error, other.point),
    )  # fmt: skip
    if found is None:
        return Quantity(key, one, other, ratio, None, "the figure was the same in every stretch of time")
    error, pvalue = found
    half = error.half_width()
    return Quantity(
        key, one, other, Estimate(ratio.point, _exp(logs - half), _exp(logs + half)), pvalue, None
    )


def _relative(error: MeanError, point: float) -> MeanError:
    return MeanError(error.standard / point, error.degrees)


def _exp(value: float) -> float | None:
    return math.exp(value) if value < _LARGEST else None


_LARGEST = 700.0
"""Largest logarithm whose power fits into a float."""
