"""Smoothed histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence


def density(values: Sequence[float], points: int = 128) -> tuple[list[float], list[float]]:
    """A smoothed histogram (Gaussian kernel, normal-reference width): places and their density.

    Places have the unit of `values`, densities its inverse. Values are times, so places at or
    below zero are left out. Fewer than three values, or equal ones, have no density: empty.

    Source: statsmodels, `KDEUnivariate` by FFT.
    """
    import numpy as np

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
    keep = kde.support > 0
    return [float(x) for x in kde.support[keep]], [float(y) for y in kde.density[keep]]
