"""Costs from any stored run: measured one by one, or solved from what was only seen."""

from __future__ import annotations

from redolab._core import SimulationTooLongError
from redolab.errors import RedolabError, UsageError
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.run_costs import WHOLE, Effort, NoCostsError, RunCosts
from redolab.parts import MissingPartError, check_compiled
from redolab.records.run import Run, once_for_a_run


@once_for_a_run
def costs_of(run: Run) -> RunCosts:
    """The costs that a forecast starts from.

    Args:
        run: of samples, of a watched server, or of imported reports.

    Raises:
        NoCostsError: the run does not have them; the text names what is missing, or says that the simulation
            takes too long.
        MissingPartError: nothing can be simulated in this installation.
    """
    try:
        return costs_within(run, WHOLE)
    except SimulationTooLongError as error:
        raise NoCostsError(run, f"The simulation of this forecast was ended early: {error}.") from error


def costs_within(run: Run, effort: Effort) -> RunCosts:
    """The same with no more effort than that, where costs are solved by simulation.

    Args:
        run: of samples, of a watched server, or of imported reports.
        effort: how many replicates there are, the first of those of `costs_of`; and the limits of the
            simulations.

    Raises:
        NoCostsError: the run does not have them; the text names what is missing.
        SimulationTooLongError: the simulations take more.
        MissingPartError: nothing can be simulated in this installation.
    """
    check_compiled()
    # Each branch loads only its own modules.
    if run.manifest.get("record") == "watched":
        from redolab.forecast.costs.inferred.watched import calibrate_watched

        return calibrate_watched(run, effort)
    if run.manifest.get("record") == "report":
        from redolab.forecast.costs.inferred.imported import calibrate_reports

        return calibrate_reports(run, effort)
    return calibrate(run)


def costs_or_why(run: Run) -> tuple[RunCosts | None, str]:
    """The costs, or why there are none, in sentences that stay true when the run is moved."""
    try:
        return costs_of(run), ""
    except (UsageError, MissingPartError) as error:
        return None, why_of(error)


def why_of(error: RedolabError) -> str:
    """Sentences on why a run does not have costs, without its path."""
    return error.why if isinstance(error, NoCostsError) else str(error)
