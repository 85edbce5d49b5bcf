"""A sealed forecast compared with its measurement: every model's forecast of every setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from redolab import _core
from redolab.analysis.exhibits import Column, Table
from redolab.forecast.ask import ask, models_of
from redolab.forecast.checks.league import SHORT, SHOWN
from redolab.forecast.costs.costs import Scenario
from redolab.forecast.costs.direct.measured import measured_ratios, measured_settings
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.quantities import RATIOS, SCORED
from redolab.forecast.models.scenario_forecast import (
    MODEL,
    ScenarioForecast,
    compare,
    extrapolated,
    forecast_with_replicates,
    predict,
)
from redolab.forecast.track_record import (
    Predicted,
    Score,
    Silence,
    family_of,
    log_ratios,
    prediction_interval,
)
from redolab.records.sealed import FILE
from redolab.records.store import Run, read_document
from redolab.stats.estimates import MISSING, Estimate


@dataclass(frozen=True)
class Checked:
    """One quantity that a model forecast of a setting, with its measurement."""

    setting: str
    score: Score
    level: float
    """The probability of the prediction interval, 0 to 1."""
    verified: int
    """Forecasts of the family that were verified before."""
    measured: Estimate

    @property
    def error(self) -> float:
        """Forecast / measured - 1."""
        return self.score.forecast / self.score.observed - 1

    def as_json(self) -> dict[str, Any]:
        """The score as the results object has it."""
        return {
            "setting": self.setting,
            "model": self.score.model,
            "family": self.score.family,
            "quantity": self.score.quantity,
            "forecast": self.forecast.as_json(),
            "verified": self.verified,
            "measured": self.measured.as_json(),
            "error": self.error,
            "inside": self.score.inside,
        }

    @property
    def forecast(self) -> Estimate:
        """The forecast with its prediction interval."""
        return Estimate(self.score.forecast, self.score.low, self.score.high, self.level)


@dataclass(frozen=True)
class Scoring:
    """A run that checked a forecast."""

    sealed: Mapping[str, Any]
    checked: tuple[Checked, ...]
    """In the order of the settings and models as sealed."""
    silences: tuple[tuple[str, Silence], ...]
    """With the setting."""
    today: Estimate = MISSING
    """Throughput of today's setting, measured again together with the others, per second."""

    @property
    def scored(self) -> bool:
        """Whether the forecast counts as checked: every setting was measured as often as planned."""
        return bool(self.checked)

    @property
    def moved(self) -> float | None:
        """Today's throughput over that of the run the forecast came from: has the server changed since?"""
        before = self.sealed["forecast"]["today"]["throughput_per_s"]["point"]
        return self.today.point / before if self.today.point is not None and before else None

    @property
    def model(self) -> str:
        """The one that forecasts."""
        return str(self.sealed["forecast"]["settings"][0]["models"][0]["model"])

    def as_json(self) -> dict[str, Any]:
        """The key `forecast` of the results object."""
        return {
            "sealed_at": self.sealed["sealed_at"],
            "sha256": self.sealed["sha256"],
            "model": self.model,
            "scored": self.scored,
            "today": {
                "setting": self.sealed["forecast"]["today"]["setting"],
                "throughput_per_s": self.today.as_json(),
                "throughput_per_s_before": self.sealed["forecast"]["today"]["throughput_per_s"],
            },
            "scores": [item.as_json() for item in self.checked],
            "silences": [
                {"setting": setting, "model": item.model, "reason": item.reason}
                for setting, item in self.silences
            ],
        }


def forecast_of(
    calibrated: RunCosts, today: str, asked: Mapping[str, Scenario], record: Sequence[Score]
) -> dict[str, Any]:
    """Every model's forecasts of settings that are to be measured: the content to seal.

    Args:
        calibrated: the run.
        today: the name of today's setting in the run that is to measure.
        asked: the settings by name.
        record: forecasts that were verified before.
    """
    now = calibrated.measured[calibrated.today]
    outlook = forecast_with_replicates(calibrated, now.scenario)
    return {
        "today": {
            "setting": today,
            "levels": asdict(now.scenario),
            "throughput_per_s": now.quantities.get("throughput_per_s", MISSING).as_json(),
        },
        "loop": calibrated.point.loop,
        "settings": [
            {
                "setting": name,
                "asked": asdict(scenario),
                "family": family_of(calibrated.point, scenario),
                "extrapolated": [item["factor"] for item in extrapolated(calibrated, scenario)],
                "models": _said(calibrated, scenario, outlook, record),
            }
            for name, scenario in asked.items()
        ],
    }


