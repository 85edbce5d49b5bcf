"""Every model that can forecast from a run, and each model's forecast of a scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from redolab.forecast.costs.costs import Costs, Scenario
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.anticipation import ANTICIPATION, anticipate
from redolab.forecast.models.points import LINE, USL, law_through, line_through
from redolab.forecast.models.quantities import MODELS, Model, Quantities, ratios_to


def models_of(calibrated: RunCosts, without: str = "") -> Mapping[str, Model]:
    """Every model by name, the one that forecasts first: those that need a run's costs, and those drawn
    through its points.

    Args:
        calibrated: the run.
        without: the name of a model to leave out.
    """
    points = tuple(
        point
        for point in calibrated.measured.values()
        if point.loop == calibrated.point.loop
        and (throughput := point.quantities.get("throughput_per_s")) is not None
        and throughput.point
    )
    models: dict[str, Model] = {
        **MODELS,
        USL: partial(law_through, points),
        LINE: partial(line_through, points),
    }
    if calibrated.point.only_seen:
        # The published curve is solved from one observed point.
        models[ANTICIPATION] = partial(anticipate, calibrated.measured[calibrated.today])
    return {name: model for name, model in models.items() if name != without}


def ask(
    models: Mapping[str, Model], costs: Costs, scenario: Scenario, today: Scenario | None = None
) -> tuple[dict[str, Quantities], dict[str, str]]:
    """Each model's forecast of a scenario, or the reason why it has no forecast, by model.

    Args:
        models: by name.
        costs: of a server.
        scenario: what is asked.
        today: with it, models also give the ratios to this setting, where they can forecast it.
    """
    answers: dict[str, Quantities] = {}
    silent = {}
    for name, model in models.items():
        try:
            values = model(costs, scenario)
        except (ValueError, ArithmeticError) as error:
            silent[name] = str(error)
        else:
            answers[name] = {quantity: value for quantity, value in values.items() if math.isfinite(value)}
    if today is not None:
        before, _ = ask(models, costs, today)
        answers = {
            name: {**values, **ratios_to(before.get(name, {}), values)} for name, values in answers.items()
        }
    return answers, silent
