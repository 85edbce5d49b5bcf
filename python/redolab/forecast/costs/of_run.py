"""Costs from any stored run: measured one by one, or solved from what was only seen."""

from __future__ import annotations

from redolab.errors import UsageError
from redolab.forecast.costs.calibrated import Calibrated, NoCostsError
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.records.run import Run, once_for_a_run


@once_for_a_run
def costs_of(run: Run) -> Calibrated:
    """What a forecast starts from.

    Args:
        run: of samples, of a watched server, or of imported reports.

    Raises:
        NoCostsError: the run does not tell it; the text says what is missing.
    """
    # What the one needs the other does not load.
    if run.manifest.get("record") == "watched":
        from redolab.forecast.costs.inferred.watched import calibrate_watched

        return calibrate_watched(run)
    if run.manifest.get("record") == "report":
        from redolab.forecast.costs.inferred.imported import calibrate_reports

        return calibrate_reports(run)
    return calibrate(run)


def costs_or_why(run: Run) -> tuple[Calibrated | None, str]:
    """The same, or why there are none, in words that name no place: a run that was moved says the same."""
    try:
        return costs_of(run), ""
    except NoCostsError as error:
        return None, f"this run {error.why}"
    except UsageError as error:
        return None, str(error)
