"""How long each wait for the log took, over all stretches: the buckets of each added up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from redolab.analysis.observed.awr.shares import Cumulative


def together(*kinds: Mapping[str, float]) -> tuple[Cumulative, ...]:
    """What part of the waits of each kind took less than each upper end that any kind has, seconds.

    Args:
        kinds: waits of one kind by the upper end of their bucket in ms; `inf` has no end. A bucket without
            waits need not be there.
    """
    counts = [_known(kind) for kind in kinds]
    ends = sorted({end for kind in counts for end in kind if math.isfinite(end)})
    return tuple(_shares(kind, ends) for kind in counts)


def _shares(counts: Mapping[float, float], ends: Sequence[float]) -> dict[float, float]:
    whole = math.fsum(counts.values())
    if not whole > 0:
        return {}
    return {
        end / 1e3: min(1.0, math.fsum(count for at, count in counts.items() if at <= end) / whole)
        for end in ends
    }


def _known(counts: Mapping[str, float]) -> dict[float, float]:
    ends = ((_end(name), max(count, 0.0)) for name, count in counts.items())
    return {end: count for end, count in ends if not math.isnan(end)}


def at_least(shares: Cumulative, part: float) -> float | None:
    """The shortest upper end, seconds, below which so great a part of the waits was; None where none is."""
    return next((end for end, share in shares.items() if share >= part), None)


def _end(name: str) -> float:
    try:
        end = float(name)
    except ValueError:
        return math.nan
    return end if end > 0 else math.nan
