"""Lengths of single waits: shares of an event's waits by their time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from redolab.analysis.observed.exhibits import Cumulative
from redolab.records.report import Entry


def cumulative(entries: Sequence[Entry]) -> dict[float, float]:
    """The share of an event's waits that took less than each printed bound.

    A report prints several tables of one event, each finer in its own range and with everything shorter in
    its first column, so each gives the shares below its own bounds.

    Args:
        entries: those of one event's histogram in one report, in the order printed.
    """
    found: dict[float, float] = {}
    below = 0.0
    for low, high, percent in between(entries):
        if math.isfinite(high):
            below = percent / 100 + (below if low else 0.0)
            found[high] = min(1.0, below)
    return dict(sorted(found.items()))


def between(entries: Sequence[Entry]) -> Iterator[tuple[float, float, float]]:
    """Two times in seconds, of which the second may be infinite, and the percent of the waits between."""
    for entry in entries:
        low, to, high = entry.measure.replace(" and more", " to inf").partition(" to ")
        if to and entry.value is not None:
            yield float(low), float(high), entry.value


def together(parts: Sequence[tuple[float, Cumulative]]) -> dict[float, float]:
    """The shares over several reports, each with its number of waits; at the bounds that all of them have."""
    whole = sum(weight for weight, _ in parts)
    if not parts or whole <= 0:
        return {}
    bounds = set.intersection(*(set(shares) for _, shares in parts))
    return {
        bound: sum(weight * shares[bound] for weight, shares in parts) / whole for bound in sorted(bounds)
    }
