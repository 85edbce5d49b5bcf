"""An experiment's own figures (`redolab.analysis.exhibits.Figure`), drawn all in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from redolab.report.page import drawing
from redolab.report.page.drawing import Figure, safe
from redolab.report.tables import cells
from redolab.report.tables.cells import Cell, Column, Table

_MARKED = 24
"""Points up to which a line has markers: it then joins measurements, and is else a curve."""
_TICKS = 12
"""Places that an axis can name one by one."""
_CURVES = ("solid", "longdash", "dashdot", "longdashdot", "dot")
"""The dashes of curves without markers, in turn; `dash` alone is that of the style `dashed`."""
_FORMAT = ",.6~f"
"""Ticks as the report writes figures: in full, with separators."""
_WIDEST = 6
"""Series beside which another no longer fits as a column of its own."""


def figure(data: Mapping[str, Any]) -> Figure:
    """A figure as the results object has it (`redolab.analysis.exhibits.Figure.as_json`).

    A series with intervals has them as error bars; strings on the x axis are categories.
    """
    series = data["series"]
    across = drawing.axis(_title(data["x"]), tickformat=_FORMAT)
    categories = [x for item in series for x in item["x"] if isinstance(x, str)]
    if categories:
        across |= {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": _unique(map(safe, categories)),
        }
    elif data["x"]["logarithmic"] and any(x > 0 for item in series for x in item["x"]):
        across |= drawing.log_axis([x for item in series for x in item["x"]], padding=0.06)
    else:
        across |= _whole_places([x for item in series for x in item["x"]])
    heights = list(_heights(series))
    up = drawing.axis(_title(data["y"]), tickformat=_FORMAT)
    if data["y"]["logarithmic"] and any(height > 0 for height in heights):
        up |= drawing.log_axis(heights, padding=0.1)
    else:
        up |= {"rangemode": "tozero", "zeroline": True}
    layout = drawing.layout(
        height=400 + drawing.legend_height(len(series)),
        xaxis=across,
        yaxis=up,
        barmode="group",
        showlegend=len(series) > 1,
    )
    dashes = _dashes(series)
    traces = [_trace(item, index, data, dashes[index]) for index, item in enumerate(series)]
    return {"data": traces, "layout": layout}


def numbers(data: Mapping[str, Any]) -> Table:
    """The numbers of a figure: a column per series where they share their places, else a row per point."""
    series = data["series"]
    places = [item["x"] for item in series]
    shared = bool(series) and all(item == places[0] for item in places) and len(series) <= _WIDEST
    first = Column(data["x"]["title"], data["x"]["unit"], "left" if _are_words(places) else "right")
    if shared:
        columns = [first, *(Column(item["name"], data["y"]["unit"]) for item in series)]
        rows = [[_place(x), *(_value(item, index) for item in series)] for index, x in enumerate(places[0])]
    else:
        columns = [Column("Series", align="left"), first, Column(data["y"]["title"], data["y"]["unit"])]
        rows = [
            [Cell(item["name"]), _place(x), _value(item, index)]
            for item in series
            for index, x in enumerate(item["x"])
        ]
    return Table(f"numbers-{data['key']}", data["title"], columns, rows)


def _dashes(series: Sequence[Mapping[str, Any]]) -> list[str]:
    dashes = []
    curves = 0
    for item in series:
        bare = item["style"] != "dashed" and _mode(item["style"], len(item["x"])) == "lines"
        dashes.append(
            "dash" if item["style"] == "dashed" else _CURVES[curves % len(_CURVES)] if bare else "solid"
        )
        curves += bare
    return dashes


def _trace(series: Mapping[str, Any], index: int, data: Mapping[str, Any], dash: str) -> dict[str, Any]:
    color, style = drawing.color(index), series["style"]
    unit = data["y"]["unit"]
    trace: dict[str, Any] = {
        "name": safe(series["name"]),
        "x": [safe(x) if isinstance(x, str) else x for x in series["x"]],
        "y": series["y"],
        "customdata": [[safe(_value(series, place).full)] for place in range(len(series["x"]))],
        "hovertemplate": f"%{{x}}<br>%{{customdata[0]}} {safe(unit)}<extra>%{{fullData.name}}</extra>",
    }
    if style == "bars":
        trace |= {"type": "bar", "marker": {"color": color, "pattern": drawing.pattern(index)}}
    else:
        trace |= {
            "type": "scatter",
            "mode": _mode(style, len(series["x"])),
            "cliponaxis": False,
            "marker": drawing.marker(index) | ({} if style == "points" else {"size": 6}),
            "line": {"color": color, "width": 2, "dash": dash},
            # What was measured lies over what it is compared with.
            "zorder": int(style == "points"),
        }
    if style == "area":
        trace |= {"fill": "tozeroy", "fillcolor": color + "-faint"}
    if series["low"] and series["high"]:
        trace["error_y"] = _whiskers(series, "$ink-soft" if style == "bars" else color)
    return trace


def _whole_places(places: Sequence[float]) -> dict[str, Any]:
    """Ticks at the places themselves where they are few counts: there is no half a process."""
    unique = sorted(set(places))
    return {"tickvals": unique} if len(unique) <= _TICKS and all(isinstance(x, int) for x in unique) else {}


def _mode(style: str, points: int) -> str:
    if style == "points":
        return "markers"
    return "lines+markers" if style == "line" and points <= _MARKED else "lines"


def _whiskers(series: Mapping[str, Any], color: str) -> dict[str, Any]:
    def reach(end: float | None, point: float | None) -> float:
        return 0.0 if end is None or point is None else abs(end - point)

    return {
        "type": "data",
        "symmetric": False,
        "array": [reach(end, y) for end, y in zip(series["high"], series["y"], strict=True)],
        "arrayminus": [reach(end, y) for end, y in zip(series["low"], series["y"], strict=True)],
        "color": color,
        "thickness": 1.6,
        "width": 4,
    }


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


def _unique(values: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _title(axis: Mapping[str, Any]) -> str:
    return safe(f"{axis['title']}, {axis['unit']}" if axis["unit"] else axis["title"])
