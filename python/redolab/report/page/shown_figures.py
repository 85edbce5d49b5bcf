"""An experiment's own figures (`redolab.analysis.exhibits.Figure`), drawn all in the same way."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from redolab.report.page import drawing
from redolab.report.page.drawing import Axis, Figure, Mark
from redolab.report.tables import cells
from redolab.report.tables.cells import Cell, ShownColumn, ShownTable

_MARKED = 24
"""Points up to which a line has markers: it then joins measurements, and is else a curve."""
_TICKS = 12
"""Places that an axis can name one by one."""
_CURVES = ("solid", "longdash", "dashdot", "longdashdot", "dot")
"""The dashes of curves without markers, in turn; `dash` alone is that of the style `dashed`."""
_WIDEST = 6
"""Number of series above which they do not all fit as columns."""
_GROUP = 0.8
"""Part of a place's width that its bars take together."""


def figure(data: Mapping[str, Any]) -> Figure:
    """A figure as the results object has it (`redolab.analysis.exhibits.Figure.as_json`).

    A series with intervals has them as strokes; strings on the x axis are places by name.
    """
    series = data["series"]
    bars = [item for item in series if item["style"] == "bars"]
    named = _are_words([item["x"] for item in series])
    names = list(dict.fromkeys(_place(x).text for item in series for x in item["x"])) if named else []
    room = 1.0 if named else _room(bars)
    dashes = _dashes(series)
    marks, points, legend = [], [], []
    for index, item in enumerate(series):
        looks = drawing.look(index) | {"dash": dashes[index]}
        xs: list[float] = [names.index(_place(x).text) if named else x for x in item["x"]]
        if item["style"] == "bars":
            width = _GROUP * room / len(bars)
            xs = [x - _GROUP * room / 2 + width * (bars.index(item) + 0.5) for x in xs]
            points.append(_bars(item, looks, xs, width, data))
        else:
            marks += _joined(item, looks, xs)
            if _has_markers(item):
                size = 4.5 if item["style"] == "points" else 3
                points.append(drawing.dots(looks, xs, item["y"], _notes(item, data), size))
        if item["low"] and item["high"]:
            stroke = "ink-soft" if item["style"] == "bars" else looks["color"]
            points.append(drawing.upright(stroke, xs, item["low"], item["high"]))
        legend.append(drawing.entry(item["name"], _shown(item), looks))
    across = drawing.named_axis(_title(data["x"]), names) if named else _across(data, room / 2)
    return drawing.figure(340, across, _up(data), [*marks, *points], legend if len(series) > 1 else [])


def numbers(data: Mapping[str, Any]) -> ShownTable:
    """The numbers of a figure: a column per series where they share their places, else a row per point."""
    series = data["series"]
    places = [item["x"] for item in series]
    shared = bool(series) and all(item == places[0] for item in places) and len(series) <= _WIDEST
    first = ShownColumn(data["x"]["title"], data["x"]["unit"], "left" if _are_words(places) else "right")
    if shared:
        columns = [first, *(ShownColumn(item["name"], data["y"]["unit"]) for item in series)]
        rows = [[_place(x), *(_value(item, index) for item in series)] for index, x in enumerate(places[0])]
    else:
        columns = [
            ShownColumn("Series", align="left"),
            first,
            ShownColumn(data["y"]["title"], data["y"]["unit"]),
        ]
        rows = [
            [Cell(item["name"]), _place(x), _value(item, index)]
            for item in series
            for index, x in enumerate(item["x"])
        ]
    return ShownTable(f"numbers-{data['key']}", data["title"], columns, rows)


def _room(bars: Sequence[Mapping[str, Any]]) -> float:
    """The distance of neighbouring bars on an axis of numbers; 0 without bars."""
    places = sorted({x for item in bars for x in item["x"]})
    return min((after - before for before, after in itertools.pairwise(places)), default=0.0)


