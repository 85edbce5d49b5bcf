"""Results objects: a question's own answer, joined with the forecasts of the same run.

The answer of an experiment is `analyse` in its folder's `answer.py`. For a run of samples it takes the run
and the run compared (`redolab.analysis.compared.Compared`), for any other the run alone. The module may also
have `lasting`, and `levels` where a run ends as soon as the numbers that it recommends are settled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from redolab.errors import UsageError
from redolab.parts import why_not_compiled
from redolab.records.run import Run

if TYPE_CHECKING:
    from redolab.analysis.compared import Compared
    from redolab.analysis.levels import LevelsOf
    from redolab.analysis.observed.watch.periods import Periods

_FOLDERS: Mapping[str, str] = {
    "commit-mode": "commit_mode",
    "durability": "durability",
    "rows-per-commit": "rows_per_commit",
    "session-count": "session_count",
    "commit-scaling": "commit_scaling",
    "response-curve": "response_curve",
    "cpu-capacity": "cpu_capacity",
    "consistent-read": "consistent_read",
    "sampling-distribution": "sampling_distribution",
    "calibrate": "calibrate",
    "list": "listed",
    "verify-forecast": "verify_forecast",
}
"""The experiment of a run to the folder of its answer."""
_IMPORTED = frozenset({"awr", "statspack", "oracle-pack"})
"""Names in the place of an experiment where a run was made of reports."""
Early = Callable[[Mapping[str, Any]], None]
LEFT_OUT = (
    "Forecasts are left out of the advice, of the league of models, and of the table at an equal workload."
)
WATCH = "watch"
"""The name in the place of an experiment where a live server was watched."""


def analyse(
    run: Run,
    league: Mapping[str, Any] | None = None,
    periods: Periods | None = None,
    *,
    clock: bool = True,
    early: Early | None = None,
) -> dict[str, Any]:
    """Every figure of a stored run, as the results object that scripts and the report read.

    Args:
        run: finished or not.
        league: the league of models at the time the run was reported; None for none. The same run with
            the same league gives the same object.
        periods: for a watched run, the reported period and the one that it is compared with; None for all.
        clock: whether the advice on observations also ends after some seconds, as it does for a person who
            waits; without it the same run gives the same advice however slow the machine is.
        early: gets the figures of the observations before the advice is forecast; `advice` is None there.

    Raises:
        UsageError: this version knows no analysis for the run's experiment, or it has no periods.
    """
    from redolab.analysis.compared import compare_run

    name = run.manifest["experiment"]
    if name not in _FOLDERS and name not in _IMPORTED and name != WATCH:
        raise UsageError(f"{run.path} is a run of {name!r}, which this version cannot analyse.")
    if name == WATCH:
        return _of_watch(run, periods, clock, early)
    if periods is not None:
        raise UsageError(
            f"The run {run.path} was not made by `redolab watch`. Only a run of `redolab watch` can be "
            "reported by periods of time."
        )
    answer = _answer(name)
    record = run.manifest.get("record", "sample")
    if record != "sample":
        other: dict[str, Any] = answer.analyse(run)
        return _advised(other, run, None, clock, early) if record == "report" else other
    compared = compare_run(run)
    return _completed(with_forecasts(answer.analyse(run, compared), run, compared, league))


def _of_watch(run: Run, periods: Periods | None, clock: bool, early: Early | None) -> dict[str, Any]:
    """The results object of a watched run, with its advice."""
    from redolab.analysis.observed.watch.answer import analyse as analyse_watch
    from redolab.forecast.advice.advice import of_profile

    if run.manifest.get("record") != "watched":
        raise UsageError(
            f"The manifest of {run.path} names it as a run of `redolab watch`, but the run has no table of "
            "watched times."
        )
    found = analyse_watch(run, periods)
    return _advised(found, run, of_profile(found), clock, early)


def _advised(
    found: Mapping[str, Any],
    run: Run,
    bounds: Mapping[str, Any] | None,
    clock: bool,
    early: Early | None,
) -> dict[str, Any]:
    """A results object of observations, with its key `advice`: the bounds, and the forecasts of the run."""
    from redolab.forecast.advice.advice import of_seen

    if early is not None:
        early({**found, "advice": None})
    return _completed({**found, "advice": of_seen(run, bounds, found, clock=clock)})


def _completed(found: dict[str, Any]) -> dict[str, Any]:
    """A results object with a warning where this installation could not forecast."""
    why = why_not_compiled()
    if why is None:
        return found
    return {**found, "left_out": why, "warnings": [*found["warnings"], f"{LEFT_OUT} {why}"]}


def as_far_as_forecasts(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two results objects of a run; both without forecasts where either was made without them."""
    if "left_out" not in one and "left_out" not in other:
        return dict(one), dict(other)
    return _without_forecasts(one), _without_forecasts(other)


def forecasts_all_the_same(results: Mapping[str, Any]) -> bool:
    """Whether a results object that says that forecasts are left out has some."""
    if "left_out" not in results:
        return False
    advice, curve = results.get("advice"), results.get("curve")
    same = curve.get("equal_workload") if isinstance(curve, dict) else None
    return bool(
        (isinstance(advice, dict) and advice.get("changes"))
        or (isinstance(same, dict) and same.get("forecasts"))
    )


def _without_forecasts(results: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in results.items() if key not in ("left_out", "advice", "league")}
    if isinstance(advice := results.get("advice"), dict):
        kept["advice"] = {"bounds": advice.get("bounds")}
    if isinstance(warnings := kept.get("warnings"), list):
        kept["warnings"] = [text for text in warnings if not str(text).startswith(LEFT_OUT)]
    curve = kept.get("curve")
    if isinstance(curve, dict) and isinstance(same := curve.get("equal_workload"), dict):
        kept["curve"] = {**curve, "equal_workload": {**same, "forecasts": None}}
    return kept


def with_forecasts(
    found: Mapping[str, Any], run: Run, compared: Compared, league: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A results object of samples with the keys `league`, `advice` and `curve.equal_workload.forecasts`.

    Args:
        found: the question's own results object.
        run: the run it belongs to.
        compared: the same, compared.
        league: as `analyse` takes it.
    """
    from redolab.analysis.compared import session_times
    from redolab.forecast.advice.advice import of_run
    from redolab.forecast.checks.league import league_of
    from redolab.forecast.equal_workload import forecasts_at
    from redolab.forecast.track_record import shipped_record

    curve = dict(found.get("curve") or {})
    if same := curve.get("equal_workload"):
        # A forecast's rate is one of commits.
        commits = run.manifest.get("unit", "commit") == "commit"
        forecasts = forecasts_at(run, same["rate_per_s"], shipped_record()[0]) if commits else None
        curve["equal_workload"] = {**same, "forecasts": forecasts}
    return {
        **found,
        "curve": curve,
        "league": league_of(run, league),
        "advice": of_run(run, compared.baseline, session_times(compared)),
    }


def lasting(results: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Results of a run that later forecasts on this machine need; None where nothing can be relied on."""
    kept = getattr(_answer(results["experiment"]), "lasting", None)
    found: Mapping[str, Any] | None = None if kept is None else kept(results)
    return found


def levels_of(name: str) -> LevelsOf | None:
    """The function that finds the numbers which a run of an experiment recommends; None where it compares
    settings alone.
    """
    found: LevelsOf | None = getattr(_answer(name), "levels", None)
    return found


def _answer(name: str) -> Any:
    if name in _IMPORTED:
        return import_module("redolab.analysis.observed.awr.answer")
    return import_module(f"redolab.experiment.{_FOLDERS[name]}.answer")
