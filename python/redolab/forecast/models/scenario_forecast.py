"""A setting that was not measured, forecast from one that was: every quantity with its interval.

The group-commit model is simulated with the run's costs, and again with the costs of each resampled run
(`RunCosts.replicates`). The scatter of those, and how far the model's earlier forecasts were off, make the
prediction intervals (`redolab.forecast.track_record`). A comparison with today is forecast against forecast,
one calibration at a time, so that errors of both cancel; today's measured figures are given with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from redolab import _core
from redolab._core import SimulationTooLongError
from redolab.files.system import allowed_cpus
from redolab.forecast.ask import ask, models_of
from redolab.forecast.costs.costs import Costs, Scenario, parameters
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.quantities import MODELS, QUANTITIES, RATIOS, Quantities, simulation
from redolab.forecast.track_record import (
    LEVEL,
    Predicted,
    Score,
    families_of,
    family_of,
    log_ratios,
)
from redolab.model.erlang import NoSteadyStateError
from redolab.stats.estimates import Estimate
from redolab.units import duration, significant

Answered = TypeVar("Answered")
FORECAST: Mapping[str, str] = MappingProxyType({**QUANTITIES, "rows_per_s": "rows per second"})
"""The quantities that are forecast, with their meaning."""
MODEL = next(iter(MODELS))
"""The model that forecasts; all others are compared with it."""
FITTING = ("throughput_per_s", "commit_time_ms")
"""The quantities by which it is judged whether the model fits the run."""
UNVERIFIED = (
    "No forecast for settings of the family '{family}' was verified before, so the intervals are a guess. "
    "`redolab verify-forecast` forecasts a setting, measures it and keeps the score."
)
QUICKER = (
    "The quickest flush of the measured device took {least} ms. log_device_ms={asked} is forecast as if a "
    "flush took {least} ms, because a quicker device was not measured."
)
SHORTER = (
    "The quickest flush that was seen took {least} ms. log_device_ms={asked} is forecast as if the device "
    "took all of a flush's time, because the rest of a flush's time was not seen separately."
)
LOST = (
    "With {lost} of {all} resampled calibrations the queue grows without end (no steady state): the load is "
    "near capacity, and the upper ends of the times are too low."
)
MISFIT = (
    "The model does not fit this server: its forecast of today's own setting is off by more than its "
    "interval ({outside}). Check its forecast of a change with `redolab verify-forecast`."
)
OTHER_WAITS = (
    "The forecast of the mean response time includes {other} of other waits, as much for each row as today. "
    "The distribution of these waits is not known, so the 95th percentile is not forecast."
)
OUTSIDE = "{quantity}: {measured} measured, forecast {low} to {high}"
"""The warnings of a forecast, with places for what each names; a page fills them too."""


@dataclass(frozen=True)
class ScenarioForecast:
    """The model's forecast of one scenario, before its past errors are looked at."""

    scenario: Scenario
    family: str
    """The name of the settings in which the model errs alike."""
    extrapolated: bool
    """Whether it lies outside of what the run measured."""
    point: Quantities
    replicates: tuple[Quantities, ...]
    """The same from each resampled calibration; nothing for one that has no steady state."""
    prior_holds: bool = True
    """Whether what is assumed of a model that was never checked was found on servers that commit alike."""
    like: tuple[str, ...] = ()
    """Other families whose forecasts are at least as sure as this one can be."""

    @property
    def families(self) -> tuple[str, ...]:
        """Its own, and those."""
        return (self.family, *self.like)


