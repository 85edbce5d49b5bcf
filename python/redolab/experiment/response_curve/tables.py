"""Tables of a response-curve run: each curve with the models, its samples, and the elbows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from redolab.analysis.exhibits import Column, Table
from redolab.experiment.response_curve.beside import Beside
from redolab.experiment.response_curve.curve import SHORT_OF_CPU, Point
from redolab.stats.estimates import Estimate

_SHARE = Column("share", "load", "count", "%")
SOURCE = "Craig Shallahamer, Forecasting Oracle Performance (2007), and OraPub, 2010 to 2012"


def tables(found: Sequence[Beside]) -> list[Table]:
    """Elbows and points of each curve first, then its samples."""
    of_each = (_elbows, _points, _samples)
    return [make(number, one) for make in of_each for number, one in enumerate(found, start=1)]


def _points(number: int, one: Beside) -> Table:
    columns = (
        _SHARE,
        Column("response_time_ms", "R", "estimate", "ms"),
        *(Column(f"formula_{place}", item.name, "number", "ms") for place, item in enumerate(one.formulas)),
        Column("forecast_ms", "forecast", "estimate", "ms"),
        Column("judged", "R is", "text"),
    )
    rows = [
        {
            "share": round(100 * point.share),
            # Without a steady state R depends on the length of a sample: it is shown with the samples.
            "response_time_ms": point.response_ms if point.steady else None,
            **{
                f"formula_{place}": item.response_ms(point.asked_per_s)
                for place, item in enumerate(one.formulas)
            },
            "forecast_ms": said,
            "judged": judged,
        }
        for point, said, judged in one.pairs
    ]
    note = (
        "Load: arrivals in percent of the capacity that the first short test (the pilot) found. R (response "
        "time) counts from the moment a transaction was asked for. Inside or outside: whether R of the "
        "median sample is in the forecast's 90 % prediction interval. The two formulas use R at the first "
        "point as their service time S, and rise at capacity. Drawn: the forecast was not judged, since the "
        f"CPUs are {100 * SHORT_OF_CPU:.0f} % busy or more. Unsteady: a backlog of transactions grew at this "
        "rate, or at a lower one."
    )
    return Table(
        f"response-curve-{number}",
        f"{one.curve.words}: response time as more arrive",
        columns,
        rows,
        note,
        first=True,
    )


def _samples(number: int, one: Beside) -> Table:
    columns = (
        _SHARE,
        Column("asked_per_s", "arrivals", "number", "per s"),
        Column("done_per_s", "done", "estimate", "per s"),
        Column("mean_ms", "R, mean", "number", "ms"),
        Column("p95_ms", "R, p95", "estimate", "ms"),
        Column("repeat", "repeats differ, times", "number"),
        Column("cpu_share", "CPUs busy", "share"),
        Column("left", "never begun", "share"),
        Column("present", "in the system", "number"),
        Column("expected", "L × R", "number"),
        Column("off", "largest difference", "change", "%"),
    )
    note = (
        "R, mean: over all transactions; where a backlog grows (unsteady), R grows for as long as a sample "
        "lasts. Repeats differ: the factor by which two samples of a point differ in R, as one standard "
        "deviation. In the system: sessions in a statement, by the server's account, together with "
        "transactions that waited for a session and answers not yet noticed, by the client's account. By "
        "Little's law that number is L × R, arrivals per second times response time. Only R (response time) "
        "includes the time between client and server. The largest difference is that of a single sample."
    )
    return Table(
        f"response-samples-{number}",
        f"{one.curve.words}: the samples",
        columns,
        list(map(_of_samples, one.curve.points)),
        note,
    )


def _of_samples(point: Point) -> dict[str, Any]:
    little = point.little
    worst = max(little, key=lambda item: abs(item.off), default=None)
    return {
        "share": round(100 * point.share),
        "asked_per_s": point.asked_per_s,
        "done_per_s": point.done_per_s,
        "mean_ms": point.mean_ms,
        "p95_ms": point.p95_ms,
        "repeat": point.repeat,
        "cpu_share": point.cpu_share,
        "left": Estimate(point.left, None, None),
        "present": fmean(item.present for item in little) if little else None,
        "expected": fmean(item.expected for item in little) if little else None,
        "off": None if worst is None else 100 * worst.off,
    }


def _elbows(number: int, one: Beside) -> Table:
    columns = (
        Column("of", "by", "text"),
        Column("rate_per_s", "elbow", "number", "per s"),
        Column("share", "share of capacity", "share"),
        Column("response_time_ms", "R there", "number", "ms"),
        Column("less_service", "with 5 % less service time", "estimate", "times"),
    )
    rows = [
        {
            "of": f"{bend.of}, or beyond" if bend.at_end else bend.of,
            "rate_per_s": bend.rate_per_s.point,
            "share": _share(bend.rate_per_s, one.curve.capacity_per_s),
            "response_time_ms": bend.response_ms,
            "less_service": bend.less_service,
        }
        for bend in one.bends
    ]
    note = (
        "The elbow is where response time divided by arrival rate (R / L) is least: a line from the origin "
        "touches the curve at that point. Service time is the CPU time of a transaction in the forecast; in "
        "the formulas it is S, all of R without a queue. Measured elbows have 95 % intervals from the run's "
        "blocks, forecasts have 90 % intervals from resampled calibrations."
    )
    return Table(f"elbow-{number}", f"{one.curve.words}: the elbow", columns, rows, note, first=True)


def _share(rate_per_s: Estimate, capacity_per_s: Estimate) -> Estimate | None:
    """A rate in parts of the measured capacity."""
    return rate_per_s.scaled(1 / capacity_per_s.point) if capacity_per_s.point else None
