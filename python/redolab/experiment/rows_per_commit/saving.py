"""Time per row over rows per commit: the saving, and the rows from which on most of it is collected.

The saving is read from the measured points, not from a fitted curve: a + b/n^c, fitted to all of the
published points, still misses one by 1.4 % of its elapsed time, and 1 % of the published saving is a third
of that, so the curve cannot show where 99 % is collected. The intervals come from one contrast per block
and Student's t: resampling the seven blocks of a quick run covers 86 % where 95 % is stated (simulated).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from redolab.model.batching import Decay
from redolab.stats.estimates import MISSING, Estimate, mean_estimate

Times = Mapping[int, Mapping[int, float]]
"""Rows per commit to block to seconds per row; at least two rows per commit."""

# Logarithms: how far the fit may go from where it starts, for times and for the power.
_WIDEST, _STEEPEST = 10.0, 2.0


def fit_decay(times: Mapping[int, float]) -> Decay | None:
    """The curve a + b/n^c nearest to the points by relative error; None for fewer than three points.

    Args:
        times: rows per commit to seconds per row.

    Source: SciPy, `scipy.optimize.least_squares`.
    """
    from scipy.optimize import least_squares

    if len(times) < 3:
        return None
    rows, seconds = (np.array(values, dtype=float) for values in zip(*sorted(times.items()), strict=True))

    def misfit(parameters: np.ndarray) -> np.ndarray:
        floor, commit, power = np.exp(parameters)
        return np.asarray((floor + commit / rows**power) / seconds - 1)

    # In logarithms all three stay positive; a saving of nothing has no logarithm to start from.
    saved = max(seconds[0] - seconds[-1], 1e-3 * seconds[0])
    start = np.log([min(seconds), saved, 1.0])
    reach = np.array([_WIDEST, _WIDEST, _STEEPEST])
    found = least_squares(misfit, start, bounds=(start - reach, start + reach), x_scale="jac")
    floor, commit, power = np.exp(found.x)
    return Decay(float(floor), float(commit), float(power))


def worst_misfit(decay: Decay, times: Mapping[int, float]) -> float:
    """The largest relative distance of a point from the curve; 0.01 is 1 %."""
    return max(abs(decay.at(rows) / seconds - 1) for rows, seconds in times.items())


def means(times: Times) -> dict[int, float]:
    """Seconds per row, the geometric mean over the blocks, by rows per commit in rising order."""
    return {
        rows: float(np.exp(np.mean(np.log(list(times[rows].values())))))
        for rows in sorted(times)
        if times[rows]
    }


def saving(times: Times) -> Estimate:
    """The saving of the most rows per commit against the fewest, as a share of the time of the fewest."""
    fewest, most = min(times), max(times)
    pairs = _in_common(times, fewest, most)
    return ratio_of_means([first - last for first, last in pairs], [first for first, _ in pairs])


def collected(times: Times, rows: int) -> Estimate:
    """The share of the saving of the most rows per commit that `rows` rows per commit bring."""
    series = _in_common(times, min(times), max(times), rows)
    return ratio_of_means(
        [first - here for first, _, here in series], [first - last for first, last, _ in series]
    )


def reached(times: Times, share: float) -> Estimate:
    """Rows per commit from which on `share` of the saving of the most rows per commit is collected. The point
    is the first of the measured numbers that reaches the share when the points are smoothed so that more rows
    never cost more (isotonic regression). The interval holds every measured number that cannot be ruled out
    at 2.5 % on its side: its low end is the first that is not surely short of the share, its high end the
    first from which on all surely reach it. Nothing is estimated where a saving is not shown at all.

    Source: SciPy, `scipy.optimize.isotonic_regression`, `scipy.stats.t`.
    """
    numbers = [rows for rows in sorted(times) if times[rows]]
    whole = mean_estimate(first - last for first, last in _in_common(times, min(times), max(times)))
    if whole.low is None or whole.low <= 0:
        return MISSING
    point = fewest(times, share)
    beyond = [_beyond(times, rows, share) for rows in numbers]
    low = next((n for n, over in zip(numbers, beyond, strict=True) if (over.high or 0) >= 0), numbers[-1])
    short = [place for place, over in enumerate(beyond[:-1]) if (over.low or 0) <= 0]
    return Estimate(float(point), float(low), float(numbers[short[-1] + 1 if short else 0]))


def fewest(times: Times, share: float) -> int:
    """The fewest rows per commit whose smoothed mean time collects `share` of the saving of the most.

    Source: SciPy, `scipy.optimize.isotonic_regression`.
    """
    from scipy.optimize import isotonic_regression

    by_rows = means(times)
    numbers = list(by_rows)
    smooth = isotonic_regression(list(by_rows.values()), increasing=False).x
    line = (1 - share) * by_rows[numbers[0]] + share * by_rows[numbers[-1]]
    return next((n for n, value in zip(numbers, smooth, strict=True) if value <= line), numbers[-1])


def _beyond(times: Times, rows: int, share: float) -> Estimate:
    """Seconds per row by which `rows` rows per commit are beyond the share; negative: short of it."""
    series = _in_common(times, min(times), max(times), rows)
    return mean_estimate((1 - share) * first + share * last - here for first, last, here in series)


def ratio_of_means(top: Sequence[float], bottom: Sequence[float], level: float = 0.95) -> Estimate:
    """The mean of `top` over the mean of `bottom`, paired values, with Fieller's interval; no unit.

    Without an interval where there are fewer than two pairs or the mean of `bottom` may be zero.

    Source: E. C. Fieller, "Some problems in interval estimation", JRSS B 16 (1954); t from SciPy.
    """
    from scipy import stats

    if not top or np.mean(bottom) == 0:
        return Estimate(None, None, None, level)
    above, below = float(np.mean(top)), float(np.mean(bottom))
    point, count = above / below, len(top)
    if count < 2:
        return Estimate(point, None, None, level)
    quantile = float(stats.t.ppf((1 + level) / 2, count - 1)) ** 2 / count
    (top_var, both), (_, bottom_var) = np.cov(top, bottom)
    square = below**2 - quantile * bottom_var
    if square <= 0:
        return Estimate(point, None, None, level)
    middle = (above * below - quantile * both) / square
    # Rounding may bring a width of nothing below zero.
    width = max(middle**2 - (above**2 - quantile * top_var) / square, 0.0) ** 0.5
    return Estimate(point, float(middle - width), float(middle + width), level)


def _in_common(times: Times, *rows: int) -> list[tuple[float, ...]]:
    """The times of several rows per commit in every block that has all of them, one tuple per block.

    Disk and CPU noise multiply times, and one block can be ten times as slow as the next. So each series
    is replaced by g (1 + log(t/g)) with its geometric mean g: the mean of that is g, and its spread that
    of the logarithms (the delta method), so that no single slow sample decides.
    """
    blocks = sorted(set.intersection(*(set(times[number]) for number in rows)))
    series = (np.array([times[number][block] for block in blocks]) for number in rows)
    return list(zip(*(_typical(values).tolist() for values in series), strict=True)) if blocks else []


def _typical(seconds: np.ndarray) -> np.ndarray:
    mean = np.exp(np.mean(np.log(seconds)))
    return np.asarray(mean * (1 + np.log(seconds / mean)))
