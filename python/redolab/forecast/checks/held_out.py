"""Models checked inside one run: costs from at most three of its settings, forecasts of all the others."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.errors import UsageError
from redolab.forecast.ask import ask, models_of
from redolab.forecast.costs.costs import Scenario, scenario_of
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.direct.measured import measured_settings
from redolab.forecast.track_record import Score, Silence, family_of
from redolab.parts import MissingPartError, check_compiled
from redolab.records.load import FACTORS
from redolab.records.run import Run

_KNOWN = frozenset({"sessions", "rows_per_commit", "commit_wait", "commit_delay_us"})
"""Levels that a scenario is made of."""


def held_out(run: Run) -> tuple[tuple[Score, ...], tuple[Silence, ...]]:
    """Every model's forecast of the settings that it was not calibrated on, without intervals.

    Costs come from a lone session, the most sessions with one row, and the most rows or, without several
    rows, the number of sessions in the middle. Empty where the run does not have other settings, or no costs.
    """
    asked = _scenarios(run)
    known = _three(asked)
    if not known or len(asked) == len(known):
        return (), ()
    try:
        check_compiled()
        calibrated = calibrate(run, known)
    except (UsageError, MissingPartError):
        return (), ()
    measured, models = measured_settings(run), models_of(calibrated)
    scores, silences = [], []
    for name, scenario in asked.items():
        if name in known or name not in measured:
            continue
        family = family_of(calibrated.point, scenario)
        answers, silent = ask(models, calibrated.point, scenario)
        silences += [Silence(model, family, why) for model, why in silent.items()]
        for model, quantities in answers.items():
            for quantity, value in quantities.items():
                observed = measured[name].get(quantity)
                if observed is not None and observed.point and observed.point > 0 and value > 0:
                    scores.append(Score(model, family, quantity, value, observed.point))
    return tuple(scores), tuple(silences)


def _scenarios(run: Run) -> dict[str, Scenario]:
    """The settings that are scenarios, so without pauses; none of a run of anything else."""
    manifest = run.manifest
    levels = {
        item["name"]: item["levels"] for item in manifest["settings"] if "pause_ms" not in item["levels"]
    }
    factors = {factor for item in levels.values() for factor in item}
    if manifest.get("unit") not in ("commit", "row") or factors & (FACTORS.keys() - _KNOWN):
        return {}
    sessions = int(manifest.get("load", {}).get("sessions", 1))
    return {name: scenario_of(item, sessions) for name, item in levels.items()}


def _three(asked: Mapping[str, Scenario]) -> tuple[str, ...]:
    """The settings to calibrate on; none where there is no lone session or no busy one."""
    plain = {
        name: item for name, item in asked.items() if item.commit_wait == "wait" and not item.commit_delay_us
    }
    single = sorted(
        (name for name in plain if plain[name].rows_per_commit == 1), key=lambda name: plain[name].sessions
    )
    if len(single) < 2 or plain[single[0]].sessions > 1:
        return ()
    most = max(plain, key=lambda name: (plain[name].rows_per_commit, plain[name].sessions))
    third = single[len(single) // 2] if most in single else most
    return tuple(dict.fromkeys((single[0], single[-1], third)))