def _said(
    calibrated: RunCosts, scenario: Scenario, today: ScenarioForecast, record: Sequence[Score]
) -> list[dict[str, Any]]:
    """Every model's forecast of a scenario with its intervals, or why it has no forecast; the one that
    forecasts first.
    """
    others = models_of(calibrated, without=MODEL)
    points, silent = ask(others, calibrated.point, scenario, today.scenario)
    again = [ask(others, costs, scenario, today.scenario)[0] for costs in calibrated.replicates]
    answers: dict[str, Mapping[str, Predicted]] = {}
    try:
        asked = forecast_with_replicates(calibrated, scenario)
        ratios = compare(today, asked, record)
        answers[MODEL] = predict(asked, record) | {
            RATIOS[quantity]: ratio for quantity, ratio in ratios.items() if quantity in RATIOS
        }
    except ValueError as error:
        silent[MODEL] = str(error)
    family, far = family_of(calibrated.point, scenario), bool(extrapolated(calibrated, scenario))
    for model, values in points.items():
        answers[model] = {
            quantity: prediction_interval(
                point,
                [one[model][quantity] for one in again if quantity in one.get(model, {})],
                past := log_ratios(record, model, family, quantity),
                extrapolated=_core.is_wide(far, calibrated.point.prior_holds, bool(past)),
            )
            for quantity, point in values.items()
        }
    quantities = {
        model: {name: asdict(told[name]) for name in SCORED if name in told and told[name].point > 0}
        for model, told in answers.items()
    }
    return [
        {"model": model, "silent": silent.get(model), "quantities": quantities.get(model, {})}
        for model in (MODEL, *others)
    ]


def score_run(run: Run) -> Scoring | None:
    """Score the sealed forecast of a run; None without one.

    A run that was interrupted or failed scores nothing: its forecast stays unscored.

    Raises:
        UsageError: the forecast cannot be read.
    """
    sealed = read_document(run, FILE)
    if sealed is None:
        return None
    if run.manifest["status"] != "finished":
        return Scoring(sealed, (), ())
    ratios = measured_ratios(run, sealed["forecast"]["today"]["setting"])
    measured = {name: {**found, **ratios.get(name, {})} for name, found in measured_settings(run).items()}
    return score(sealed, measured)


def score(sealed: Mapping[str, Any], measured: Mapping[str, Mapping[str, Estimate]]) -> Scoring:
    """Compare a sealed forecast with its measurement.

    A quantity that was measured as zero, or not at all, does not get a score: it has no ratio.

    Args:
        sealed: the forecast.
        measured: quantities by setting.
    """
    checked, silences = [], []
    for asked in sealed["forecast"]["settings"]:
        name, family, far = asked["setting"], asked["family"], bool(asked.get("extrapolated"))
        if name not in measured:
            continue
        for said in asked["models"]:
            if said["silent"] is not None:
                silences.append((name, Silence(said["model"], family, said["silent"])))
            for quantity, told in said["quantities"].items():
                observed = measured[name].get(quantity)
                if observed is None or not observed.point or observed.point < 0:
                    continue
                ends = told["low"], told["high"]
                one = Score(said["model"], family, quantity, told["point"], observed.point, *ends, far)
                checked.append(Checked(name, one, told["level"], told["verified"], observed))
    today = measured.get(sealed["forecast"]["today"]["setting"], {})
    return Scoring(sealed, tuple(checked), tuple(silences), today.get("throughput_per_s", MISSING))


def tables(scoring: Scoring, labels: Mapping[str, str]) -> list[Table]:
    """The forecast next to its measurement, a table per setting, and the same for every model.

    Args:
        scoring: of the run.
        labels: of the settings whose names are keys.
    """
    if not scoring.scored:
        return []
    own = [item for item in scoring.checked if item.score.model == scoring.model]
    names = list(dict.fromkeys(item.setting for item in own))
    sealed = (
        f"Sealed {scoring.sealed['sealed_at']}, before the first sample (SHA-256 "
        f"{scoring.sealed['sha256'][:16]}). Times in ms. Error is forecast / measured − 1. Checked before: "
        "earlier verified forecasts for settings of the same family; with fewer than 9 of them the interval "
        "is a guess."
    )
    return [
        *(
            Table(
                f"forecast-{number}",
                f"{labels.get(name, name)}: forecast with its {100 * own[0].level:.0f} % interval, "
                "and measurement",
                _OWN,
                [_row(item) for item in own if item.setting == name],
                sealed if name == names[-1] else "",
                first=True,
            )
            for number, name in enumerate(names, start=1)
        ),
        Table(
            "forecast-models",
            "Forecasts of every model",
            _MODELS,
            _by_model(scoring),
            "Only the group-commit models in this table include that one flush serves every waiting commit.",
        ),
    ]


def _row(item: Checked) -> dict[str, Any]:
    return {
        "setting": item.setting,
        "model": item.score.model,
        "quantity": SHORT.get(item.score.quantity, item.score.quantity),
        "forecast": item.score.forecast,
        "low": item.score.low,
        "high": item.score.high,
        "measured": item.measured,
        "error": 100 * item.error,
        "inside": {True: "inside", False: "outside", None: None}[item.score.inside],
        "verified": item.verified,
    }


def _by_model(scoring: Scoring) -> list[dict[str, Any]]:
    rows = [_row(item) for item in scoring.checked if item.score.quantity in SHOWN]
    return rows + [
        {"setting": setting, "model": item.model, "quantity": f"silent: {item.reason}"}
        for setting, item in scoring.silences
    ]


_COMMON = (
    Column("quantity", "of", "text"),
    Column("forecast", "forecast", "number"),
    Column("low", "from", "number"),
    Column("high", "to", "number"),
    Column("measured", "measured", "estimate"),
    Column("error", "error", "change", "%"),
    Column("inside", "interval", "text"),
)
_OWN = (*_COMMON, Column("verified", "checked before", "count"))
_MODELS = (Column("setting", "setting", "text"), Column("model", "model", "text"), *_COMMON)
