"""The answer of calibrate: what a commit costs here, or why forecasts cannot start."""

from __future__ import annotations

from typing import Any

from redolab import units
from redolab.analysis.compared import Compared, results
from redolab.analysis.verdict import Verdict
from redolab.errors import UsageError
from redolab.experiment.calibrate.tables import tables
from redolab.forecast.costs.calibrating import Calibrated, calibrate
from redolab.records.store import Run

_CALIBRATED, _NOT_CALIBRATED = "calibrated", "not calibrated"


def analyse(run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a calibrate run, finished or not; plain JSON types only.

    Args:
        run: the stored run.
        compared: the same, compared.
    """
    try:
        calibrated = calibrate(run)
    except UsageError as error:
        text = f"Forecasts cannot start from this run: {error}"
        return results(compared, Verdict(text, "undecided", compared.baseline, None, _NOT_CALIBRATED))
    verdict = Verdict(_costs(calibrated), "undecided", compared.baseline, None, _CALIBRATED)
    return results(compared, verdict, tables=tables(calibrated))


def _costs(calibrated: Calibrated) -> str:
    """What a commit costs here, in a sentence, and what it is for."""
    point, busy = calibrated.point, calibrated.measured[calibrated.today]
    flush_s = point.flush_mean_s + point.flush_cpu_s
    lone_s = point.transaction_with(1) + point.client_with(1)
    row_s = point.row_with(1) + point.client_with(1)
    text = (
        f"A flush of the log takes {units.duration(flush_s)} here, {units.duration(point.flush_cpu_s)} of it "
        f"CPU time; a transaction of one row costs {units.duration(lone_s)} of CPU beside it"
    )
    if point.row_known:
        text += f", and each further row {units.duration(row_s)}"
    per_flush = busy.quantities.get("commits_per_flush")
    if per_flush is not None and per_flush.point is not None:
        text += (
            f". With {busy.scenario.sessions} sessions one flush serves {units.significant(per_flush.point)} "
            "commits"
        )
    return f"{text}. Forecasts can start from this run."
