"""How long waits took, not on average but each: shares of an event's waits by their time."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.observed.exhibits import Cumulative
from redolab.records.report import Entry


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
        low, to, high = entry.measure.partition(" to ")
        if not to or entry.value is None:
            continue
        below = entry.value / 100 + (below if float(low) else 0.0)
        found[float(high)] = min(1.0, below)
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
