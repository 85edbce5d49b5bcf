"""Are values normal, by which test, and how far are they from it?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from redolab.stats.estimates import finite
from redolab.stats.published_tests import ALPHA, NORMALITY_TEST, normality_pvalue

Floats = npt.NDArray[np.float64]

MOST_FOR_SHAPIRO = 5_000
"""Beyond so many values the p-value of Shapiro-Wilk is not reliable."""
LARGE_TEST = "D'Agostino-Pearson"


@dataclass(frozen=True)
class Normality:
    """One test of normality."""

    count: int
    test: str
    pvalue: float | None
    """None where nothing can be tested: fewer than three values, or equal ones."""
    skewness: float | None
    """0 for a normal distribution, 2 for an exponential one; positive with a long tail upwards."""
    excess_kurtosis: float | None
    """0 for a normal distribution, 6 for an exponential one; positive with long tails."""
    distance: float | None
    """The largest difference between the share of values below a place and the share there in a normal
    distribution of their mean and standard deviation, 0 to 1."""

    @property
    def normal(self) -> bool | None:
        """Whether normality is not rejected at 5 %; None where it could not be tested."""
        return None if self.pvalue is None else self.pvalue > ALPHA

    def as_json(self) -> dict[str, Any]:
        """The test as the results object has it."""
        return {
            "count": self.count,
            "test": self.test,
            "pvalue": self.pvalue,
            "normal": self.normal,
            "skewness": self.skewness,
            "excess_kurtosis": self.excess_kurtosis,
            "distance": self.distance,
        }


def normality(values: Floats) -> Normality:
    """Test values for normality: Shapiro-Wilk up to 5,000 of them, D'Agostino-Pearson beyond.

    With few values only a gross departure is found; with very many, even a departure that does not matter. So
    the departure's size is given together with the p-value.

    Source: SciPy, `shapiro`, `normaltest`, `skew`, `kurtosis`; the distance is Kolmogorov's.
    """
    from scipy import stats

    few = values.size <= MOST_FOR_SHAPIRO
    test = NORMALITY_TEST if few else LARGE_TEST
    if values.size < 3 or constant(values):
        return Normality(values.size, test, None, None, None, None)
    centre, spread = float(values.mean()), float(values.std(ddof=1))
    standard = (values - centre) / spread
    # SciPy is given plain numbers around zero: far from zero its moments lose their digits.
    pvalue = normality_pvalue(standard.tolist()) if few else finite(float(stats.normaltest(standard).pvalue))
    return Normality(
        count=values.size,
        test=test,
        pvalue=pvalue,
        skewness=finite(float(stats.skew(standard))),
        excess_kurtosis=finite(float(stats.kurtosis(standard))),
        distance=finite(_distance(standard)),
    )


def constant(values: Floats) -> bool:
    """Whether values are equal except for rounding."""
    lowest, highest = float(values.min()), float(values.max())
    return highest - lowest <= 1e-12 * max(abs(lowest), abs(highest))


def _distance(standard: Floats) -> float:
    from scipy.special import ndtr

    # The statistic alone: `kstest` would spend most of its time on a p-value that does not hold here,
    # because mean and spread come from the values themselves.
    expected = ndtr(np.sort(standard))
    steps = np.arange(standard.size + 1) / standard.size
    return max(float((steps[1:] - expected).max()), float((expected - steps[:-1]).max()), 0.0)


def describe_pvalue(pvalue: float | None) -> str:
    """A p-value inside a sentence."""
    if pvalue is None or not math.isfinite(pvalue):
        return "not tested"
    return "p < 0.0001" if pvalue < 0.0001 else f"p = {pvalue:.2g}"
