"""Histograms of whole waits, in the doubling buckets of wait event histograms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
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
    longest wait: too small when the longest had not ended. Intervals are not given: waits that one flush ends
    are one draw, not many.

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


def counted_histogram(
    counts: Mapping[float, int], edges_s: Sequence[float], total: tuple[int, float], watched_s: float
) -> dict[str, Any] | None:
    """The same figures for waits that the server itself counted by length; None where it counted none.

    A percentile is the upper end of the bucket that reaches it, because nothing is known within a bucket;
    null in the last bucket, which has no end. `mean_ms` is the server's time over its count, null where it
    timed none.

    Args:
        counts: waits by the upper end of their bucket, seconds.
        edges_s: upper ends of the buckets shown, in order.
        total: waits and their time in seconds.
        watched_s: how long was watched.
    """
    waits = sum(counts.values())
    if not waits:
        return None
    reached = dict(zip(edges_s, accumulate(counts.get(edge, 0) for edge in edges_s), strict=True))

    def below_ms(part: int) -> float | None:
        return finite(1e3 * next(edge for edge, seen in reached.items() if seen >= part))

    begins = [0.0, *edges_s]
    return {
        "buckets": [
            {
                "from_ms": 1e3 * begins[place],
                "to_ms": finite(1e3 * edge),
                "count": counts.get(edge, 0),
                "share": counts.get(edge, 0) / waits,
                "incomplete": False,
            }
            for place, edge in enumerate(edges_s)
        ],
        "count": waits,
        "unfinished": 0,
        "mean_ms": 1e3 * total[1] / total[0] if total[0] else None,
        **{f"p{100 * q:.0f}_ms": below_ms(math.ceil(q * waits)) for q in _PERCENTILES},
        "longest_ms": below_ms(waits),
        "resolution_ms": 0.0,
        "watched_s": watched_s,
    }


def bucket_ends_ms(longest_ms: float) -> list[float]:
    """Upper ends of the buckets that such a wait needs, ms; the last one is infinite."""
    # Beyond the most buckets there is nothing, however long.
    doublings = math.log2(max(longest_ms, _FIRST_MS) / _FIRST_MS)
    count = 1 + math.ceil(min(doublings, _MOST_BUCKETS))
    return [_FIRST_MS * 2**place for place in range(min(count, _MOST_BUCKETS))] + [math.inf]


def _percentile(staying: Any, q: float) -> float | None:
    """The first time by which the part `q` of the waits had ended; None when not so many were seen to."""
    ended = staying.probabilities <= 1 - q + 1e-12
    return float(staying.quantiles[ended.argmax()]) if ended.any() else None
