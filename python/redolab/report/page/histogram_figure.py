"""Smoothed histograms of response time: over one another, or under one another where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.report.page import drawing
from redolab.report.page.drawing import Axis, Figure, Mark
from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Results, TimeUnit

_ROW = 40
"""Pixels of one setting's row."""
_RUG = 0.05
"""Height of a setting's row of ticks below the curves, as a part of the highest curve."""


def response_histogram(results: Results) -> Figure:
    """Smoothed histograms of response time, one per setting, over the measured values."""
    unit = cells.time_unit(results)
    settings = [item for item in results["settings"] if item.get("density")]
    logarithmic = drawing.spread(
        item["response_time_ms"]["point"] for item in settings if item.get("response_time_ms")
    )
    # The curves reach further than the values that they smooth.
    every = [
        unit.of(at) for item in settings for at in (*_shown(item["density"]), *item["density"]["values_ms"])
    ]
    title = f"Response time R, {wording.per_unit(results, unit)}"
    axis = (
        drawing.log_axis(title, every, padding=0.02)
        if logarithmic and every
        else drawing.linear_axis(title, every, padding=0.02)
    )
    draw = _overlaid if len(settings) <= drawing.FEW else _stacked
    return draw(settings, unit, axis, logarithmic=logarithmic)


def _overlaid(
    settings: Sequence[Mapping[str, Any]], unit: TimeUnit, axis: Axis, *, logarithmic: bool
) -> Figure:
    curves: list[Mark] = []
    rugs: list[Mark] = []
    legend = []
    shapes = [_curve(setting["density"], unit, logarithmic=logarithmic) for setting in settings]
    peaks = [max(heights, default=0.0) for _, heights in shapes]
    if logarithmic:
        shapes = [
            (places, [y / peak for y in heights] if peak else heights)
            for (places, heights), peak in zip(shapes, peaks, strict=True)
        ]
    top = max((max(heights, default=0.0) for _, heights in shapes), default=0.0) or 1.0
    for index, (setting, (places, heights)) in enumerate(zip(settings, shapes, strict=True)):
        looks = drawing.look(index)
        if peaks[index] > 0:
            curves += [
                drawing.area(looks["color"], places, heights),
                drawing.line(looks["color"], places, heights, looks["dash"], 2.2),
            ]
        values = [unit.of(value) for value in setting["density"]["values_ms"]]
        below = -_RUG * top * (index + 1)
        low, high = [below] * len(values), [below + 0.8 * _RUG * top] * len(values)
        rugs.append(drawing.upright(looks["color"], values, low, high))
        legend.append(drawing.entry(setting["name"], "line", looks))
    title = "Density, each to its own peak" if logarithmic else f"Density, per {unit.name}"
    up = {
        "label": title,
        "domain": [-_RUG * top * (len(settings) + 0.5), 1.05 * top],
        "ticks": [[0, "0"]] if logarithmic else None,
        "from": 0,
    }
    return drawing.figure(230, axis, up, [*curves, *rugs], legend)


def _stacked(
    settings: Sequence[Mapping[str, Any]], unit: TimeUnit, axis: Axis, *, logarithmic: bool
) -> Figure:
    """A row per setting, each curve to its own peak, for many curves in one place look alike."""
    marks: list[Mark] = []
    for index, setting in enumerate(settings):
        places, heights = _curve(setting["density"], unit, logarithmic=logarithmic)
        peak = max(heights, default=0.0)
        if peak > 0:
            risen = [index - 0.6 * y / peak for y in heights]
            marks += [
                drawing.area("setting1", places, risen, index),
                drawing.line("setting1", places, risen),
            ]
        values = [unit.of(value) for value in setting["density"]["values_ms"]]
        low, high = [index + 0.22] * len(values), [index + 0.06] * len(values)
        marks.append(drawing.upright("setting1", values, low, high))
    up = drawing.named_axis("", [setting["name"] for setting in settings])
    up["domain"] = [len(settings) - 0.5, -0.9]
    return drawing.figure(60 + _ROW * len(settings), axis, up, marks, [])


def _shown(density: Mapping[str, Any]) -> list[float]:
    """The places of a curve where it is not flat: a thousandth of its peak or more."""
    peak = max(density["density"], default=0.0)
    return [
        at for at, height in zip(density["x_ms"], density["density"], strict=True) if height > 1e-3 * peak > 0
    ]


def _curve(
    density: Mapping[str, Any], unit: TimeUnit, *, logarithmic: bool
) -> tuple[list[float], list[float]]:
    places, heights = density["x_ms"], density["density"]
    if logarithmic:
        # Area under a curve over log x is kept by multiplying its height by x.
        heights = [x * y for x, y in zip(places, heights, strict=True)]
    else:
        heights = [y / unit.per_ms for y in heights]
    return [unit.per_ms * x for x in places], heights
