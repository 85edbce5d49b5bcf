"""Output of sysbench: a line for each interval of `--report-interval`, or its histogram."""

from __future__ import annotations

import re

import numpy as np

from redolab import units
from redolab.errors import UsageError
from redolab.values.content import Content
from redolab.values.formats.counts import expanded
from redolab.values.formats.sheet import Sheet, SheetNumbers, floats

_STARTS = re.compile(r"sysbench \d+\.\d+|\[ *\d+s ?\] th(?:d|read)s: \d+,? ")
_INTERVAL = re.compile(r"\[ *(?P<time>\d+)s ?\] (?:th(?:d|read)s: (?P<threads>\d+),? )?(?P<rest>.*)")
_FIGURES = (
    (
        "latency_percentile",
        "ms",
        re.compile(r"lat(?:ency)? \(ms, ?\d+(?:\.\d+)?%\): (\d+(?:\.\d*)?)|response time: (\d+(?:\.\d*)?)ms"),
    ),
    ("tps", "tps", re.compile(r"(?:tps|eps): (\d+(?:\.\d*)?)")),
    ("qps", "qps", re.compile(r"qps: (\d+(?:\.\d*)?)")),
    ("errors_per_s", None, re.compile(r"err(?:/s|ors): (\d+(?:\.\d*)?)")),
    ("reconnects_per_s", None, re.compile(r"reconn(?:/s|ects): (\d+(?:\.\d*)?)")),
)
_PERCENTILE = re.compile(r"lat(?:ency)? \(ms, ?(\d+(?:\.\d+)?)%\)|\((\d+(?:\.\d+)?)%\)")
_BAR = re.compile(r"\s*(\d+\.\d+) \|\**\s+(\d{1,18})")
_NO_REPORT = (
    "holds only sysbench's summary and no line of an interval, so it has no values to analyse. Let sysbench "
    "report with --report-interval=1 or --histogram=on"
)


def read_sysbench(content: Content, head: str) -> Sheet | None:
    """The figures that sysbench reported; None for a file in another format.

    Raises:
        UsageError: it holds only a summary, or columns that change.
    """
    if not any(_STARTS.match(line.strip()) for line in head.splitlines()[:40]):
        return None
    intervals: list[dict[str, float]] = []
    values: list[float] = []
    counts: list[int] = []
    percentile = None
    for line in content.lines():
        if found := _INTERVAL.match(line.strip()):
            row = {"time": float(found["time"]), "threads": float(found["threads"] or "nan")}
            for name, _, pattern in _FIGURES:
                if figure := pattern.search(found["rest"]):
                    row[name] = float(next(group for group in figure.groups() if group))
            intervals.append(row)
            if known := _PERCENTILE.search(found["rest"]):
                percentile = known[1] or known[2]
        elif bar := _BAR.fullmatch(line):
            values.append(float(bar[1]))
            counts.append(int(bar[2]))
    if counts:
        return _histogram(content, values, counts, len(intervals))
    if not intervals:
        raise UsageError(f"{content.place} {_NO_REPORT}.")
    return _intervals(intervals, percentile)


def _histogram(content: Content, values: list[float], counts: list[int], intervals: int) -> Sheet:
    notes = [
        "The values come from sysbench's histogram. The histogram's values are 1.8 % apart, so each value is "
        "exact to 1.8 %."
    ]
    if intervals:
        notes.append(f"The file also has {units.counted(intervals, 'line')} of intervals, which are ignored.")
    return expanded(content.place, "a histogram of sysbench", np.array(values), counts, "ms", tuple(notes))


def _intervals(rows: list[dict[str, float]], percentile: str | None) -> Sheet:
    names = {name for row in rows for name in row}
    kinds: dict[str, str | None] = {name: unit for name, unit, _ in _FIGURES}
    columns = {
        name: SheetNumbers(floats([row.get(name, np.nan) for row in rows]), kinds[name])
        for name in kinds
        if name in names
    }
    columns["threads"] = SheetNumbers(floats([row["threads"] for row in rows]))
    columns["time"] = SheetNumbers(floats([row["time"] for row in rows]), "s")
    latency = columns.get("latency_percentile")
    notes = []
    if latency is not None and not np.nanmax(latency.values):
        # sysbench prints zeros where --percentile=0 turned the percentile off.
        del columns["latency_percentile"]
        latency = None
    if latency is not None:
        notes.append(
            f"Each value is the {percentile or 'chosen'}th percentile of latency in one interval, because "
            "sysbench does not report single latencies. With --histogram=on it reports their distribution."
        )
    default = "latency_percentile" if latency is not None else "tps" if "tps" in columns else None
    return Sheet("output of sysbench", columns, {}, default, tuple(notes), in_time=True)
