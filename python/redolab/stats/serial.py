"""The error of a mean of values that follow each other in time, and so are not independent.

The slow movements of a mean decide its spread. So the spread is computed from the slowest cosines that the
values hold, a few of them, with Student's t for so few (the equal-weighted cosine estimator). Where each
value resembles the one before it, the faster cosines have less power than the slowest; the difference is
given back, by the correlation of neighbours.

Sources: E. Lazarus, D. Lewis, J. Stock, M. Watson, "HAR inference: recommendations for practice", Journal of
Business & Economic Statistics 36 (2018); D. Andrews, J. Monahan, "An improved heteroskedasticity and
autocorrelation consistent covariance matrix estimator", Econometrica 60 (1992), for giving back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST = 4
"""Values below which a mean has no interval: nothing is known of how they follow each other."""
_LEAST_COSINES, _MOST_COSINES = 4, 12
"""More of them would narrow an interval by a tenth at the most, and overlook slow movements."""
_MOST_ALIKE = 0.9
"""The correlation of neighbours that is given back at the most: values that rise and fall with the hours are
more alike, and are not such noise."""


@dataclass(frozen=True)
class MeanError:
    """How far a mean may be from what it estimates."""

    standard: float
    """The standard error, in the unit of the values."""
    degrees: float
    """Degrees of freedom for Student's t."""

    def half_width(self, level: float = 0.95) -> float:
        """Half of the interval's width."""
        from scipy import stats

        return float(stats.t.ppf((1 + level) / 2, self.degrees)) * self.standard


def mean_error(values: Floats, lengths: Floats | None = None) -> MeanError | None:
    """The standard error of the mean of values in their order; None for fewer than `FEWEST`.

    Args:
        values: finite; the addition of each to the mean, so that twice the length has twice the weight.
        lengths: the length of time of each, above 0; None where they are all alike.
    """
    values, lengths = evened(values, np.ones(values.size) if lengths is None else lengths)
    count = values.size
    if count < FEWEST:
        return None
    apart = values - values.mean()
    cosines = min(count - 1, max(_LEAST_COSINES, min(_MOST_COSINES, round(0.4 * count ** (2 / 3)))))
    number = np.arange(1, cosines + 1)
    middle = (np.cumsum(lengths) - lengths / 2) / lengths.sum()
    power = (math.sqrt(2 / count) * (np.cos(np.pi * np.outer(number, middle)) @ apart)) ** 2
    alike = min(max(neighbours(values) or 0.0, 0.0), _MOST_ALIKE)
    # In noise with that correlation, the power of each cosine as a part of the slowest one's.
    part = (1 - alike) ** 2 / ((1 - alike) ** 2 + 2 * alike * (1 - np.cos(np.pi * number / count)))
    return MeanError(math.sqrt(float((power / part).mean()) / count), float(cosines))


def evened(values: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """The values with short ones that follow each other put together, and the lengths of these.

    Neighbours are then equally far apart everywhere: each length is at least nearly the length up to which
    half of the time lies. The mean of the values stays what it was.
    """
    if not values.size or lengths.max() <= _ALIKE * lengths.min():
        return values, lengths
    order = np.argsort(lengths)
    half = int(np.searchsorted(np.cumsum(lengths[order]), lengths.sum() / 2))
    least = _FULL * float(lengths[order][half])
    first, filled = [0], 0.0
    for place, length in enumerate(lengths.tolist()):
        if filled >= least:
            first.append(place)
            filled = 0.0
        filled += length
    together = np.add.reduceat(values, first) * (len(first) / values.size)
    return together, np.add.reduceat(lengths, first)


_ALIKE = 1.5
"""Largest ratio of lengths that count as alike."""
_FULL = 0.75
"""Part of a length from which a piece is full."""


def neighbours(values: Floats) -> float | None:
    """The correlation of one value with the next, corrected for few values; None where they do not vary.

    Source: M. G. Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41 (1954).
    """
    count = values.size
    apart = values - values.mean() if count else values
    whole = float((apart**2).sum())
    if count < FEWEST or whole <= (1e-12 * float(np.abs(values).max())) ** 2 * count:
        return None
    found = float((apart[1:] * apart[:-1]).sum()) / whole
    return min(1.0, found + (1 + 3 * found) / count)


def worth(values: Floats) -> float | None:
    """Number of independent values that would give the mean as well; None where that is not known.

    At most as many as there are. All are of the same length.
    """
    error = mean_error(values)
    if error is None or error.standard <= 0:
        return None
    spread = float(values.var(ddof=1))
    return min(float(values.size), max(1.0, spread / error.standard**2))


def difference(
    one: float, of_one: MeanError | None, other: float, of_other: MeanError | None
) -> tuple[MeanError, float] | None:
    """The error of one mean less another, and the two-sided p-value of their being equal.

    None where one of the errors is not known, or both are nothing.

    Source: B. L. Welch, "The generalization of Student's problem when several different population variances
    are involved", Biometrika 34 (1947).
    """
    if of_one is None or of_other is None:
        return None
    from scipy import stats

    parts = (of_one.standard**2, of_other.standard**2)
    whole = sum(parts)
    if not whole > 0:
        return None
    degrees = whole**2 / (parts[0] ** 2 / of_one.degrees + parts[1] ** 2 / of_other.degrees)
    error = MeanError(math.sqrt(whole), degrees)
    return error, float(2 * stats.t.sf(abs(one - other) / error.standard, degrees))
