"""What the means of samples do: the published "plus and minus"."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PlusAndMinus:
    """Mean of the means, and how far a further mean will lie from it."""

    mean: float
    standard_deviation: float
    low: float
    high: float
    inside: int
    """How many of the means lie between `low` and `high`."""
    count: int


def plus_and_minus(means: Sequence[float], deviations: float = 2.0) -> PlusAndMinus:
    """The mean of sample means plus and minus `deviations` standard deviations, in their unit.

    Raises:
        ValueError: fewer than two means have no standard deviation.

    Source: Craig Shallahamer, OraPub, "Wanna Bet" (28 February 2012).
    """
    if len(means) < 2:
        raise ValueError(f"{len(means)} means have no standard deviation; at least two are needed")
    mean, spread = statistics.fmean(means), statistics.stdev(means)
    low, high = mean - deviations * spread, mean + deviations * spread
    inside = sum(low <= value <= high for value in means)
    return PlusAndMinus(mean, spread, low, high, inside, len(means))
