"""How long waits took, not on average but each: shares of an event's waits by their time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redolab.records.report import Entry

Cumulative = Mapping[float, float]
"""A time in seconds to the share of the waits that took less, 0 to 1."""


def cumulative(entries: Sequence[Entry]) -> dict[float, float]:
    """What part of an event's waits took less than each printed bound.

    A report prints several tables of one event, each finer in its own range and with everything shorter in
    its first column, so each tells the shares below its own bounds.

    Args:
        entries: of one event's histogram in one report, in the order printed.
    """
    found: dict[float, float] = {}
    below = 0.0
    for entry in entries:
        first, dash, last = entry.measure.rpartition("-")
        if not dash or not last or entry.value is None:
            continue
        # Negative exponents have a dash too.
        low, high = _ends(entry.measure)
        if low == 0:
            below = 0.0
        below += entry.value / 100
        if high is not None and first:
            found[high] = min(1.0, below)
    return dict(sorted(found.items()))


def together(parts: Sequence[tuple[float, Cumulative]]) -> dict[float, float]:
    """The same of several reports, each with its number of waits; at the bounds that all of them have."""
    whole = sum(weight for weight, _ in parts)
    if not parts or whole <= 0:
        return {}
    bounds = set.intersection(*(set(shares) for _, shares in parts))
    return {
        bound: sum(weight * shares[bound] for weight, shares in parts) / whole for bound in sorted(bounds)
    }


def _ends(measure: str) -> tuple[float, float | None]:
    """The two times of a measure such as `0.001-0.002`, `8e-06-1.6e-05` or `2-`."""
    for place, sign in enumerate(measure):
        if sign == "-" and place and measure[place - 1] != "e":
            rest = measure[place + 1 :]
            return float(measure[:place]), float(rest) if rest else None
    return 0.0, None
