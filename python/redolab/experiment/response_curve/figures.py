"""The figure of each curve: the measured points, the models, and the elbow."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.experiment.response_curve.beside import Beside
from redolab.experiment.response_curve.curve import Point


def figures(found: Sequence[Beside]) -> list[Figure]:
    """One for each curve."""
    return [
        Figure(
            f"response-curve-{number}",
            f"{one.curve.name}: response time over arrivals",
            "Means with 95 % intervals; the forecast with its 90 % prediction interval. R counts from the "
            "moment a transaction was asked for.",
            Axis("arrivals", "per s"),
            Axis("response time", "ms", logarithmic=True),
            [*_measured(one), *_drawn(one)],
        )
        for number, one in enumerate(found, start=1)
    ]


def _measured(one: Beside) -> list[Series]:
    beyond = [point for point in one.curve.points if not point.steady]
    series = [_points("measured", one.curve.steady)]
    if beyond:
        # R of these says how long a sample was.
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
    if one.forecast is not None and one.forecast.line:
        said = [one.forecast.response_ms(outlook) for outlook in one.forecast.line]
        series.append(
            Series(
                "forecast",
                [outlook.scenario.arrival_rate_per_s or 0.0 for outlook in one.forecast.line],
                [item.point for item in said],
                [item.low for item in said],
                [item.high for item in said],
                "line",
            )
        )
    for formula in one.formulas:
        rates = [rate for rate, _ in formula.line]
        series.append(Series(formula.name, rates, [response for _, response in formula.line], style="dashed"))
    return series
