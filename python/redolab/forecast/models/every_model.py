"""What every model says of a scenario, with its prediction intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redolab import _core
from redolab.forecast.costs.calibrated import Calibrated
from redolab.forecast.costs.costs import Calibration, Scenario
from redolab.forecast.models.models import models_of
from redolab.forecast.models.outlook import MODEL, Outlook, compare, extrapolated, look_ahead, predict
from redolab.forecast.models.quantities import RATIOS, SCORED, Model, Quantities, ratios_to
from redolab.forecast.track_record import Predicted, Score, family_of, log_ratios, prediction_interval


@dataclass(frozen=True)
class Said:
    """What one model says of a scenario."""

    model: str
    quantities: Mapping[str, Predicted]
    """Its forecasts by the names in `quantities.SCORED`; empty where it is silent."""
    silent: str | None = None
    """Why it can say nothing."""


def ask_models(
    calibrated: Calibrated, scenario: Scenario, today: Outlook, record: Sequence[Score]
) -> tuple[Said, ...]:
    """Ask every model; the first one is that which forecasts.

    Args:
        calibrated: the run.
        scenario: what is asked.
        today: what the model that forecasts says of today's setting.
        record: forecasts that were verified before.
    """
    return tuple(
        _ask(name, model, calibrated, scenario, today, record)
        for name, model in models_of(calibrated).items()
    )


def _ask(
    name: str,
    model: Model,
    calibrated: Calibrated,
    scenario: Scenario,
    today: Outlook,
    record: Sequence[Score],
) -> Said:
    try:
        if name == MODEL:
            asked = look_ahead(calibrated, scenario)
            ratios = compare(today, asked, record)
            answers = predict(asked, record) | {
                RATIOS[quantity]: ratio for quantity, ratio in ratios.items() if quantity in RATIOS
            }
        else:
            answers = _with_intervals(name, model, calibrated, scenario, today.scenario, record)
    except ValueError as error:
        return Said(name, {}, str(error))
    return Said(name, {key: answers[key] for key in SCORED if key in answers and answers[key].point > 0})


def _with_intervals(
    name: str,
    model: Model,
    calibrated: Calibrated,
    scenario: Scenario,
    today: Scenario,
    record: Sequence[Score],
) -> dict[str, Predicted]:
    points = _beside_today(model, calibrated.point, scenario, today)
    family, far = family_of(calibrated.point, scenario), bool(extrapolated(calibrated, scenario))
    again = [_again(model, each, scenario, today) for each in calibrated.replicates]
    return {
        quantity: prediction_interval(
            point,
            [values[quantity] for values in again if quantity in values],
            past := log_ratios(record, name, family, quantity),
            extrapolated=_core.is_wide(far, calibrated.point.prior_holds, bool(past)),
        )
        for quantity, point in points.items()
    }


def _beside_today(model: Model, calibration: Calibration, scenario: Scenario, today: Scenario) -> Quantities:
    """What a model says of a scenario, and of the ratios to today's, of which it may know nothing."""
    asked = model(calibration, scenario)
    try:
        return {**asked, **ratios_to(model(calibration, today), asked)}
    except ValueError:
        return asked


def _again(model: Model, calibration: Calibration, scenario: Scenario, today: Scenario) -> Quantities:
    """The same with a resampled calibration; nothing where that one has no steady state."""
    try:
        return _beside_today(model, calibration, scenario, today)
    except ValueError:
        return {}
