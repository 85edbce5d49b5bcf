"""Smoothed histograms of response time: over one another, or under one another where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.report.page import drawing
from redolab.report.page.drawing import Figure, safe
from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Results, TimeUnit

_ROW = 46
"""Pixels of one setting's row."""


def response_histogram(results: Results) -> Figure:
    """Smoothed histograms of response time, one per setting, over the measured values."""
    unit = cells.time_unit(results)
    settings = [item for item in results["settings"] if item.get("density")]
    every = [unit.per_ms * value for item in settings for value in item["density"]["values_ms"]]
    logarithmic = drawing.spread(
        item["response_time_ms"]["point"] for item in settings if item.get("response_time_ms")
    )
    axis = drawing.axis(safe(f"Response time R, {wording.per_unit(results, unit)}"))
    if logarithmic and every:
        axis |= drawing.log_axis(every, padding=0.12)
    draw = _overlaid if len(settings) <= drawing.FEW else _stacked
    return draw(settings, unit, axis, logarithmic=logarithmic)


def _overlaid(
    settings: Sequence[Mapping[str, Any]], unit: TimeUnit, axis: dict[str, Any], *, logarithmic: bool
) -> Figure:
    curves: list[dict[str, Any]] = []
    rug: list[dict[str, Any]] = []
    for index, setting in enumerate(settings):
        name, values = safe(setting["name"]), setting["density"]["values_ms"]
        places, heights = _curve(setting["density"], logarithmic=logarithmic)
        peak = max(heights, default=0.0)
        if peak > 0:
            curves.append(
                _line(index, name, [unit.of(x) for x in places])
                | {
                    "legendgroup": name,
                    "y": [y / peak for y in heights] if logarithmic else [y / unit.per_ms for y in heights],
                    "fill": "tozeroy",
                }
            )
        rug.append(
            _ticks(index, name, [unit.of(x) for x in values], unit)
            | {
                "legendgroup": name,
                "showlegend": peak <= 0,
                "xaxis": "x",
                "yaxis": "y2",
                "y": [index] * len(values),
            }
        )
    height = "density, each to its own peak" if logarithmic else f"density, per {unit.name}"
    layout = drawing.layout(
        height=400,
        xaxis=axis | {"anchor": "y2"},
        yaxis={"domain": [0.24, 1], **drawing.axis(height, rangemode="tozero", showticklabels=False)},
        yaxis2={
            "domain": [0, 0.2],
            "range": [len(settings) - 0.5, -0.5],
            "visible": False,
            "fixedrange": True,
        },
    )
    return {"data": [*curves, *rug], "layout": layout}


def _stacked(
    settings: Sequence[Mapping[str, Any]], unit: TimeUnit, axis: dict[str, Any], *, logarithmic: bool
) -> Figure:
    """A row per setting, each curve to its own peak: many curves over one another cannot be told apart."""
    data: list[dict[str, Any]] = []
    for index, setting in enumerate(settings):
        name, values = safe(setting["name"]), setting["density"]["values_ms"]
        places, heights = _curve(setting["density"], logarithmic=logarithmic)
        peak = max(heights, default=0.0)
        if peak > 0:
            xs = [unit.of(x) for x in places]
            ys = [index - 0.6 * y / peak for y in heights]
            data.append(
                _line(0, name, [*xs, xs[-1], xs[0]])
                | {"y": [*ys, index, index], "fill": "toself", "showlegend": False}
            )
        data.append(
            _ticks(0, name, [unit.of(x) for x in values], unit)
            | {"y": [index + 0.12] * len(values), "showlegend": False}
        )
    layout = drawing.layout(
        height=80 + _ROW * len(settings),
        xaxis=axis,
        yaxis=drawing.axis(
            "",
            range=[len(settings) - 0.5, -0.9],
            tickvals=list(range(len(settings))),
            ticktext=[safe(setting["name"]) for setting in settings],
            fixedrange=True,
        ),
        showlegend=False,
        margin={"l": 8, "r": 14, "t": 8, "b": 50},
    )
    return {"data": data, "layout": layout}


def _curve(density: Mapping[str, Any], *, logarithmic: bool) -> tuple[Sequence[float], Sequence[float]]:
    places, heights = density["x_ms"], density["density"]
    if logarithmic:
        # Area under a curve over log x is kept by multiplying its height by x.
        heights = [x * y for x, y in zip(places, heights, strict=True)]
    return places, heights


def _line(index: int, name: str, xs: Sequence[float | None]) -> dict[str, Any]:
    color = drawing.color(index)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(xs),
        "line": {"color": color, "dash": drawing.dash(index), "width": 2.2},
        "fillcolor": color + "-faint",
        "hoverinfo": "skip",
    }


def _ticks(index: int, name: str, xs: Sequence[float | None], unit: TimeUnit) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": list(xs),
        "marker": {
            "symbol": "line-ns-open",
            "size": 9,
            "color": drawing.color(index),
            "line": {"width": 1.4},
        },
        "hovertemplate": f"%{{x:.4g}} {unit.name}<extra>%{{fullData.name}}</extra>",
    }
