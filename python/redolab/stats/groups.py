"""Do groups of values differ, by how much, and how certain is that?"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from redolab.stats.estimates import MISSING, Estimate, finite
from redolab.stats.families import holm
from redolab.stats.normality import constant
from redolab.stats.published_tests import ALPHA

Floats = npt.NDArray[np.float64]
Direction = Literal["higher", "lower", "undecided"]

ALL_PAIRS = 6
"""Groups up to which every pair is compared; with more, each is compared with the first."""
MOST_GROUPS = 50
"""Groups up to which any are compared singly."""
_FEWEST_RESAMPLED, _MOST_RESAMPLED = 10, 2_000
_RESAMPLES = 1_999


@dataclass(frozen=True)
class Difference:
    """Group `a` against group `b`."""

    a: str
    b: str
    test: str
    """`Welch t` where both are normal, else `Mann-Whitney`."""
    pvalue: float | None
    pvalue_adjusted: float | None
    """p adjusted by Holm over all pairs compared."""
    difference: Estimate
    """Mean of `a` less mean of `b`, in the unit of the values."""
    interval: str
    """How its interval was made: `bootstrap` or `Welch`."""
    hedges_g: Estimate
    """The difference over the pooled standard deviation, corrected for few values."""
    superiority: Estimate
    """Probability that a value of `a` is above one of `b`, ties by half: the common language effect."""
    outcome: Direction

    @property
    def cliffs_delta(self) -> Estimate:
        """The same probability as a number from -1 (all below) to 1 (all above)."""
        share = self.superiority
        point, low, high = (
            None if end is None else 2 * end - 1 for end in (share.point, share.low, share.high)
        )
        return Estimate(point, low, high, share.level)

    def as_json(self) -> dict[str, Any]:
        """The comparison as the results object has it."""
        return {
            "a": self.a,
            "b": self.b,
            "test": self.test,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "difference": self.difference.as_json(),
            "interval": self.interval,
            "hedges_g": self.hedges_g.as_json(),
            "superiority": self.superiority.as_json(),
            "cliffs_delta": self.cliffs_delta.as_json(),
            "outcome": self.outcome,
        }


def differences(groups: Mapping[str, Floats], normal: Mapping[str, bool | None]) -> tuple[Difference, ...]:
    """Compare groups two by two: every pair of up to 6 groups, each with the first of up to 50.

    A pair is tested by Welch's t when both are normal, else by Mann-Whitney, as the published experiments
    did, and at 5 % after Holm. The interval of the difference is by bootstrap (BCa, the same resamples
    every time). It is Welch's where a group has fewer than 10 values, too few to resample. It is Welch's
    too where a group has more than 2,000, whose mean is normal enough. Groups of fewer than two values are
    left out.

    Args:
        groups: values by name, the reference first.
        normal: whether each is normal; None where that could not be tested.

    Source: SciPy, `ttest_ind`, `mannwhitneyu`, `bootstrap`; statsmodels, `effectsize_smd`,
    `rank_compare_2indep` (Brunner-Munzel), `multipletests`.
    """
    usable = {name: values for name, values in groups.items() if values.size > 1}
    compared = [_difference(a, b, usable, normal) for a, b in _pairs(tuple(usable))]
    return _adjusted(compared)


def kruskal(groups: Sequence[Floats]) -> tuple[float, float] | None:
    """Kruskal-Wallis over all groups: statistic and p-value; None when there is nothing to compare.

    Source: SciPy, `scipy.stats.kruskal`.
    """
    from scipy import stats

    usable = [values for values in groups if values.size > 1]
    if len(usable) < 2 or constant(np.concatenate(usable)):
        return None
    result = stats.kruskal(*usable)
    return float(result.statistic), float(result.pvalue)


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    if len(names) <= ALL_PAIRS:
        yield from ((a, b) for b, a in itertools.combinations(names, 2))
    elif len(names) <= MOST_GROUPS:
        yield from ((name, names[0]) for name in names[1:])


def _difference(
    a: str, b: str, groups: Mapping[str, Floats], normal: Mapping[str, bool | None]
) -> Difference:
    from scipy import stats

    first, second = groups[a], groups[b]
    both_normal = bool(normal[a]) and bool(normal[b])
    gap = float(first.mean() - second.mean())
    nothing = Difference(
        a, b, "Welch t" if both_normal else "Mann-Whitney", None, None, Estimate(gap, None, None),
        "none", MISSING, Estimate(0.5, None, None), "undecided",
    )  # fmt: skip
    if constant(np.concatenate((first, second))):
        return nothing
    if both_normal:
        pvalue = finite(float(stats.ttest_ind(first, second, equal_var=False).pvalue))
    else:
        pvalue = finite(float(stats.mannwhitneyu(first, second).pvalue))
    interval, how = _interval(first, second, gap)
    return replace(
        nothing,
        pvalue=pvalue,
        difference=interval,
        interval=how,
        hedges_g=_hedges_g(first, second),
        superiority=_superiority(first, second),
    )


def _interval(first: Floats, second: Floats, gap: float) -> tuple[Estimate, str]:
    from scipy import stats

    if constant(first) and constant(second):
        return Estimate(gap, None, None), "none"
    sizes = first.size, second.size
    if min(sizes) < _FEWEST_RESAMPLED or max(sizes) > _MOST_RESAMPLED:
        ends = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
        return Estimate(gap, float(ends.low), float(ends.high)), "Welch"
    with warnings.catch_warnings():
        # Values that are nearly all equal may resample to the same mean: the ends are then not finite.
        warnings.simplefilter("ignore")
        resampled = stats.bootstrap(
            (first, second),
            lambda x, y, axis=-1: x.mean(axis=axis) - y.mean(axis=axis),
            n_resamples=_RESAMPLES,
            batch=256,
            method="BCa",
            rng=np.random.default_rng(0),
        ).confidence_interval
    return Estimate(gap, finite(float(resampled.low)), finite(float(resampled.high))), "bootstrap"


def _hedges_g(first: Floats, second: Floats) -> Estimate:
    from scipy import stats
    from statsmodels.stats.meta_analysis import effectsize_smd

    spreads = float(first.std(ddof=1)), float(second.std(ddof=1))
    if max(spreads) == 0:
        return MISSING
    point, variance = effectsize_smd(
        float(first.mean()), spreads[0], first.size, float(second.mean()), spreads[1], second.size
    )
    reach = float(stats.norm.ppf(0.975)) * math.sqrt(variance)
    return Estimate(float(point), float(point) - reach, float(point) + reach)


def _superiority(first: Floats, second: Floats) -> Estimate:
    from statsmodels.stats.nonparametric import rank_compare_2indep

    with warnings.catch_warnings():
        # Groups without any overlap have no variance of ranks, and so no interval.
        warnings.simplefilter("ignore")
        ranks = rank_compare_2indep(first, second)
        low, high = (finite(float(end)) for end in ranks.conf_int())
    point = float(ranks.prob1)
    if point in (0.0, 1.0) or low is None or high is None:
        return Estimate(point, None, None)
    return Estimate(point, max(0.0, low), min(1.0, high))


def _adjusted(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    pvalues = holm([item.pvalue for item in differences])
    return tuple(
        replace(item, pvalue_adjusted=pvalue, outcome=_direction(item, pvalue))
        for item, pvalue in zip(differences, pvalues, strict=True)
    )


def _direction(item: Difference, pvalue: float | None) -> Direction:
    if pvalue is None or pvalue >= ALPHA:
        return "undecided"
    # The test decided on ranks or on means, so its own statistic gives the direction.
    by_means = item.test == "Welch t"
    above = (item.difference.point or 0.0) > 0 if by_means else (item.superiority.point or 0.0) > 0.5
    return "higher" if above else "lower"
