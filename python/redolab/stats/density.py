"""Histograms, raw and smoothed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_FEWEST_BARS, _MOST_BARS = 5, 60


def density(values: Sequence[float] | Floats, points: int = 128) -> tuple[list[float], list[float]]:
    """A smoothed histogram (Gaussian kernel, normal-reference width): places and their density.

    Places have the unit of `values`, densities its inverse. Where all values are positive, as times
    are, places at or below zero are left out. Fewer than three values, or equal ones, have no
    density: empty.

    Source: statsmodels, `KDEUnivariate` by FFT.
    """
    data = np.asarray(values, dtype=float)
    if data.size < 3:
        return [], []
    spread = float(data.std())
    if not math.isfinite(spread) or spread <= abs(float(data.mean())) * 1e-12:
        return [], []
    from statsmodels.nonparametric.kde import KDEUnivariate

    kde = KDEUnivariate(data)
    # Silverman's width with the quartiles is zero when most values are equal: use the spread then.
    quartiles = np.subtract(*np.percentile(data, [75, 25]))
    width = "normal_reference" if quartiles > 0 else 1.059 * spread * data.size**-0.2
    kde.fit(bw=width, fft=True, gridsize=points)
    keep = kde.support > (0 if data.min() > 0 else -math.inf)
    return [float(x) for x in kde.support[keep]], [float(y) for y in kde.density[keep]]


def histogram(values: Floats) -> tuple[list[float], list[float]]:
    """A histogram of 5 to 60 equal bars: the middles of the bars and their density.

    The bars have the width of Freedman and Diaconis where that gives so many; their areas sum to 1.
    Fewer than two values, or equal ones, have no histogram: empty.

    Source: D. Freedman and P. Diaconis, "On the histogram as a density estimator" (1981); NumPy,
    `numpy.histogram`.
    """
    if values.size < 2 or float(np.ptp(values)) == 0:
        return [], []
    quartiles = float(np.subtract(*np.percentile(values, [75, 25])))
    width = 2 * quartiles * values.size ** (-1 / 3)
    wanted = math.ceil(float(np.ptp(values)) / width) if width > 0 else _MOST_BARS
    heights, edges = np.histogram(values, bins=min(max(wanted, _FEWEST_BARS), _MOST_BARS), density=True)
    return [float(x) for x in (edges[1:] + edges[:-1]) / 2], [float(y) for y in heights]


def in_view(values: Floats) -> Floats:
    """The values worth drawing: a far outlier would press everything else into one bar.

    Values are left out that lie further outside the middle 99 % of the values than the width of that part.
    """
    low, high = np.percentile(values, [0.5, 99.5])
    wide = high - low
    if wide == 0:
        return values
    kept: Floats = values[(values >= low - wide) & (values <= high + wide)]
    return kept