def forecast(
    calibrated: RunCosts,
    scenario: Scenario,
    record: Sequence[Score],
    sweep: Iterable[Scenario] = (),
    work_rows: int | None = None,
) -> dict[str, Any]:
    """The results object of a forecast (docs/reference/forecast-json.md), without the run's name and answers.

    Args:
        calibrated: the run.
        scenario: what is asked about.
        record: every forecast that was verified before.
        sweep: more scenarios, which need not all have a steady state.
        work_rows: rows that all sessions together are to write; None where that is not asked.

    Raises:
        ValueError: the scenario cannot be, or its cost is not known.
        NoSteadyStateError: more arrives than can be done.
        SimulationTooLongError: too little happens to be simulated.
    """
    today = _whole(
        calibrated, forecast_with_replicates(calibrated, calibrated.measured[calibrated.today].scenario)
    )
    asked = (
        today
        if scenario == today.scenario
        else _whole(calibrated, forecast_with_replicates(calibrated, scenario))
    )
    known = {outlook.scenario: outlook for outlook in (today, asked)}
    others, refused = ask(models_of(calibrated, without=MODEL), calibrated.point, scenario)
    others = {name: _with_other_waits(found, calibrated.other_ms(scenario)) for name, found in others.items()}
    now, then = _about(calibrated, today, today, record), _about(calibrated, today, asked, record)
    levels = [_level(calibrated, today, one, known, record) for one in sweep]
    for one in (now, then, *levels):
        one["elapsed_s"] = _elapsed_s(one["forecast"].get("rows_per_s"), work_rows)
    return {
        "format": 1,
        "model": MODEL,
        "loop": calibrated.point.loop,
        "family": asked.family,
        "today": {
            "setting": calibrated.today,
            **{key: now[key] for key in ("levels", "measured", "forecast", "elapsed_s")},
        },
        "asked": then,
        "work_rows": work_rows,
        "sweep": levels,
        "models": {MODEL: dict(asked.point), **others},
        "models_refused": refused,
        "extrapolated": extrapolated(calibrated, scenario),
        "warnings": [*_misfit(now), *_warnings(calibrated, asked, record)],
    }


def point_forecast(calibrated: RunCosts, scenario: Scenario) -> ScenarioForecast:
    """The model's forecast of a scenario from the calibration alone, without its scatter.

    Raises:
        ValueError: the scenario cannot be, or its cost is not known.
        NoSteadyStateError: more arrives than can be done.
        SimulationTooLongError: too little happens to be simulated.
    """
    many, _ = _core.commits_of_forecast(parameters(calibrated.point, scenario))
    family, *like = families_of(calibrated.point, scenario)
    return ScenarioForecast(
        scenario,
        family,
        bool(extrapolated(calibrated, scenario)),
        _simulated(calibrated.point, scenario, many),
        (),
        calibrated.point.prior_holds,
        tuple(like),
    )


def forecast_with_replicates(calibrated: RunCosts, scenario: Scenario) -> ScenarioForecast:
    """The model's forecast of a scenario, from the calibration and each of its replicates.

    Raises:
        ValueError: the scenario cannot be, or its cost is not known.
        NoSteadyStateError: more arrives than can be done.
        SimulationTooLongError: too little happens to be simulated.
    """
    _, few = _core.commits_of_forecast(parameters(calibrated.point, scenario))
    of_each = tuple(of_replicates(calibrated, lambda item: _replicate(item, scenario, few)))
    return replace(point_forecast(calibrated, scenario), replicates=of_each)


def _whole(calibrated: RunCosts, outlook: ScenarioForecast) -> ScenarioForecast:
    """The same with the waits that the model does not have in its response times, as those measured are."""
    other_ms = calibrated.other_ms(outlook.scenario)
    return replace(
        outlook,
        point=_with_other_waits(outlook.point, other_ms),
        replicates=tuple(_with_other_waits(one, other_ms) for one in outlook.replicates),
    )


def _with_other_waits(found: Quantities, other_ms: float) -> Quantities:
    """Mean response times with other waits, whose percentiles nobody knows."""
    if not other_ms:
        return found
    return {
        name: value + other_ms if name == "response_time_ms" else value
        for name, value in found.items()
        if name != "response_time_ms_p95"
    }


