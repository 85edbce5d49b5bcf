"""The figures of each report as columns, for `redolab analyze` and other tools."""

from __future__ import annotations

import csv
import io

from redolab.analysis.observed.awr.cost import cost_of
from redolab.analysis.observed.awr.entries import read_figures
from redolab.analysis.observed.awr.times_of_day import day_of, hour_of, level_of
from redolab.analysis.observed.figures import AWR
from redolab.records.run import Run

FILE = "series.csv"


def series(run: Run) -> str:
    """A line of CSV for each report that counts: when it began, and every figure that is known.

    Times are in seconds and shares of 1, as `redolab.analysis.observed.figures.AWR` has them.
    """
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["instance", "began", "day", "hour", "threads_busy", *AWR])
    for figures in read_figures(run):
        report = figures.report
        if report.spoiled is None:
            cost = cost_of(figures)
            known = [repr(cost.values[key].value) if key in cost.values else "" for key in AWR]
            when = [report.started_at, day_of(cost), hour_of(cost), level_of(cost)]
            out.writerow([report.setting, *when, *known])
    return text.getvalue()
