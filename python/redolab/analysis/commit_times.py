"""Percentiles of commit and response times, from the histograms of the samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from redolab.records.sample import Sample
from redolab.stats.estimates import Estimate, ratio_estimate

Histogram = Mapping[float, int]
"""Upper bound of a bucket, microseconds, to the commits in it."""
PERCENTS = (50, 95, 99)


def percentile_us(histogram: Histogram, percent: float) -> float | None:
    """The time within which `percent` of the commits were done, microseconds; None without any.

    It is the upper bound of the bucket in which that commit lies, so at most a thousandth or half a
    microsecond too long.

    Source: HdrHistogram, value at percentile.
    """
    total = sum(histogram.values())
    wanted, counted = total * percent / 100, 0
    for upper_us, commits in sorted(histogram.items()):
        counted += commits
        if counted >= wanted and counted:
            return upper_us
    return None


def means_of_parts_us(histogram: Histogram, parts: int) -> list[float]:
    """Mean time of the shortest `1 / parts` of the commits, of the next, and so on; in us, never falling.

    Their mean is that of all, within the buckets' width. There must be a commit.
    """
    import numpy as np

    ordered = sorted(histogram.items())
    ends = np.cumsum([0, *(number for _, number in ordered)])
    # The time that the first so many commits take together, linear within a bucket.
    sums = np.cumsum([0.0, *(upper_us * number for upper_us, number in ordered)])
    cuts = np.linspace(0, ends[-1], parts + 1)
    means = np.diff(np.interp(cuts, ends, sums)) / np.diff(cuts)
    # Equal means differ in the last bit.
    return [float(mean) for mean in np.sort(means)]


def commit_time_ms(
    samples: Iterable[Sample], histograms: Mapping[int, Histogram], percent: float
) -> Estimate:
    """A percentile of the times in the histograms, milliseconds: the geometric mean over the percentiles of
    the samples, with Student's t interval on the logarithms, so that one slow sample does not decide it.

    Missing where no times were noted.
    """
    found = (percentile_us(histograms.get(sample.sample, {}), percent) for sample in samples)
    return ratio_estimate(math.log(value) for value in found if value is not None).scaled(1e-3)