def of_replicates(calibrated: RunCosts, answer: Callable[[Costs], Answered]) -> list[Answered]:
    """Answers of the replicates, in their order; several at a time, since the simulation holds no lock."""
    with ThreadPoolExecutor(len(allowed_cpus())) as pool:
        return list(pool.map(answer, calibrated.replicates))


def predict(outlook: ScenarioForecast, record: Sequence[Score]) -> dict[str, Predicted]:
    """Every quantity of an outlook with its prediction interval.

    Args:
        outlook: the forecast.
        record: every forecast that was verified before, of any model and family.
    """
    predictions = {}
    for name, value in outlook.point.items():
        replicates = [one[name] for one in outlook.replicates if name in one]
        ends = []
        for family in outlook.families:
            errors = log_ratios(record, MODEL, family, _core.scored(name))
            wide = _core.is_wide(outlook.extrapolated, outlook.prior_holds, bool(errors))
            ends.append(_core.predicted(name, value, replicates, errors, wide))
        predictions[name] = _widest(value, ends)
    return predictions


def compare(
    today: ScenarioForecast, asked: ScenarioForecast, record: Sequence[Score]
) -> dict[str, Predicted]:
    """The ratio of every quantity to the forecast of today's setting, no unit.

    Each replicate is compared with itself. The model's past errors of such ratios widen it. Where too few
    were ever checked, its errors of the quantity itself do: of today's setting, from which the model was
    calibrated, it errs little.
    """
    ratios: dict[str, Predicted] = {}
    for name, value in asked.point.items():
        before = today.point.get(name)
        if not before:
            continue
        if asked.scenario == today.scenario:
            ratios[name] = Predicted(1.0, 1.0, 1.0, LEVEL, 0)
            continue
        pairs = zip(asked.replicates, today.replicates, strict=True)
        replicates = [one[name] / two[name] for one, two in pairs if name in one and two.get(name)]
        scored, point = _core.scored(name), value / before
        ends = []
        for family in asked.families:
            of_ratio, of_quantity = (
                log_ratios(record, MODEL, family, one) for one in (RATIOS.get(scored, scored), scored)
            )
            wide = _core.is_wide(asked.extrapolated, asked.prior_holds, bool(of_quantity))
            ends.append(_core.predicted_ratio(point, replicates, of_ratio, of_quantity, wide))
        ratios[name] = _widest(point, ends)
    return ratios


def _widest(point: float, ends: Sequence[tuple[float, float, int]]) -> Predicted:
    """The interval around all of them; what was verified is of the first."""
    lows, highs, (verified, *_) = zip(*ends, strict=True)
    return Predicted(point, min(lows), max(highs), LEVEL, verified)


def extrapolated(calibrated: RunCosts, scenario: Scenario) -> list[dict[str, Any]]:
    """Every factor of a scenario whose value lies outside of what the run measured, with what that was.

    The log device and the CPUs were measured as they are, so any other value of them is outside.
    """
    measured = [item.scenario for item in calibrated.measured.values()]
    return [
        {
            "factor": factor,
            "asked": getattr(scenario, factor),
            "measured_from": low,
            "measured_to": high,
        }
        for factor, low, high in _core.extrapolated(calibrated.point, measured, scenario)
    ]


def _simulated(calibration: Costs, scenario: Scenario, commits: int) -> Quantities:
    simulated = simulation(calibration, scenario, commits)
    return {**simulated, "rows_per_s": simulated["throughput_per_s"] * scenario.rows_per_commit}


def _replicate(calibration: Costs, scenario: Scenario, commits: int) -> Quantities:
    try:
        return _simulated(calibration, scenario, commits)
    except NoSteadyStateError:
        return {}


def _plain(predicted: Mapping[str, Predicted]) -> dict[str, Any]:
    return {name: asdict(value) for name, value in predicted.items()}


