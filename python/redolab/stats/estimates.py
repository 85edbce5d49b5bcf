"""A number with its uncertainty, and the ways a sample of numbers becomes one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
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

    Values that are None were not available and are left out. One value has no interval. The
    interval takes the values as independent: see the effective sample size in the diagnostics.

    Source: SciPy, `scipy.stats.t`.
    """
    from scipy import stats

    known = [float(value) for value in values if value is not None]
    if not known:
        return Estimate(None, None, None, level)
    point = math.fsum(known) / len(known)
    if len(known) == 1:
        return Estimate(point, None, None, level)
    spread = float(stats.sem(known))
    # A spread that is rounding error alone (equal values) has no meaningful t quantile.
    if spread <= abs(point) * 1e-14:
        return Estimate(point, point, point, level)
    low, high = stats.t.interval(level, len(known) - 1, loc=point, scale=spread)
    return Estimate(point, float(low), float(high), level)


def quotient_estimate(parts: Iterable[tuple[float, float]], level: float = 0.95) -> Estimate:
    """A sum over another, as time over commits, with Student's t interval; missing where the other is 0.

    So a mean is over all there was, and a sample counts by what it had. Little's law holds for such a mean
    time beside a throughput that is a mean over samples of equal length.

    Args:
        parts: of each sample its share of either sum.
        level: of the interval.

    Source: Cochran, Sampling Techniques, 3rd ed. 1977, 2.11 (the variance of a ratio).
    """
    from scipy import stats

    known = list(parts)
    upper, lower = (math.fsum(column) for column in zip(*known, strict=True)) if known else (0.0, 0.0)
    if not lower:
        return Estimate(None, None, None, level)
    point = upper / lower
    if len(known) == 1:
        return Estimate(point, None, None, level)
    residuals = math.fsum((mine - point * of) ** 2 for mine, of in known)
    spread = math.sqrt(residuals * len(known) / (len(known) - 1)) / abs(lower)
    half = float(stats.t.ppf((1 + level) / 2, len(known) - 1)) * spread
    return Estimate(point, point - half, point + half, level)


def median_estimate(values: Iterable[float], seed: int, level: float = 0.95) -> Estimate:
    """The median with a bootstrap interval, in the unit of `values`: one odd value does not carry it.

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

    With no hits the upper end is what the trials cannot rule out.

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
    logs = mean_estimate(log_ratios, level)
    return Estimate(_exp(logs.point), _exp(logs.low), _exp(logs.high), level)


def _exp(value: float | None) -> float | None:
    if value is None:
        return None
    try:
        return math.exp(value)
    except OverflowError:
        # Two blocks far apart give an interval without an upper end that a float can hold.
        return None
