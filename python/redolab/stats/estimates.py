"""A number with its uncertainty, and the ways a sample of numbers becomes one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from redolab import units


@dataclass(frozen=True)
class Estimate:
    """A point and its interval; `None` where the data do not give one."""

    point: float | None
    low: float | None
    high: float | None
    level: float = 0.95
    """The confidence level of the interval, 0 to 1."""

    def as_json(self) -> dict[str, float | None]:
        """The estimate as the results object has it; what is not finite is null."""
        return {
            "point": finite(self.point),
            "low": finite(self.low),
            "high": finite(self.high),
            "level": self.level,
        }

    def scaled(self, factor: float) -> Estimate:
        """The same estimate in another unit; `factor` must be positive."""
        return Estimate(
            None if self.point is None else self.point * factor,
            None if self.low is None else self.low * factor,
            None if self.high is None else self.high * factor,
            self.level,
        )

    def text(self, unit: str = "", write: Callable[[float], str] = units.significant) -> str:
        """The estimate in a sentence, as `units.with_interval` writes it."""
        return units.with_interval(self.point, self.low, self.high, unit, write)


_RESAMPLES = 2_000
MISSING = Estimate(None, None, None)


def finite(value: float | None) -> float | None:
    """`value` as a plain float, or None when there is none or it is not finite."""
    return float(value) if value is not None and math.isfinite(value) else None


def mean_estimate(values: Iterable[float | None], level: float = 0.95) -> Estimate:
    """The mean with Student's t interval, in the unit of `values`.

    Values that are None were not available and are left out. One value has no interval. The interval treats
    the values as independent: see the effective sample size in the diagnostics.

    Source: SciPy, `scipy.special.stdtrit`.
    """
    known = [float(value) for value in values if value is not None]
    if not known:
        return Estimate(None, None, None, level)
    point = math.fsum(known) / len(known)
    if len(known) == 1:
        return Estimate(point, None, None, level)
    import numpy as np
    from scipy import special

    spread = float(np.std(known, ddof=1)) / len(known) ** 0.5
    # A spread that is rounding error alone (equal values) has no meaningful t quantile.
    if spread <= abs(point) * 1e-14:
        return Estimate(point, point, point, level)
    low, high = (
        float(special.stdtrit(len(known) - 1, share)) * spread + point
        for share in ((1 - level) / 2, (1 + level) / 2)
    )
    return Estimate(point, low, high, level)


def quotient_estimate(
    parts: Iterable[tuple[float, float]],
    level: float = 0.95,
    *,
    part: bool = False,
    signed: bool = False,
    unequal: bool = False,
) -> Estimate:
    """A sum over another, as time over commits, with Student's t interval; missing where the other is 0.

    So a mean is over all work, and a sample is weighted by its own sum. Little's law holds for such a mean
    time together with a throughput that is a mean over samples of equal length. The interval is symmetric
    unless that would reach below zero, or above 1 for a part: then it is the interval of the logarithm, or of
    the logit.

    Args:
        parts: each sample's part of either sum.
        level: of the interval.
        part: whether the first sum is a part of the other, so that the quotient is at most 1.
        signed: whether the quotient may be below zero.
        unequal: whether samples may be of very different sizes, as busy and quiet hours are: they then count
            as the number of samples of equal size with the same worth.

    Source: Cochran, Sampling Techniques, 3rd ed. 1977, 2.11 (the variance of a ratio).
    """
    known = list(parts)
    upper, lower = (math.fsum(column) for column in zip(*known, strict=True)) if known else (0.0, 0.0)
    if not lower:
        return Estimate(None, None, None, level)
    point = upper / lower
    if len(known) == 1:
        return Estimate(point, None, None, level)
    residuals = math.fsum((mine - point * of) ** 2 for mine, of in known)
    spread = math.sqrt(residuals * len(known) / (len(known) - 1)) / abs(lower)
    degrees = _degrees([of for _, of in known]) if unequal else len(known) - 1
    return _around(point, spread, degrees, level, part=part, signed=signed)


def function_estimate(
    point: float,
    slopes: Sequence[float],
    quotients: Sequence[Sequence[tuple[float, float]]],
    level: float = 0.95,
) -> Estimate:
    """A positive function of several quotients of sums, with the interval that their samples' scatter gives.

    Quotients of the same samples move together, so each sample's effect on the function is added up first.

    Args:
        point: the function of the quotients.
        slopes: slopes of the function in each of them.
        quotients: the parts of each, as `quotient_estimate` takes them; of the same samples in one order.
        level: of the interval.

    Source: Cochran, Sampling Techniques, 3rd ed. 1977, 2.11; the function is linear nearby (delta method).
    """
    count = len(quotients[0])
    if count < 2:
        return Estimate(point, None, None, level)
    moved = [0.0] * count
    for slope, parts in zip(slopes, quotients, strict=True):
        upper, lower = (math.fsum(column) for column in zip(*parts, strict=True))
        for place, (mine, of) in enumerate(parts):
            moved[place] += slope * (mine - upper / lower * of) / lower
    spread = math.sqrt(math.fsum(value**2 for value in moved) * count / (count - 1))
    return _around(point, spread, _degrees([of for _, of in quotients[0]]), level)


def _around(
    point: float,
    spread: float,
    degrees: float,
    level: float,
    *,
    part: bool = False,
    signed: bool = False,
) -> Estimate:
    """A point with Student's t interval, given its standard error and the degrees of freedom."""
    from scipy import special

    half = float(special.stdtrit(degrees, (1 + level) / 2)) * spread
    low, high = point - half, point + half
    outside = low < 0 or (part and high > 1)
    # A value below zero, or above the whole, does not have the stated meaning, so its interval stays
    # symmetric.
    if signed or point < 0 or not outside:
        return Estimate(point, low, high, level)
    return skewed(point, half, level, part=part)