def _about(
    calibrated: RunCosts, today: ScenarioForecast, asked: ScenarioForecast, record: Sequence[Score]
) -> dict[str, Any]:
    compared = compare(today, asked, record)
    return {
        "levels": asdict(asked.scenario),
        "measured": measured_of(calibrated, asked.scenario),
        "forecast": _plain(predict(asked, record)),
        "compared_with_today": {
            name: {key: value for key, value in asdict(ratio).items() if key != "verified"}
            for name, ratio in compared.items()
        },
    }


def _level(
    calibrated: RunCosts,
    today: ScenarioForecast,
    scenario: Scenario,
    known: Mapping[Scenario, ScenarioForecast],
    record: Sequence[Score],
) -> dict[str, Any]:
    """One scenario of a sweep, or why it has no forecast."""
    beyond = extrapolated(calibrated, scenario)
    family = family_of(calibrated.point, scenario)
    try:
        outlook = known.get(scenario) or _whole(calibrated, forecast_with_replicates(calibrated, scenario))
    except (NoSteadyStateError, SimulationTooLongError) as error:
        empty: dict[str, Any] = {"measured": {}, "forecast": {}, "compared_with_today": {}}
        return {
            "levels": asdict(scenario),
            **empty,
            "family": family,
            "extrapolated": beyond,
            "refused": str(error),
        }
    about = _about(calibrated, today, outlook, record)
    return {**about, "family": family, "extrapolated": beyond, "refused": None}


def measured_of(calibrated: RunCosts, scenario: Scenario) -> dict[str, Any]:
    """Figures that the run itself measured of a scenario; empty without one such setting."""
    known = calibrated.measured_at(scenario)
    measured: dict[str, Estimate] = {} if known is None else dict(known.quantities)
    if "throughput_per_s" in measured:
        measured["rows_per_s"] = measured["throughput_per_s"].scaled(scenario.rows_per_commit)
    return {name: value.as_json() for name, value in measured.items()}


def _elapsed_s(rows_per_s: Mapping[str, Any] | None, work_rows: int | None) -> dict[str, Any] | None:
    """How long that many rows take: rows x R / sessions, R the time of a session per row.

    Source: Little's law; sessions / R is the throughput.
    """
    if rows_per_s is None or work_rows is None:
        return None
    # The most rows per second take the shortest.
    ends = {"point": "point", "low": "high", "high": "low"}
    return {**rows_per_s, **{end: work_rows / rows_per_s[other] for end, other in ends.items()}}


def _misfit(today: Mapping[str, Any]) -> list[str]:
    """Whether today's setting, which the run measured, lies outside of its own forecast."""
    outside = [
        OUTSIDE.format(
            quantity=FORECAST[name],
            measured=significant(today["measured"][name]["point"]),
            low=significant(said["low"]),
            high=significant(said["high"]),
        )
        for name, said in today["forecast"].items()
        if name in FITTING
        and name in today["measured"]
        and not said["low"] <= today["measured"][name]["point"] <= said["high"]
    ]
    return [MISFIT.format(outside="; ".join(outside))] if outside else []


def _warnings(calibrated: RunCosts, asked: ScenarioForecast, record: Sequence[Score]) -> list[str]:
    warnings = [*calibrated.cautions]
    if other_ms := calibrated.other_ms(asked.scenario):
        warnings.append(OTHER_WAITS.format(other=duration(other_ms / 1e3)))
    if not log_ratios(record, MODEL, asked.family, "throughput_per_s"):
        warnings.append(UNVERIFIED.format(family=asked.family))
    least_ms, device_ms = calibrated.point.least_device_ms, asked.scenario.log_device_ms
    if device_ms is not None and device_ms < least_ms:
        quicker = SHORTER if calibrated.point.only_seen else QUICKER
        warnings.append(quicker.format(least=f"{least_ms:.3g}", asked=f"{device_ms:g}"))
    lost = sum(not one for one in asked.replicates)
    if lost:
        warnings.append(LOST.format(lost=lost, all=len(asked.replicates)))
    return warnings
