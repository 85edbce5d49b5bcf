"""The model's forecast of every setting at one rate of commits, for a run with costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from redolab._core import SimulationTooLongError
from redolab.errors import UsageError
from redolab.forecast.costs.of_run import costs_of
from redolab.forecast.track_record import Score
from redolab.model.erlang import NoSteadyStateError
from redolab.parts import MissingPartError
from redolab.records.run import Run


def forecasts_at(run: Run, rate_per_s: float, record: Sequence[Score]) -> dict[str, Any] | None:
    """The response time of each setting that can be forecast when commits arrive at that rate, at random.

    Args:
        run: any run of samples.
        rate_per_s: commits that arrive per second.
        record: every forecast that was verified before; the intervals are from it alone.

    Returns:
        By setting: the response time in milliseconds with its interval, or `refused` and why. None where the
        run does not have costs, or nothing can be simulated here.
    """
    from redolab.forecast.models.scenario_forecast import point_forecast, predict

    try:
        calibrated = costs_of(run)
    except (UsageError, MissingPartError):
        return None
    found: dict[str, Any] = {}
    for name, item in calibrated.measured.items():
        asked = replace(item.scenario, arrival_rate_per_s=rate_per_s, think_time_ms=0.0)
        try:
            predicted = predict(point_forecast(calibrated, asked), record)["response_time_ms"]
        except (NoSteadyStateError, SimulationTooLongError) as error:
            found[name] = {"refused": str(error)}
        else:
            found[name] = {**asdict(predicted), "refused": None}
    return found
