"""How durations vary: the description that the simulator draws from.

Drawing is the simulator's (`redolab._core`, crate redolab-sim); here are the description and its moments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Distribution:
    """Durations in seconds. Made by the functions of this module, which say what the values are."""

    shape: str
    """constant, exponential, gamma, lognormal, two_valued or quantiles."""
    values: tuple[float, ...]

    @property
    def mean_s(self) -> float:
        """The mean."""
        if self.shape == "two_valued":
            usual, rare, share = self.values
            return usual + (rare - usual) * share
        if self.shape == "quantiles":
            return math.fsum(sum(pair) / 2 for pair in pairwise(self.values)) / (len(self.values) - 1)
        return self.values[0]

    @property
    def cv(self) -> float:
        """The coefficient of variation: standard deviation over mean; 0 where the mean is 0."""
        if self.mean_s == 0 or self.shape == "constant":
            return 0.0
        if self.shape == "exponential":
            return 1.0
        if self.shape == "two_valued":
            usual, rare, share = self.values
            return abs(rare - usual) * math.sqrt(share * (1 - share)) / self.mean_s
        if self.shape == "quantiles":
            # The second moment of a uniform stretch from a to b is (a^2 + a b + b^2) / 3.
            second = math.fsum((a * a + a * b + b * b) / 3 for a, b in pairwise(self.values))
            spread = second / (len(self.values) - 1) - self.mean_s**2
            return math.sqrt(max(0.0, spread)) / self.mean_s
        return self.values[1]


def constant(duration_s: float) -> Distribution:
    """Always `duration_s`."""
    return Distribution("constant", (duration_s,))


def exponential(mean_s: float) -> Distribution:
    """Exponential."""
    return Distribution("exponential", (mean_s,))


def gamma(mean_s: float, cv: float) -> Distribution:
    """Gamma with coefficient of variation `cv`; 1 is exponential."""
    return Distribution("gamma", (mean_s, cv))


def lognormal(mean_s: float, cv: float) -> Distribution:
    """The logarithm is normal; mean and coefficient of variation are those of the duration."""
    return Distribution("lognormal", (mean_s, cv))


def two_valued(usual_s: float, rare_s: float, rare_share: float) -> Distribution:
    """`rare_s` in `rare_share` (0 to 1) of the cases, `usual_s` in all others."""
    return Distribution("two_valued", (usual_s, rare_s, rare_share))


def quantiles(values_s: Sequence[float]) -> Distribution:
    """As measured: quantiles at equal steps from the least to the most, linear between them."""
    return Distribution("quantiles", tuple(float(value) for value in values_s))
