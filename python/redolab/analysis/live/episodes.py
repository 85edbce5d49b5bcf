"""Histograms of whole waits, in the doubling buckets of wait event histograms."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from redolab.records.observation import Episodes
from redolab.stats.estimates import finite

_FIRST_MS = 0.125
_MOST_BUCKETS = 24
_PERCENTILES = (0.5, 0.95, 0.99)


def histogram(episodes: Episodes | None) -> dict[str, Any] | None:
    """Counts, shares and percentiles of the lengths of waits, ms; None where none were followed.

    A bucket holds waits longer than `from_ms`, up to `to_ms` (None: no end); one that begins below the
    time between two readings is `incomplete`.

    Shares and percentiles come from the product-limit estimate, so that a wait whose end was not
    seen counts for as long as it was seen to last. `mean_ms` is that estimate's mean up to the
    longest wait: too small when the longest had not ended. There are no intervals: waits that one
    flush ends are one draw, not many.

    Source: Kaplan and Meier, "Nonparametric estimation from incomplete observations", Journal of
    the American Statistical Association 53, 1958; `scipy.stats.ecdf`.
    """
    import numpy as np
    from scipy import stats

    if episodes is None or not (len(episodes.durations_s) + len(episodes.unfinished_s)):
        return None
    finished, unfinished = 1e3 * episodes.durations_s, 1e3 * episodes.unfinished_s
    distribution = stats.ecdf(stats.CensoredData(uncensored=finished, right=unfinished)).sf
    longest = float(max(finished.max(initial=0.0), unfinished.max(initial=0.0)))
    edges = bucket_ends_ms(longest)
    left = np.concatenate([[1.0], np.atleast_1d(distribution.evaluate(np.array(edges[:-1]))), [0.0]])
    resolution = 1e3 * episodes.resolution_s
    buckets = [
        {
            "from_ms": low,
            "to_ms": finite(high),
            "count": int(((finished > low) & (finished <= high)).sum()),
            "share": float(left[place] - left[place + 1]),
            "incomplete": low < resolution,
        }
        for place, (low, high) in enumerate(pairwise([0.0, *edges]))
    ]
    times = np.concatenate([[0.0], distribution.quantiles, [longest]])
    staying = np.concatenate([[1.0], distribution.probabilities])
    return {
        "buckets": buckets,
        "count": len(finished),
        "unfinished": len(unfinished),
        "mean_ms": float((np.diff(times) * staying).sum()),
        **{f"p{100 * q:.0f}_ms": _percentile(distribution, q) for q in _PERCENTILES},
        "longest_ms": longest,
        "resolution_ms": resolution,
        "watched_s": episodes.watched_s,
    }


def bucket_ends_ms(longest_ms: float) -> list[float]:
    """Upper ends of the buckets that such a wait needs, ms; the last has none."""
    # Beyond the most buckets there is nothing, however long.
    doublings = math.log2(max(longest_ms, _FIRST_MS) / _FIRST_MS)
    count = 1 + math.ceil(min(doublings, _MOST_BUCKETS))
    return [_FIRST_MS * 2**place for place in range(min(count, _MOST_BUCKETS))] + [math.inf]


def _percentile(staying: Any, q: float) -> float | None:
    """The first time by which the part `q` of the waits had ended; None when not so many were seen to."""
    ended = staying.probabilities <= 1 - q + 1e-12
    return float(staying.quantiles[ended.argmax()]) if ended.any() else None
