"""How true a model's forecasts were before, and what that says of how far the next one can be trusted.

Every verified forecast leaves a `Score` per quantity. A prediction interval is as wide as the scatter of the
calibration and the model's own past errors in the same family of settings make it, by split conformal
prediction on log(observed / forecast).

Source: Lei, G'Sell, Rinaldo, Tibshirani and Wasserman, "Distribution-free predictive inference for
regression", Journal of the American Statistical Association 113 (2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from redolab.model.calibration import Calibration, Scenario

LEVEL = 0.90
LARGE_BATCH = 128


@dataclass(frozen=True)
class Score:
    """One quantity of one forecast beside what was then measured."""

    model: str
    family: str
    quantity: str
    """Of `redolab.model.forecast.QUANTITIES`."""
    forecast: float
    observed: float
    low: float | None = None
    """Of the prediction interval that was given, if one was."""
    high: float | None = None

    @property
    def log_ratio(self) -> float:
        """ln(observed / forecast)."""
        return math.log(self.observed / self.forecast)


@dataclass(frozen=True)
class Predicted:
    """A forecast quantity with its prediction interval."""

    point: float
    low: float
    high: float
    level: float
    """Of the interval, 0 to 1."""
    verified: int
    """Forecasts of this family that were verified before; 0: the width is a guess."""


def family_of(calibration: Calibration, scenario: Scenario) -> str:  # noqa: ARG001
    """The family of settings that a scenario belongs to: those in which a model errs alike."""
    if scenario.arrival_rate_per_s is not None:
        return "open arrivals"
    if scenario.commit_wait == "nowait":
        return "nowait"
    if scenario.commit_delay_us:
        return "commit delay"
    if scenario.rows_per_commit >= LARGE_BATCH:
        return "large batches"
    return "batches" if scenario.rows_per_commit > 1 else "single rows"


def prediction_interval(
    point: float, replicates: Sequence[float], log_ratios: Sequence[float], level: float = LEVEL
) -> Predicted:
    """The interval around a forecast.

    Args:
        point: the forecast.
        replicates: the same forecast from resampled calibrations.
        log_ratios: ln(observed / forecast) of the same model, family and quantity in earlier forecasts.
        level: of the interval.
    """
    raise NotImplementedError
