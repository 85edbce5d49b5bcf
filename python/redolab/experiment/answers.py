"""Results objects: a question's own answer, joined with what forecasts say of the same run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from redolab.errors import UsageError
from redolab.experiment import EXPERIMENTS
from redolab.experiment.listed import plan as listed
from redolab.experiment.verify_forecast import plan as verify_forecast
from redolab.records.store import Run

if TYPE_CHECKING:
    from redolab.analysis.compared import Compared


def analyse(run: Run, league: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Every figure of a stored run, as the results object that scripts and the report read.

    Args:
        run: finished or not.
        league: the league of models as it stood when the run was reported; None for none. The same run with
            the same league gives the same object.

    Raises:
        UsageError: this version knows no analysis for the run's experiment.
    """
    from redolab.analysis.compared import compare_run

    found = _own(run)
    if run.manifest.get("record", "sample") != "sample":
        return found
    return with_forecasts(found, run, compare_run(run), league)


def with_forecasts(
    found: Mapping[str, Any], run: Run, compared: Compared, league: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A results object of samples with the keys `league` and `advice`.

    Args:
        found: the question's own results object.
        run: what it is of.
        compared: the same, compared.
        league: as `analyse` takes it.
    """
    from redolab.analysis.compared import session_times
    from redolab.forecast.advice.advice import of_run
    from redolab.forecast.checks.league import league_of

    return {
        **found,
        "league": league_of(run, league),
        "advice": of_run(run, compared.baseline, session_times(compared)),
    }


def lasting(results: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What of a run's results forecasts on this machine need later; None where nothing can be relied on."""
    experiment = EXPERIMENTS.get(results["experiment"])
    return None if experiment is None else experiment.lasting(results)


def _own(run: Run) -> dict[str, Any]:
    name = run.manifest["experiment"]
    if name == listed.NAME:
        return listed.analyse(run)
    if name == verify_forecast.NAME:
        return verify_forecast.analyse(run)
    if name not in EXPERIMENTS:
        raise UsageError(f"{run.path} is a run of {name!r}, which this version cannot analyse.")
    return EXPERIMENTS[name].analyse(run)
