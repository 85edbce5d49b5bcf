"""A measured curve with the models drawn with it, and whether each forecast is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from redolab.experiment.response_curve.curve import Curve, Point
from redolab.experiment.response_curve.elbow import Elbow, measured_elbow
from redolab.experiment.response_curve.models import LESS_SERVICE, Forecast, Formula, forecast_of, formulas
from redolab.forecast.costs.run_costs import RunCosts
from redolab.stats.estimates import Estimate

INSIDE, OUTSIDE = "inside", "outside"
NOT_JUDGED, NOT_STEADY, NO_FORECAST = "drawn", "unsteady", "no forecast"


@dataclass(frozen=True)
class Bend:
    """One elbow, measured or computed, and R there."""

    of: str
    rate_per_s: Estimate
    response_ms: float
    less_service: Estimate | None
    """R with 5 % less service time over R; None for a measured elbow."""
    at_end: bool
    """Whether it is only known to lie there or beyond."""


@dataclass(frozen=True)
class Beside:
    """A curve and what is drawn with it."""

    curve: Curve
    formulas: Sequence[Formula]
    forecast: Forecast | None
    """None where the run does not have costs."""
    elbow: tuple[Elbow, Estimate] | None
    """Measured elbow."""

    @cached_property
    def pairs(self) -> list[tuple[Point, Estimate | None, str]]:
        """Every point with its forecast, and the judgement on it in words."""
        outlooks = [None] * len(self.curve.points) if self.forecast is None else self.forecast.of_points
        found = []
        for point, outlook in zip(self.curve.points, outlooks, strict=True):
            said = None if self.forecast is None or outlook is None else self.forecast.response_ms(outlook)
            found.append((point, said, _judged(point, said)))
        return found

    @cached_property
    def bends(self) -> list[Bend]:
        """The elbows, the measured one first."""
        return list(self._bends())

    def _bends(self) -> Iterator[Bend]:
        if self.elbow is not None:
            found, rate_per_s = self.elbow
            yield Bend("measured", rate_per_s, found.response_ms, None, found.at_end)
        if self.forecast is not None and self.forecast.elbow is not None:
            found, rate_per_s = self.forecast.elbow
            less = self.forecast.less_service(found.rate_per_s)
            at_end = found.at_end
            yield Bend("forecast", rate_per_s, found.response_ms, None if less is None else less[1], at_end)
        for formula in self.formulas:
            if formula.elbow is None:
                continue
            rate = formula.elbow.rate_per_s
            whole, part = formula.response_ms(rate), formula.response_ms(rate, LESS_SERVICE)
            ratio = None if whole is None or part is None else Estimate(part / whole, None, None)
            yield Bend(
                formula.name,
                Estimate(rate, None, None),
                formula.elbow.response_ms,
                ratio,
                formula.elbow.at_end,
            )


def beside(curve: Curve, calibrated: RunCosts | None, seed: int) -> Beside:
    """Join a curve with its models.

    Args:
        curve: as measured.
        calibrated: costs from the run's other settings; None without them.
        seed: of the run, for the interval of the elbow.
    """
    return Beside(
        curve,
        formulas(curve),
        None if calibrated is None else forecast_of(curve, calibrated),
        measured_elbow(curve.steady, seed),
    )


def _judged(point: Point, said: Estimate | None) -> str:
    """Judgement on a forecast.

    Where CPUs are short the machine is not the same from one sample to the next, so no model can be right or
    wrong there.
    """
    if not point.steady:
        return NOT_STEADY
    if said is None or said.low is None or said.high is None or point.response_ms.point is None:
        return NO_FORECAST
    if point.short_of_cpu:
        return NOT_JUDGED
    return INSIDE if said.low <= point.response_ms.point <= said.high else OUTSIDE
