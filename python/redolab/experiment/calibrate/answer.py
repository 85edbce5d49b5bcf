"""The answer of calibrate: the cost of a commit here, or why forecasts cannot start."""

from __future__ import annotations

from typing import Any

from redolab import units
from redolab.analysis.compared import Compared
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, joined
from redolab.errors import UsageError
from redolab.experiment.calibrate.tables import cost, tables
from redolab.forecast.costs.of_run import costs_of
from redolab.forecast.costs.run_costs import RunCosts
from redolab.records.run import Run

_CALIBRATED, _NOT_CALIBRATED = "calibrated", "not calibrated"


def analyse(run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a calibrate run, finished or not; plain JSON types only.

    Args:
        run: the stored run.
        compared: the same, compared.
    """
    try:
        calibrated = costs_of(run)
    except UsageError as error:
        text = f"Forecasts cannot start from this run: calibrate again. {error}"
        return results(compared, Verdict(text, "undecided", compared.baseline, None, _NOT_CALIBRATED))
    verdict = Verdict(_costs(calibrated), "undecided", compared.baseline, None, _CALIBRATED)
    return results(compared, verdict, tables=tables(calibrated), warnings=list(calibrated.cautions))


def _costs(calibrated: RunCosts) -> str:
    """The costs that forecasts can start from: of a flush, a transaction and a row here."""
    point, busy = calibrated.point, calibrated.measured[calibrated.today]
    log = "the log" if point.second is None else "the redo log"
    flush = cost(calibrated, lambda each: each.flush_mean_s + each.flush_cpu_s)
    lone_s = point.transaction_with(1) + point.client_with(1)
    row_s = point.row_with(1) + point.client_with(1)
    sentences = [
        f"Forecasts can start from this run: a flush of {log} takes {flush.text(write=units.duration)} here.",
        f"{units.duration(point.flush_cpu_s)} of a flush's time is CPU time.",
        f"A transaction of one row costs {units.duration(lone_s)} of CPU time in addition to its flush.",
    ]
    if point.row_known:
        sentences.append(f"Each further row of a transaction costs {units.duration(row_s)} of CPU time.")
    per_flush = busy.quantities.get("commits_per_flush")
    if per_flush is not None and per_flush.point is not None:
        served = units.significant(per_flush.point)
        sentences.append(f"With {busy.scenario.sessions} sessions one flush serves {served} commits.")
    return joined(sentences)
