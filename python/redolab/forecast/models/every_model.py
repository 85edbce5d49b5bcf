"""What every model says of a scenario, with its prediction intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redolab.forecast.costs.calibrating import Calibrated
from redolab.forecast.costs.costs import Calibration, Scenario
from redolab.forecast.models.models import models_of
from redolab.forecast.models.outlook import MODEL, extrapolated, look_ahead, predict
from redolab.forecast.models.quantities import QUANTITIES, Model, Quantities
from redolab.forecast.track_record import Predicted, Score, family_of, log_ratios, prediction_interval


@dataclass(frozen=True)
class Said:
    """What one model says of a scenario."""

    model: str
    quantities: Mapping[str, Predicted]
    """Its forecasts by the names in `quantities.QUANTITIES`; empty where it is silent."""
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


def _ask(
    name: str, model: Model, calibrated: Calibrated, scenario: Scenario, record: Sequence[Score]
) -> Said:
    try:
        if name == MODEL:
            answers = predict(look_ahead(calibrated, scenario), record)
        else:
            answers = _with_intervals(name, model, calibrated, scenario, record)
    except ValueError as error:
        return Said(name, {}, str(error))
    return Said(name, {key: answers[key] for key in QUANTITIES if key in answers and answers[key].point > 0})


def _with_intervals(
    name: str, model: Model, calibrated: Calibrated, scenario: Scenario, record: Sequence[Score]
) -> dict[str, Predicted]:
    points = model(calibrated.point, scenario)
    family, far = family_of(calibrated.point, scenario), bool(extrapolated(calibrated, scenario))
    again = [_again(model, each, scenario) for each in calibrated.replicates]
    return {
        quantity: prediction_interval(
            point,
            [values[quantity] for values in again if quantity in values],
            log_ratios(record, name, family, quantity),
            extrapolated=far,
        )
        for quantity, point in points.items()
    }


def _again(model: Model, calibration: Calibration, scenario: Scenario) -> Quantities:
    """The same with a resampled calibration; nothing where that one has no steady state."""
    try:
        return model(calibration, scenario)
    except ValueError:
        return {}
