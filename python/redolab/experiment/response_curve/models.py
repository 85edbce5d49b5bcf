"""The models drawn with the measured points of a curve: the published curve, M/M/m, and the forecast.

The two formulas are drawn from two measured figures. S is R where the fewest arrive, and M = S x capacity, so
that both begin at the first point and rise without end at capacity. The forecast does not use any point of
the curve: it comes from the costs of other settings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from redolab import _core
from redolab._core import SimulationTooLongError
from redolab.experiment.response_curve.curve import Curve
from redolab.experiment.response_curve.elbow import Elbow, elbow_of
from redolab.forecast.costs.costs import Scenario
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.scenario_forecast import ScenarioForecast, forecast_with_replicates, predict
from redolab.forecast.track_record import LEVEL, shipped_record
from redolab.model.erlang import NoSteadyStateError, open_queue
from redolab.model.queueing import response_time_cpu
from redolab.stats.estimates import Estimate

LESS_SERVICE = 0.95
"""The part of the service time that is also forecast, in addition to all of it."""
_RESPONSE = "response_time_ms"
_STEPS = 40
"""Rates at which a formula is drawn, up to `_FULLEST` of capacity."""
_FULLEST = 0.99
_FORECAST_SHARES = (
    *(percent / 100 for percent in range(5, 90, 5)),
    *(percent / 100 for percent in range(90, 111, 2)),
    *(percent / 100 for percent in range(115, 205, 5)),
)
"""Shares of the measured capacity at which the forecast is drawn, until it sees no steady state."""


@dataclass(frozen=True)
class Formula:
    """A response-time curve in closed form."""

    name: str
    response_s: Callable[[float, float], float]
    """R by service time and arrivals per second; ValueError where R does not exist."""
    service_s: float
    capacity_per_s: float

    def response_ms(self, rate_per_s: float, service: float = 1.0) -> float | None:
        """R at a rate; None from capacity on.

        Args:
            rate_per_s: arrivals.
            service: the part of the service time that is left.
        """
        try:
            return 1e3 * self.response_s(service * self.service_s, rate_per_s)
        except ValueError:
            return None

    @cached_property
    def line(self) -> list[tuple[float, float]]:
        """Rates and R in ms, up to just below capacity."""
        rates = [_FULLEST * self.capacity_per_s * step / _STEPS for step in range(1, _STEPS + 1)]
        known = ((rate, self.response_ms(rate)) for rate in rates)
        return [(rate, response) for rate, response in known if response is not None]

    @cached_property
    def elbow(self) -> Elbow | None:
        """Where R / L is least."""
        return elbow_of(*zip(*self.line, strict=True)) if self.line else None


def formulas(curve: Curve) -> list[Formula]:
    """The published curve and M/M/m through the curve's first point and its capacity.

    Empty where no point has a steady state. M/M/m has a whole number of servers, the nearest to M, and a
    service time that gives it the same capacity.
    """
    if not curve.steady or not curve.capacity_per_s.point:
        return []
    first, capacity = curve.steady[0], curve.capacity_per_s.point
    service_s = 1e-3 * (first.response_ms.point or 0.0)
    servers = service_s * capacity
    whole = max(1, round(servers))
    return [
        Formula(
            "published",
            lambda service, rate: response_time_cpu(service, rate, servers),
            service_s,
            capacity,
        ),
        Formula(
            f"M/M/{whole}",
            lambda service, rate: open_queue(rate, service, whole).response_time,
            whole / capacity,
            capacity,
        ),
    ]


@dataclass(frozen=True)
class Forecast:
    """Forecasts of a curve by the simulation."""

    curve: Curve
    calibrated: RunCosts
    line: Sequence[ScenarioForecast]
    """By rate, from the fewest arrivals to the last rate with a steady state."""
    of_points: Sequence[ScenarioForecast | None]
    """At the rates of the curve's points; None where it sees no steady state."""

    def response_ms(self, outlook: ScenarioForecast) -> Estimate:
        """R with its prediction interval."""
        said = predict(outlook, shipped_record()[0])[_RESPONSE]
        return Estimate(said.point, said.low, said.high, said.level)

    @cached_property
    def elbow(self) -> tuple[Elbow, Estimate] | None:
        """The elbow, and its rate with the middle 90 % over the resampled calibrations."""
        rates = [outlook.scenario.arrival_rate_per_s or 0.0 for outlook in self.line]
        point = elbow_of(rates, [outlook.point[_RESPONSE] for outlook in self.line])
        if point is None:
            return None
        again = []
        for replicates in zip(*(outlook.replicates for outlook in self.line), strict=True):
            known = [
                (rate, one[_RESPONSE])
                for rate, one in zip(rates, replicates, strict=True)
                if _RESPONSE in one
            ]
            elbow = elbow_of(*zip(*known, strict=True)) if known else None
            again += [] if elbow is None else [elbow.rate_per_s]
        return point, _middle(point.rate_per_s, again)

    def less_service(self, rate_per_s: float) -> tuple[float, Estimate] | None:
        """R at a rate in ms, and how many times that it is with less CPU time of a transaction.

        The interval is the middle 90 % over the resampled calibrations. None without a steady state.
        """
        scenario = replace(self.curve.scenario, arrival_rate_per_s=rate_per_s)
        whole = _look(self.calibrated, scenario)
        less = _look(self.calibrated, replace(scenario, cpu_factor=LESS_SERVICE))
        if whole is None or less is None:
            return None
        again = [
            mine[_RESPONSE] / before[_RESPONSE]
            for mine, before in zip(less.replicates, whole.replicates, strict=True)
            if mine and before
        ]
        return whole.point[_RESPONSE], _middle(less.point[_RESPONSE] / whole.point[_RESPONSE], again)


def forecast_of(curve: Curve, calibrated: RunCosts) -> Forecast:
    """The forecast of a curve, at the rates of its points and where it is drawn.

    Args:
        curve: as measured; its points are used for their rates alone.
        calibrated: costs from the run's other settings.
    """

    def at(rate_per_s: float) -> ScenarioForecast | None:
        return _look(calibrated, replace(curve.scenario, arrival_rate_per_s=rate_per_s))

    line = []
    for share in _FORECAST_SHARES:
        outlook = at(share * (curve.capacity_per_s.point or 0.0))
        if outlook is None:
            break
        line.append(outlook)
    return Forecast(curve, calibrated, line, [at(point.asked_per_s) for point in curve.points])


def _look(calibrated: RunCosts, scenario: Scenario) -> ScenarioForecast | None:
    try:
        return forecast_with_replicates(calibrated, scenario)
    except (NoSteadyStateError, SimulationTooLongError):
        return None


def _middle(point: float, again: Sequence[float]) -> Estimate:
    """A figure with the middle 90 % of its values over the resampled calibrations and itself."""
    ends = _core.answer_interval(point, again)
    return Estimate(point, None, None, LEVEL) if ends is None else Estimate(point, *ends, LEVEL)
