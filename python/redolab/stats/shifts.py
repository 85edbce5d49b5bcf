"""Where a series of values goes from one level to another: a permutation test over every place to cut it.

Under no shift every order of the values is as likely as any other. So the greatest difference over all cuts
is compared with the greatest differences of shuffled orders, and the error holds although the place was
searched for. Ranks take the place of the values, so that single values far away do not count as a shift.

Source: SciPy, `permutation_test` with `permutation_type="pairings"`; A. N. Pettitt, "A non-parametric
approach to the change-point problem", Applied Statistics 28, 1979, for differences of ranks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST = 8
"""Fewest values that are cut."""
_FEWEST_BESIDE = 4
"""Fewest values on either side of a cut: fewer at an end do not make a level."""
_RESAMPLES = 999
_MOST_AT_ONCE = 1_000_000
"""Values that are shuffled at once, for the sake of memory."""
_SEED = 20140814
"""Fixed, so that the same values give the same p-value."""


@dataclass(frozen=True)
class Shift:
    """A level that another one follows."""

    place: int
    """Index of the first value of the later level."""
    before: float
    """Median of the level before, in the unit of the values."""
    after: float
    """Median of the level after."""
    pvalue: float


def level_shifts(values: Sequence[float], *, least_ratio: float, alpha: float) -> tuple[Shift, ...]:
    """The shifts of a series between positive levels, in their order.

    The series is cut where the levels differ most, and each part again, as long as a cut is significant. So a
    series without a shift has one in at most `alpha` of all cases. Cuts between levels that are closer than
    `least_ratio` are left out at the end.

    Args:
        values: positive, in the order of time.
        least_ratio: of the higher level to the lower one, above 1.
        alpha: level of each test.
    """
    series = np.asarray(values, dtype=float)
    cuts = _refined(series, _cuts(series, 0, alpha))
    levels: list[float] = []
    while cuts:
        edges = [0, *(place for place, _ in cuts), len(series)]
        levels = [float(np.median(series[first:last])) for first, last in itertools.pairwise(edges)]
        apart = [max(pair) / min(pair) for pair in itertools.pairwise(levels)]
        if min(apart) >= least_ratio:
            break
        # Two levels become one, which may be far from their neighbours or near.
        del cuts[apart.index(min(apart))]
    return tuple(
        Shift(place, before, after, pvalue)
        for (place, pvalue), before, after in zip(cuts, levels, levels[1:], strict=False)
    )


def _cuts(series: Floats, start: int, alpha: float) -> list[tuple[int, float]]:
    """Places of significant cuts with their p-values, from `start` on."""
    if len(series) < FEWEST or float(np.ptp(series)) == 0:
        return []
    from scipy import stats

    ranks = stats.rankdata(series)
    result = stats.permutation_test(
        (ranks,),
        _greatest,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=max(1, _MOST_AT_ONCE // len(series)),
        alternative="greater",
        rng=np.random.default_rng(_SEED),
    )
    pvalue = float(result.pvalue)
    if pvalue >= alpha:
        return []
    place = _best(series)
    earlier, later = _cuts(series[:place], start, alpha), _cuts(series[place:], start + place, alpha)
    return [*earlier, (start + place, pvalue), *later]


def _refined(series: Floats, cuts: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """The cuts, each at its best place between its neighbours; it was found among levels further away.

    Source: J. Bai, "Estimating multiple breaks one at a time", Econometric Theory 13, 1997.
    """
    edges = [0, *(place for place, _ in cuts), len(series)]
    for number in range(1, len(edges) - 1):
        first, last = edges[number - 1], edges[number + 1]
        edges[number] = first + _best(series[first:last])
    return [(place, pvalue) for place, (_, pvalue) in zip(edges[1:-1], cuts, strict=True)]


def _best(series: Floats) -> int:
    """The place of the cut whose sides differ most."""
    from scipy import stats

    return int(_differences(stats.rankdata(series)).argmax()) + _FEWEST_BESIDE


def _greatest(ranks: Floats, axis: int = -1) -> Floats:
    return np.asarray(_differences(np.moveaxis(ranks, axis, -1)).max(axis=-1))


def _differences(ranks: Floats) -> Floats:
    """How far the sum of the ranks before each cut is from its mean, in units of its spread."""
    count = ranks.shape[-1]
    before = np.arange(_FEWEST_BESIDE, count - _FEWEST_BESIDE + 1)
    sums = np.cumsum(ranks, axis=-1)[..., before - 1]
    return np.asarray(np.abs(sums - before * (count + 1) / 2) / np.sqrt(before * (count - before)))
