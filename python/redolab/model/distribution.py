"""How durations vary: the description that the simulator draws from.

The simulator (crate redolab-sim) draws, and computes the moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from redolab import _core


@dataclass(frozen=True)
class Distribution:
    """Durations in seconds. Made by the functions of this module, which say what the values are."""

    shape: str
    """constant, exponential, gamma, lognormal, two_valued or quantiles."""
    values: tuple[float, ...]

    @property
    def mean_s(self) -> float:
        """The mean."""
        return self._moments[0]

    @property
    def cv(self) -> float:
        """The coefficient of variation: standard deviation over mean; 0 where the mean is 0."""
        return self._moments[1]

    @cached_property
    def _moments(self) -> tuple[float, float]:
        return _core.distribution_moments(self)


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