def _across(data: Mapping[str, Any], beyond: float) -> Axis:
    """The x axis of numbers, so far beyond the outermost."""
    places = [x for item in data["series"] for x in item["x"]]
    title = _title(data["x"])
    if data["x"]["logarithmic"] and any(x > 0 for x in places):
        return drawing.log_axis(title, places, padding=0.06)
    ends = [min(places, default=0.0) - beyond, max(places, default=1.0) + beyond]
    axis = drawing.linear_axis(title, ends, padding=0.02 if beyond else 0.04)
    # Ticks at the places themselves where they are few counts: there is no half a process.
    unique = sorted(set(places))
    if len(unique) <= _TICKS and all(isinstance(x, int) for x in unique):
        axis["ticks"] = [[x, cells.count(x)] for x in unique]
    return axis


def _up(data: Mapping[str, Any]) -> Axis:
    heights = list(_heights(data["series"]))
    title = _title(data["y"])
    if data["y"]["logarithmic"] and any(height > 0 for height in heights):
        return drawing.log_axis(title, heights, padding=0.1)
    return drawing.linear_axis(title, heights, zero=True)


def _joined(series: Mapping[str, Any], looks: Mapping[str, Any], xs: Sequence[float]) -> list[Mark]:
    """The line of a series and what lies below it; points alone do not have them."""
    if series["style"] == "points":
        return []
    joined = drawing.line(looks["color"], xs, series["y"], looks["dash"])
    return [drawing.area(looks["color"], xs, series["y"]), joined] if series["style"] == "area" else [joined]


def _bars(
    series: Mapping[str, Any],
    looks: Mapping[str, Any],
    xs: Sequence[float],
    width: float,
    data: Mapping[str, Any],
) -> Mark:
    return {
        "kind": "bars",
        "x": list(xs),
        "y": series["y"],
        "width": width,
        "notes": _notes(series, data),
        "color": looks["color"],
        "pattern": looks["pattern"],
    }


def _notes(series: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
    across, up = (f" {data[axis]['unit']}" if data[axis]["unit"] else "" for axis in ("x", "y"))
    return [
        f"{series['name']}: {_place(x).text}{across}, {_value(series, index).full}{up}"
        for index, x in enumerate(series["x"])
    ]


def _dashes(series: Sequence[Mapping[str, Any]]) -> list[str]:
    dashes = []
    curves = 0
    for item in series:
        bare = item["style"] not in ("dashed", "points", "bars") and not _has_markers(item)
        dashes.append(
            "dash" if item["style"] == "dashed" else _CURVES[curves % len(_CURVES)] if bare else "solid"
        )
        curves += bare
    return dashes


def _has_markers(series: Mapping[str, Any]) -> bool:
    return series["style"] == "points" or (series["style"] == "line" and len(series["x"]) <= _MARKED)


def _shown(series: Mapping[str, Any]) -> str:
    """The look of a series in a legend."""
    if series["style"] in ("bars", "points"):
        return {"bars": "bar", "points": "dot"}[series["style"]]
    return "both" if _has_markers(series) else "line"


def _value(series: Mapping[str, Any], place: int) -> Cell:
    point = series["y"][place]
    if not (series["low"] and series["high"]):
        return Cell(cells.number(point, 4))
    return cells.estimate({"point": point, "low": series["low"][place], "high": series["high"][place]})


def _place(x: float | str) -> Cell:
    return Cell(x if isinstance(x, str) else cells.count(x) if isinstance(x, int) else cells.number(x, 4))


def _heights(series: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    for item in series:
        for values in (item["y"], item["low"], item["high"]):
            yield from (value for value in values if value is not None)


def _are_words(places: Sequence[Sequence[Any]]) -> bool:
    return any(isinstance(x, str) for place in places for x in place)


def _title(axis: Mapping[str, Any]) -> str:
    return f"{axis['title']}, {axis['unit']}" if axis["unit"] else str(axis["title"])