def _degrees(weights: Sequence[float]) -> float:
    """Degrees of freedom of samples: one less than their number, or than their effective number.

    Source: L. Kish, Survey Sampling (1965), 8.2 (the effective number of unequal weights).
    """
    if max(weights) <= _ALIKE * min(weights):
        return len(weights) - 1
    squares = math.fsum(weight**2 for weight in weights)
    return max(1.0, math.fsum(weights) ** 2 / squares - 1)


_ALIKE = 1.5
"""Largest ratio of weights that count as alike."""
_MOST_LOG = 100.0
"""Largest half width of a logarithm: beyond it nothing is known."""


def skewed(point: float, half: float, level: float, *, part: bool = False) -> Estimate:
    """A positive number with an interval that never reaches zero: that of its logarithm.

    A part of a whole has the interval of its logit, which never reaches 1 either. 0 has no logarithm: its
    lower end is 0.

    Args:
        point: the number.
        half: half of the symmetric interval's width.
        level: of the interval.
        part: whether the number is a part of a whole.
    """
    if point <= 0:
        return Estimate(point, min(point, 0.0), point + half, level)
    if part and point < 1:
        odds = point / (1 - point)
        times = math.exp(min(half / (point * (1 - point)), _MOST_LOG))
        return Estimate(point, odds / (odds + times), odds * times / (1 + odds * times), level)
    times = math.exp(min(half / point, _MOST_LOG))
    return Estimate(point, point / times, point * times, level)


def relative_half_width(value: Estimate) -> float | None:
    """Half of the width that an interval was made from, as a part of its point.

    It is the symmetric interval's own, and the logarithm's of a skewed one (`skewed`), whose ends lie
    further apart. None without an interval.

    Args:
        value: a positive number.
    """
    if value.low is None or value.high is None or not value.point:
        return None
    half = (value.high - value.low) / 2 / value.point
    return min(half, math.log(value.high / value.low) / 2) if value.low > 0 else half


def median_estimate(values: Iterable[float], seed: int, level: float = 0.95) -> Estimate:
    """The median with a bootstrap interval, in the unit of `values`: one odd value does not decide it.

    One value has no interval. With few values its ends are the outermost of them.

    Args:
        values: as they come.
        seed: of the bootstrap.
        level: of the interval.

    Source: SciPy, `scipy.stats.bootstrap`, percentile method.
    """
    import numpy as np
    from scipy import stats

    known = np.array(list(values), float)
    if known.size == 0:
        return Estimate(None, None, None, level)
    point = float(np.median(known))
    if known.size == 1:
        return Estimate(point, None, None, level)
    found = stats.bootstrap(
        (known,), np.median, n_resamples=_RESAMPLES, confidence_level=level, method="percentile",
        vectorized=True, rng=np.random.default_rng(abs(seed)),
    ).confidence_interval  # fmt: skip
    return Estimate(point, float(found.low), float(found.high), level)


def exact_share(hits: int, trials: int, level: float = 0.95) -> Estimate:
    """A share with the exact Clopper-Pearson interval; nulls without trials.

    With no hits the upper end is the largest share that the trials do not rule out.

    Source: SciPy, `scipy.stats.binomtest`.
    """
    if trials == 0:
        return Estimate(None, None, None, level)
    from scipy import stats

    interval = stats.binomtest(hits, trials).proportion_ci(level, method="exact")
    return Estimate(hits / trials, float(interval.low), float(interval.high), level)


def ratio_estimate(log_ratios: Iterable[float | None], level: float = 0.95) -> Estimate:
    """The geometric mean ratio with Student's t interval on the logarithms; no unit.

    `log_ratios` are paired differences of natural logarithms, one per block.
    """
    return ratio_of(mean_estimate(log_ratios, level))


def ratio_of(logs: Estimate) -> Estimate:
    """A ratio from its natural logarithm; what a float cannot hold is missing."""
    return Estimate(_exp(logs.point), _exp(logs.low), _exp(logs.high), logs.level)


def _exp(value: float | None) -> float | None:
    if value is None:
        return None
    try:
        return math.exp(value)
    except OverflowError:
        # Two blocks far apart give an interval without an upper end that a float can hold.
        return None
