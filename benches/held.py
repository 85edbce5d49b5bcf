"""A setting that was forecast and measured, and how far the forecasts were off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markdown import in_percent

from redolab.forecast.costs.costs import Scenario
from redolab.stats.estimates import Estimate


@dataclass(frozen=True)
class Held:
    """A setting that was forecast, and what all models said of it."""

    name: str
    system: str
    scenario: Scenario
    family: str
    observed: Mapping[str, float]
    said: Mapping[str, Mapping[str, float]]
    """Model to quantity to forecast."""
    replicates: Sequence[Mapping[str, float]]
    """Of the model that forecasts."""
    silent: Mapping[str, str]
    far: bool
    """Whether it lies beyond what was measured."""
    ratios: Mapping[str, Estimate]
    """To today's setting, as measured, by the names of `RATIOS`; none for arrivals."""


def errors(held: Iterable[Held], model: str, quantity: str, figures: int = 2) -> str:
    """Median and 90th percentile of the absolute error, where the model spoke and something was measured."""
    found = [
        abs(item.said[model][quantity] / item.observed[quantity] - 1)
        for item in held
        if quantity in item.said.get(model, {}) and item.observed.get(quantity)
    ]
    return in_percent(found, figures)


def families(held: Iterable[Held]) -> list[str]:
    """The families that there are, by name."""
    return sorted({item.family for item in held})
