"""The figure of each curve: the measured points, the models, and the elbow."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.experiment.response_curve.beside import Beside
from redolab.experiment.response_curve.curve import Point
from redolab.experiment.response_curve.elbow import curve_through

_PLACES = 100
"""Places at which the forecast's line is drawn."""


def figures(found: Sequence[Beside]) -> list[Figure]:
    """One figure for each curve."""
    return [
        Figure(
            f"response-curve-{number}",
            f"{one.curve.words}: response time over arrivals",
            "The figure shows R (response time) of the median sample with its 95 % interval, and the "
            "forecast with its 90 % prediction interval. R counts from the moment a transaction was asked "
            "for.",
            Axis("arrivals", "per s"),
            Axis("response time", "ms", logarithmic=True),
            [*_drawn(one), *_measured(one)],
        )
        for number, one in enumerate(found, start=1)
    ]


def _measured(one: Beside) -> list[Series]:
    beyond = [point for point in one.curve.points if not point.steady]
    series = [_points("measured", one.curve.steady)]
    if beyond:
        # R of these depends on the length of a sample.
        series.append(_points("beyond capacity: grows with a sample", beyond))
    if one.elbow is not None:
        elbow, _ = one.elbow
        series.append(Series("elbow", [elbow.rate_per_s], [elbow.response_ms]))
    return series


def _points(name: str, points: Sequence[Point]) -> Series:
    return Series(
        name,
        [point.asked_per_s for point in points],
        [point.response_ms.point for point in points],
        [point.response_ms.low for point in points],
        [point.response_ms.high for point in points],
    )


def _drawn(one: Beside) -> list[Series]:
    series = []
    for formula in one.formulas:
        rates = [rate for rate, _ in formula.line]
        series.append(Series(formula.name, rates, [response for _, response in formula.line], style="dashed"))
    if one.forecast is not None and len(one.forecast.line) > 1:
        rates = [outlook.scenario.arrival_rate_per_s or 0.0 for outlook in one.forecast.line]
        said = [one.forecast.response_ms(outlook).point or 0.0 for outlook in one.forecast.line]
        series.append(Series("forecast", *curve_through(rates, said, _PLACES), style="line"))
        known = [(point, said) for point, said, _ in one.pairs if said is not None]
        series.append(
            Series(
                "its interval at the points",
                [point.asked_per_s for point, _ in known],
                [said.point for _, said in known],
                [said.low for _, said in known],
                [said.high for _, said in known],
            )
        )
    return series
