"""Gains of changes of today's setting, with their intervals and their order.

A gain is the ratio of the forecast with the change to the forecast of today by the same model, in which part
of the model's errors cancel. Where the run itself measured the changed setting, the measured ratio is it.
Forecasts here are quick: short simulations, and few resampled calibrations. `redolab forecast` takes longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from redolab import _core
from redolab._core import SimulationTooLongError
from redolab.forecast.advice.changes import (
    COMMITS,
    OF_LOG,
    REPLICATE_COMMITS,
    Change,
    Class,
    Forecast,
    candidates,
    enough,
)
from redolab.forecast.costs.costs import Costs, Scenario
from redolab.forecast.costs.run_costs import Measured, RunCosts
from redolab.forecast.models.quantities import Quantities, simulation
from redolab.forecast.models.scenario_forecast import MODEL, extrapolated
from redolab.forecast.track_record import Score, families_of, log_ratios, prediction_interval
from redolab.stats.estimates import MISSING, Estimate, relative_half_width, skewed

Effect = Literal["more work", "shorter times", "not shown to help", "less work"]

REPLICATES = 8
_AS_MUCH = 0.95
"""Part of today's work from which on a change that shortens times counts as doing as much."""
_PLACES: Mapping[Effect, int] = {"more work": 0, "shorter times": 0, "not shown to help": 1, "less work": 2}
_CLASSES: tuple[Class, ...] = ("kept", "lost", "limit")
ORDER = (
    "Changes that are shown to help come first, then changes that are not shown to help, then changes that "
    "do less work. Within each group, changes that keep the durability of commits come first, then changes "
    "that give it up, then limits that nobody can reach; among these changes the larger gain comes first, a "
    "gain in work before a gain in time."
)


@dataclass(frozen=True)
class Advised:
    """A change with what it gives, against today."""

    change: Change
    family: str
    """The family of settings in which the model's record is kept."""
    verified: int
    """Forecasts of that family that were verified before."""
    unmeasured: str
    """The factor outside the range that the run measured, in words; empty without one."""
    throughput: Estimate
    """Ratio of the forecasts: rows per second where rows per commit change, else commits per second."""
    response_time: Estimate
    """Ratio of the forecasts: mean time of a transaction."""
    measured: Estimate
    """The ratio of throughput as this run measured it; without a point where it did not."""
    measured_time: Estimate
    """The measured ratio of the response time."""

    @property
    def gain(self) -> Estimate:
        """How many times as much work: as measured where that has an interval."""
        return self.throughput if self.measured.point is None else self.measured

    @property
    def time(self) -> Estimate:
        """How many times as long a transaction takes, likewise."""
        return self.response_time if self.measured_time.point is None else self.measured_time

    @property
    def outcome(self) -> Effect:
        """The outcome that the intervals show."""
        gain, time = self.gain, self.time
        if gain.low is not None and gain.low > 1:
            return "more work"
        if time.high is not None and time.high < 1 and (gain.point or 0.0) >= _AS_MUCH:
            return "shorter times"
        if gain.high is not None and gain.high < 1:
            return "less work"
        return "not shown to help"

    @property
    def extrapolated(self) -> str:
        """Why this is an extrapolation; empty where it is not one."""
        if self.measured.point is not None:
            return ""
        reasons = [self.unmeasured] if self.unmeasured else []
        if self.verified == 0:
            reasons.append(f"no forecast of {self.family} has been verified before")
        return "; ".join(reasons)

    def as_json(self) -> dict[str, Any]:
        """The change as the results object has it, without its durability tiers."""
        return {
            "change": self.change.name,
            "factor": self.change.factor,
            "to": self.change.to,
            "outcome": self.outcome,
            "durability": self.change.kind,
            "basis": "forecast" if self.measured.point is None else "measured",
            "gain": self.gain.as_json(),
            "time": self.time.as_json(),
            "forecast_gain": self.throughput.as_json(),
            "forecast_time": self.response_time.as_json(),
            "family": self.family,
            "verified": self.verified,
            "extrapolated": self.extrapolated,
            "risk": self.change.risk,
            "measure": self.change.measure,
        }


