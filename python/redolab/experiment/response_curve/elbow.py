"""The elbow of a response-time curve, measured and computed alike.

It is the arrival rate at which R / L is least: a line from the origin touches the curve there, and from there
on R grows faster than the load.

Source: Cary Millsap, "Thinking clearly about performance", Communications of the ACM 53 (2010), where it is
called the knee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redolab.experiment.response_curve.curve import Point, response_ms_of
from redolab.stats.estimates import Estimate

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

_PLACES = 2_000
_RESAMPLES = 1_000
_FEWEST = 3
"""Fewest points that a curve needs."""


@dataclass(frozen=True)
class Elbow:
    """Where R / L is least."""

    rate_per_s: float
    response_ms: float
    """R there."""
    at_end: bool
    """Whether that is the last point: R / L still falls there, and the elbow lies there or beyond."""


def elbow_of(rates_per_s: Sequence[float], responses_ms: Sequence[float]) -> Elbow | None:
    """The elbow of the curve through points (`curve_through`); None with fewer than three of them.

    Args:
        rates_per_s: arrivals per second, in rising order.
        responses_ms: R at each.
    """
    import numpy as np

    if len(rates_per_s) < _FEWEST:
        return None
    rates, responses = curve_through(rates_per_s, responses_ms, _PLACES)
    lowest = int(np.argmin(np.divide(responses, rates)))
    return Elbow(rates[lowest], responses[lowest], lowest == _PLACES - 1)


def curve_through(
    rates_per_s: Sequence[float], responses_ms: Sequence[float], places: int
) -> tuple[list[float], list[float]]:
    """The curve through points, at so many places from the first to the last: rates, and R in ms.

    Between the points ln R follows a cubic that rises and falls where they do.

    Args:
        rates_per_s: arrivals per second, in rising order, at least two.
        responses_ms: R at each.
        places: how many.

    Source: Fritsch and Butland (1984); SciPy, `scipy.interpolate.PchipInterpolator`.
    """
    import numpy as np

    rates, responses = _curves_through(rates_per_s, np.array(responses_ms, float), places)
    return rates.tolist(), responses.tolist()


def _curves_through(rates_per_s: Sequence[float], responses_ms: Floats, places: int) -> tuple[Floats, Floats]:
    """The curves of `curve_through` for several R at the same rates: a column of R for each, or R of one."""
    import numpy as np
    from scipy.interpolate import PchipInterpolator

    rates = np.linspace(rates_per_s[0], rates_per_s[-1], places)
    return rates, np.exp(PchipInterpolator(rates_per_s, np.log(responses_ms))(rates))


def elbow_rate_interval(points: Sequence[Point], seed: int) -> tuple[float, float] | None:
    """The rates between which the elbow of measured points lies with 95 %: a bootstrap over whole blocks.

    None with fewer than two blocks in which every point was measured.

    Args:
        points: those with a steady state, by rate.
        seed: of the bootstrap.

    Source: SciPy, `scipy.stats.bootstrap` with paired samples, percentile method.
    """
    import numpy as np
    from scipy import stats

    times = _by_block(points)
    if len(points) < _FEWEST or len(times) < 2:
        return None
    rates = [point.asked_per_s for point in points]

    def rate_per_s(*of_points: Any, axis: int) -> Any:
        medians = np.array([np.median(of_point, axis=axis) for of_point in of_points])
        places, responses = _curves_through(rates, medians, _PLACES)
        return places[np.argmin(responses.T / places, axis=-1)]

    found = stats.bootstrap(
        tuple(np.array(times).T), rate_per_s, paired=True, vectorized=True, n_resamples=_RESAMPLES,
        method="percentile", rng=np.random.default_rng(abs(seed)),
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)


def measured_elbow(points: Sequence[Point], seed: int) -> tuple[Elbow, Estimate] | None:
    """The elbow of the measured points with its rate's interval; None where there are too few points.

    Args:
        points: those with a steady state, by rate.
        seed: of the bootstrap.
    """
    known = [point for point in points if point.response_ms.point is not None]
    elbow = elbow_of(
        [point.asked_per_s for point in known], [point.response_ms.point or 0.0 for point in known]
    )
    if elbow is None:
        return None
    low, high = elbow_rate_interval(known, seed) or (None, None)
    return elbow, Estimate(elbow.rate_per_s, low, high)


def _by_block(points: Sequence[Point]) -> list[list[float]]:
    """R of every point, block by block; blocks that lack one are left out."""
    by_block: dict[int, dict[str, float]] = {}
    for point in points:
        for sample in point.samples:
            if sample.response_s and sample.commits:
                by_block.setdefault(sample.block, {})[point.setting] = response_ms_of(sample)
    return [
        [times[point.setting] for point in points]
        for _, times in sorted(by_block.items())
        if len(times) == len(points)
    ]
