"""How long each wait for the log took, over all stretches: the buckets of each added up."""

from __future__ import annotations

import math
from collections.abc import Mapping

from redolab.analysis.reports.shares import Cumulative


def cumulative(counts: Mapping[str, float]) -> dict[float, float]:
    """What part of the waits took less than each upper end, seconds.

    Args:
        counts: waits by the upper end of their bucket in ms; `inf` has no end.
    """
    ends = sorted((end, count) for end, count in ((_end(name), count) for name, count in counts.items()))
    known = [(end, max(count, 0.0)) for end, count in ends if not math.isnan(end)]
    whole = math.fsum(count for _, count in known)
    if not whole > 0:
        return {}
    found: dict[float, float] = {}
    below = 0.0
    for end, count in known:
        below += count
        if math.isfinite(end):
            found[end / 1e3] = min(1.0, below / whole)
    return found


def waited(counts: Mapping[str, float]) -> float:
    """How many waits there are in all."""
    return math.fsum(max(count, 0.0) for count in counts.values())


def at_least(shares: Cumulative, part: float) -> float | None:
    """The shortest upper end, seconds, below which so great a part of the waits was; None where none is."""
    return next((end for end, share in shares.items() if share >= part), None)


def _end(name: str) -> float:
    try:
        end = float(name)
    except ValueError:
        return math.nan
    return end if end > 0 else math.nan
