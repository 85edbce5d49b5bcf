"""The means of groups: the published "plus and minus", and the range of a further mean."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from redolab.stats.estimates import Estimate

Floats = npt.NDArray[np.float64]
Parent = Literal["normal", "exponential"]

DEVIATIONS = 2.0
"""Standard deviations of the published range."""
NORMAL_SHARE = math.erf(DEVIATIONS / math.sqrt(2))
"""Part of a normal distribution within two standard deviations of its mean."""


@dataclass(frozen=True)
class PlusAndMinus:
    """Mean of the means, and how far a further mean will lie from it."""

    mean: float
    standard_deviation: float
    low: float
    high: float
    inside: int
    """Number of means between `low` and `high`."""
    count: int


def plus_and_minus(means: Sequence[float] | Floats, deviations: float = DEVIATIONS) -> PlusAndMinus:
    """The mean of sample means plus and minus `deviations` standard deviations, in their unit.

    Raises:
        ValueError: fewer than two means have no standard deviation.

    Source: Craig Shallahamer, OraPub, "Wanna Bet" (28 February 2012).
    """
    if len(means) < 2:
        raise ValueError(f"{len(means)} means have no standard deviation; at least two are needed")
    if isinstance(means, np.ndarray):
        mean, spread = float(means.mean()), float(means.std(ddof=1))
    else:
        mean, spread = statistics.fmean(means), statistics.stdev(means)
    low, high = mean - deviations * spread, mean + deviations * spread
    values = np.asarray(means, dtype=float)
    inside = int(((low <= values) & (values <= high)).sum())
    return PlusAndMinus(mean, spread, low, high, inside, len(means))


def group_means(values: Floats, groups: int | None = None) -> tuple[Floats, int]:
    """The means of consecutive values cut into equal groups without reuse, and the size of a group.

    Without `groups`, as many groups as values in each. Values beyond the last whole group are left
    out. Fewer than two groups of two values give no means.

    Source: Craig Shallahamer, OraPub, "Wanna Bet" (28 February 2012): 900 values in 30 groups of 30.
    """
    count = math.isqrt(values.size) if groups is None else groups
    size = values.size // count if count else 0
    if count < 2 or size < 2:
        return np.empty(0), size
    return values[: count * size].reshape(count, size).mean(axis=1), size


def prediction_interval(means: Sequence[float] | Floats, level: float = 0.95) -> Estimate:
    """Where the next mean will lie, in the unit of the means: mean +- t s sqrt(1 + 1/k).

    For k means that are normal and independent the next one falls inside with probability `level`,
    however few they are. Fewer than two means have no interval.

    Source: SciPy, `scipy.stats.t`; G. J. Hahn and W. Q. Meeker, "Statistical Intervals" (1991).
    """
    from scipy import stats

    values = np.asarray(means, dtype=float)
    if not values.size:
        return Estimate(None, None, None, level)
    middle = float(values.mean())
    if values.size < 2:
        return Estimate(middle, None, None, level)
    reach = float(stats.t.ppf((1 + level) / 2, values.size - 1))
    reach *= float(values.std(ddof=1)) * math.sqrt(1 + 1 / values.size)
    return Estimate(middle, middle - reach, middle + reach, level)


def normal_coverage(groups: int, deviations: float = DEVIATIONS) -> float:
    """Probability, 0 to 1, that the next mean lies within `deviations` standard deviations of the mean.

    Both are computed from `groups` normal means. With many means it is the probability of the normal
    distribution (95.4 % for two standard deviations), with few it is less: 85.8 % for five means.

    Source: SciPy, `scipy.stats.t`; the interval of `prediction_interval` solved for its level.
    """
    from scipy import stats

    return float(1 - 2 * stats.t.sf(deviations / math.sqrt(1 + 1 / groups), groups - 1))


def normal_inside(groups: int, deviations: float = DEVIATIONS) -> float:
    """Part of normal means, 0 to 1, within `deviations` standard deviations of their own mean.

    Mean and standard deviation are those of the same `groups` means, three at least. So the part is a little
    larger than in a whole normal distribution: 96.0 % for 30 means and two deviations.

    Source: W. R. Thompson, "On a criterion for the rejection of observations" (1935): the
    studentised deviation of a value from the mean of its own sample; SciPy, `scipy.stats.t`.
    """
    from scipy import stats

    free = groups - 2
    # In standard deviations of such a deviation, which is smaller by sqrt(1 - 1/k).
    reach = deviations / math.sqrt(1 - 1 / groups)
    if reach**2 >= groups - 1:
        return 1.0
    student = reach * math.sqrt(free / (groups - 1 - reach**2))
    return float(1 - 2 * stats.t.sf(student, free))


def simulated_coverage(
    groups: int, size: int, parent: Parent, trials: int, seed: int, deviations: float = DEVIATIONS
) -> tuple[int, int]:
    """How often the next mean really lies within `deviations` standard deviations: hits and trials.

    Each trial draws `groups` + 1 means of `size` values of the parent. A mean of n exponential values
    is a gamma variable of shape n over n, so that no single value need be drawn.

    Source: NumPy, `numpy.random.Generator`.
    """
    rng = np.random.default_rng(seed)
    if parent == "normal":
        means = rng.normal(0.0, 1 / math.sqrt(size), (trials, groups + 1))
    else:
        means = rng.gamma(size, 1 / size, (trials, groups + 1))
    known, following = means[:, :groups], means[:, groups]
    reach = deviations * known.std(axis=1, ddof=1)
    return int((np.abs(following - known.mean(axis=1)) <= reach).sum()), trials
