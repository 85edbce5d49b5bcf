"""What every model says of a scenario, with its prediction intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from redolab.analysis.calibrating import Calibrated
from redolab.analysis.models import models_of
from redolab.model.calibration import FACTORS, Calibration, Scenario
from redolab.model.forecast import MODELS, Model, Quantities, simulation
from redolab.model.record import Predicted, Score, family_of, log_ratios, prediction_interval

FORECASTS = next(iter(MODELS))
"""The model that forecasts; the others stand beside it."""
REPLICATE_COMMITS = 5_000


@dataclass(frozen=True)
class Said:
    """What one model says of a scenario."""

    model: str
    quantities: Mapping[str, Predicted]
    """Of `redolab.model.forecast.QUANTITIES`; empty where it is silent."""
    silent: str | None = None
    """Why it can say nothing."""


def ask_models(calibrated: Calibrated, scenario: Scenario, record: Sequence[Score]) -> tuple[Said, ...]:
    """Ask every model; the first one is that which forecasts.

    Args:
        calibrated: the run.
        scenario: what is asked.
        record: forecasts that were verified before.
    """
    return tuple(
        _ask(name, model, calibrated, scenario, record) for name, model in models_of(calibrated).items()
    )


def beyond(calibrated: Calibrated, scenario: Scenario) -> tuple[str, ...]:
    """The factors whose level lies beyond what the run measured."""
    return tuple(name for name in FACTORS if _is_beyond(calibrated, name, getattr(scenario, name)))


def _ask(
    name: str, model: Model, calibrated: Calibrated, scenario: Scenario, record: Sequence[Score]
) -> Said:
    try:
        points = model(calibrated.point, scenario)
    except ValueError as error:
        return Said(name, {}, str(error))
    family = family_of(calibrated.point, scenario)
    extrapolated = bool(beyond(calibrated, scenario))
    again = [_again(name, model, each, scenario) for each in calibrated.replicates]
    return Said(
        name,
        {
            quantity: prediction_interval(
                point,
                [found[quantity] for found in again if quantity in found],
                log_ratios(record, name, family, quantity),
                extrapolated=extrapolated,
            )
            for quantity, point in points.items()
            if point > 0
        },
    )


def _again(name: str, model: Model, calibration: Calibration, scenario: Scenario) -> Quantities:
    """The same with a resampled calibration; nothing where that one has no steady state."""
    if name == FORECASTS:
        commits = max(REPLICATE_COMMITS, 20 * scenario.sessions)
        model = partial(simulation, commits=commits)
    try:
        return model(calibration, scenario)
    except ValueError:
        return {}


def _is_beyond(calibrated: Calibrated, name: str, asked: object) -> bool:
    levels = {getattr(point.scenario, name) for point in calibrated.measured.values()}
    numbers = [level for level in levels if isinstance(level, int | float)]
    if isinstance(asked, int | float) and numbers:
        return not min(numbers) <= asked <= max(numbers)
    return asked not in levels