@dataclass(frozen=True)
class Known:
    """Limits from an account of today's time, which no forecast contradicts."""

    log_share: float | None = None
    """Waiting for the log, of the sessions' time, 0 to 1; None where that is not known."""
    without: frozenset[str] = frozenset()
    """Factors that are not changed."""


NOTHING = Known()


def advise(
    calibrated: RunCosts,
    scores: Sequence[Score],
    forecast: Forecast = simulation,
    known: Known = NOTHING,
    given_up: list[tuple[str, SimulationTooLongError]] | None = None,
) -> tuple[Advised, ...]:
    """The changes of today's setting that can be forecast, in the order that `ORDER` describes.

    Args:
        calibrated: costs of the run.
        scores: verified forecasts, those of other models and quantities among them.
        forecast: the model; takes the number of simulated commits as its third argument.
        known: of today's time.
        given_up: receives the changes that take too long to simulate, with the reason; without it they raise.

    Raises:
        SimulationTooLongError: today's setting takes too long to simulate, or a change does.
        NoSteadyStateError: more arrives than can be done.
    """
    today = calibrated.measured[calibrated.today].scenario
    replicates = calibrated.replicates[:REPLICATES]
    base = _Forecasts.of(calibrated.point, replicates, today, forecast)
    advised: list[tuple[int, Advised]] = []

    def trying(name: str, attempt: Callable[[], None]) -> None:
        try:
            attempt()
        except SimulationTooLongError as error:
            if given_up is None:
                raise
            given_up.append((name, error))

    def consider(change: Change) -> None:
        changed = _Forecasts.of(
            change.of(calibrated.point), [change.of(one) for one in replicates], change.scenario, forecast
        )
        found = _advised(calibrated, change, base, changed, scores, known)
        advised.append((_ORDER_TRIED.index(change.factor), found))

    def sessions() -> None:
        others = frozenset(_ORDER_TRIED) - {"sessions"}
        for change in candidates(calibrated, forecast, known.without | others):
            trying(change.name, partial(consider, change))

    for change in candidates(calibrated, forecast, known.without | {"sessions"}):
        trying(change.name, partial(consider, change))
    if "sessions" not in known.without:
        # Finding the elbow takes the longest, and must not cost the others.
        trying("sessions", sessions)
    advised.sort(key=lambda item: item[0])
    return tuple(sorted((item for _, item in advised), key=_rank))


_ORDER_TRIED = ("rows_per_commit", "sessions", "commit_wait", "commit_delay_us", "log_device", "cpus")


@dataclass(frozen=True)
class _Forecasts:
    """A setting's forecast, and the same from resampled calibrations."""

    scenario: Scenario
    point: Quantities
    replicates: Sequence[Quantities]

    @staticmethod
    def of(point: Costs, replicates: Sequence[Costs], scenario: Scenario, forecast: Forecast) -> _Forecasts:
        """Forecast `scenario` with each calibration."""
        return _Forecasts(
            scenario,
            forecast(point, scenario, enough(COMMITS, scenario.sessions)),
            [forecast(one, scenario, enough(REPLICATE_COMMITS, scenario.sessions)) for one in replicates],
        )

    def ratios(self, base: _Forecasts, quantity: str, calibrated: RunCosts) -> tuple[float, list[float]]:
        """A quantity over that of `base`: the forecast's, and each resampled calibration's.

        Args:
            base: today's.
            quantity: that is compared.
            calibrated: knows the waits of a transaction that the model does not have.
        """
        work = self.scenario.rows_per_commit / base.scenario.rows_per_commit
        scale = work if quantity == "throughput_per_s" else 1.0
        changed_ms, base_ms = (
            calibrated.other_ms(one.scenario) if quantity == "response_time_ms" else 0.0
            for one in (self, base)
        )

        def ratio(changed: Quantities, of_base: Quantities) -> float:
            return scale * (changed[quantity] + changed_ms) / (of_base[quantity] + base_ms)

        return ratio(self.point, base.point), list(map(ratio, self.replicates, base.replicates))


