"""The figures of each report as columns, for `redolab analyze` and other tools."""

from __future__ import annotations

import csv
import io
from datetime import datetime

from redolab.experiment.imported.cost import FIGURES, cost_of
from redolab.experiment.imported.reports import read_figures
from redolab.records.run import Run

FILE = "series.csv"
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def series(run: Run) -> str:
    """A line of CSV for each report that counts: when it began, and every figure that is known.

    Times are in seconds and shares of 1, as `redolab.experiment.imported.cost.FIGURES` has them.
    """
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["instance", "began", "day", "hour", *FIGURES])
    for figures in read_figures(run):
        report = figures.report
        if report.spoiled is None:
            began = datetime.fromisoformat(report.started_at)
            values = cost_of(figures).values()
            known = [repr(values[key].value) if key in values else "" for key in FIGURES]
            when = [report.started_at, _DAYS[began.weekday()], f"{began.hour:02}h"]
            out.writerow([report.setting, *when, *known])
    return text.getvalue()