def _advised(
    calibrated: RunCosts,
    change: Change,
    base: _Forecasts,
    changed: _Forecasts,
    scores: Sequence[Score],
    known: Known,
) -> Advised:
    families = families_of(calibrated.point, change.scenario)
    unmeasured = _unmeasured(calibrated, change)

    def ratio(quantity: str) -> tuple[Estimate, int]:
        point, replicates = changed.ratios(base, quantity, calibrated)
        found = []
        for family in families:
            past = log_ratios(scores, MODEL, family, quantity)
            wide = _core.is_wide(bool(unmeasured), calibrated.point.prior_holds, bool(past))
            found.append(prediction_interval(point, replicates, past, extrapolated=wide))
        low, high = min(one.low for one in found), max(one.high for one in found)
        return Estimate(point, low, high, found[0].level), found[0].verified

    throughput, verified = ratio("throughput_per_s")
    response_time, _ = ratio("response_time_ms")
    if change.factor in OF_LOG and known.log_share is not None:
        # Whatever the costs, no more can be saved than was waited for.
        least = max(0.0, 1 - known.log_share)
        response_time = _within(response_time, low=least)
        throughput = _within(throughput, high=1 / least if least else math.inf)
    today = calibrated.measured[calibrated.today]
    there = calibrated.measured_at(change.scenario) if change.device_scale == 1.0 else None
    return Advised(
        change,
        families[0],
        verified,
        unmeasured,
        throughput,
        response_time,
        _measured_ratio(today, there, "throughput_per_s"),
        _measured_ratio(today, there, "response_time_ms"),
    )


def _within(value: Estimate, low: float = 0.0, high: float = math.inf) -> Estimate:
    """An estimate with its point and its ends between two bounds."""

    def end(number: float | None) -> float | None:
        return None if number is None else min(max(number, low), high)

    return Estimate(end(value.point), end(value.low), end(value.high), value.level)


def _unmeasured(calibrated: RunCosts, change: Change) -> str:
    if change.device_scale != 1.0:
        return "no other log device was measured"
    reasons = []
    for item in extrapolated(calibrated, change.scenario):
        low, high = (
            f"{value:g}" if isinstance(value, float) else str(value)
            for value in (item["measured_from"], item["measured_to"])
        )
        reasons.append(
            f"{item['factor']} was measured " + (f"at {low}" if low == high else f"from {low} to {high}")
        )
    return "; ".join(reasons)


def _measured_ratio(today: Measured, there: Measured | None, quantity: str) -> Estimate:
    """Two measured means, one over the other, with the interval that their relative half-widths give.

    Without a point where one of the two has no interval of its own.
    """
    if there is None or quantity not in there.quantities or quantity not in today.quantities:
        return MISSING
    above, below = there.quantities[quantity], today.quantities[quantity]
    if not above.point or not below.point:
        return MISSING
    work = there.scenario.rows_per_commit / today.scenario.rows_per_commit
    point = above.point / below.point * (work if quantity == "throughput_per_s" else 1.0)
    widths = [relative_half_width(above), relative_half_width(below)]
    if widths[0] is None or widths[1] is None:
        return MISSING
    return skewed(point, point * math.hypot(widths[0], widths[1]), above.level)


def _rank(advised: Advised) -> tuple[int, int, bool, float]:
    return (
        _PLACES[advised.outcome],
        _CLASSES.index(advised.change.kind),
        advised.outcome == "shorter times",
        -(advised.gain.point or 0.0),
    )
