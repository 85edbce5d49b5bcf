"""Axes, marks and looks of every figure, as `figures.js` takes them.

A figure is plain data: two axes, marks in the order in which they are drawn, and a legend. Colours are names
such as `setting1`; the page takes them from its style sheet, light or dark. Colour is never the only sign:
settings differ in symbol and dash too, bars in pattern.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from redolab.report.tables import cells

Figure = dict[str, Any]
"""`height` in px, the axes `x` and `y`, `marks` and `legend`."""
Mark = dict[str, Any]
Axis = dict[str, Any]

FEW = 6
"""Settings up to which a figure has room for each; with more they are drawn closer together."""
_COLORS = 8
_SYMBOLS = ("circle", "square", "diamond", "triangle", "cross", "times", "star", "hexagon")
_DASHES = ("solid", "dash", "dashdot", "longdash")
_PATTERNS = ("", "/", "x", ".", "\\", "-", "+", "|")
_LOG_FROM = 5.0
"""Settings that differ by more than this factor are shown on a logarithmic axis."""


def look(index: int) -> dict[str, Any]:
    """How the setting at that place is drawn; open symbols where the colours begin again."""
    rounds = index // _COLORS
    return {
        "color": f"setting{index % _COLORS + 1}",
        "symbol": _SYMBOLS[index % len(_SYMBOLS)],
        "hollow": rounds % 2 == 1,
        "dash": _DASHES[(index + rounds) % len(_DASHES)],
        "pattern": _PATTERNS[(index + rounds) % len(_PATTERNS)],
    }


def spread(values: Iterable[float | None]) -> bool:
    """Whether values lie so far apart that they need a logarithmic axis."""
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) / min(known) > _LOG_FROM


def steps(low: float, high: float, points: int = 60) -> list[float]:
    """Places from `low` to `high` in equal ratios."""
    factor = (high / low) ** (1 / (points - 1))
    return [low * factor**index for index in range(points)]


def linear_axis(
    title: str, values: Iterable[float | None], *, zero: bool = False, padding: float = 0.05
) -> Axis:
    """An axis over `values`, from zero on where asked.

    Args:
        title: what it counts, with its unit.
        values: that must lie on it; None for unknown ones.
        zero: whether zero must lie on it too.
        padding: room at either end, a part of their reach; none at a zero.
    """
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if zero:
        low, high = min(0.0, low), max(0.0, high)
    room = padding * (high - low) or 0.5 * abs(high) or 1.0
    return {
        "label": title,
        "domain": [low if zero and low == 0 else low - room, high if zero and high == 0 else high + room],
    }


def log_axis(title: str, values: Iterable[float | None], padding: float) -> Axis:
    """A logarithmic axis over the positive `values`, ticks at 1, 2 and 5, or at 1 alone, written in full.

    Args:
        title: what it counts, with its unit.
        values: that must lie on it; at least one is positive.
        padding: room at either end, in decades.
    """
    positive = [value for value in values if value is not None and value > 0]
    low, high = math.log10(min(positive)) - padding, math.log10(max(positive)) + padding
    each = (1, 2, 5) if high - low < 2.5 else (1,)
    ticks = [
        step * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for step in each
        if low <= math.log10(step * 10.0**power) <= high
    ]
    axis: Axis = {"label": title, "log": True, "domain": [10.0**low, 10.0**high]}
    return axis if len(ticks) < 2 else axis | {"ticks": [[tick, cells.number(tick, 1)] for tick in ticks]}


def named_axis(title: str, names: Sequence[str]) -> Axis:
    """An axis of names, one at each whole number from 0 on."""
    ticks = [[place, name] for place, name in enumerate(names)]
    return {"label": title, "words": True, "domain": [-0.5, max(1, len(names)) - 0.5], "ticks": ticks}


def dots(
    looks: Mapping[str, Any],
    xs: Sequence[float | None],
    ys: Sequence[float | None],
    notes: Sequence[str],
    size: float = 4.5,
) -> Mark:
    """Points with the note that each shows when it is pointed at; `size` is a radius in px."""
    kept = ("color", "symbol", "hollow")
    return {
        "kind": "dots",
        "x": list(xs),
        "y": list(ys),
        "notes": list(notes),
        "size": size,
        **{key: looks[key] for key in kept},
    }


def line(
    color: str, xs: Sequence[float | None], ys: Sequence[float | None], dash: str = "solid", width: float = 2
) -> Mark:
    """A line through points, broken where one is missing; `width` in px."""
    return {"kind": "line", "x": list(xs), "y": list(ys), "color": color, "dash": dash, "width": width}


def area(color: str, xs: Sequence[float], ys: Sequence[float | None], base: float = 0.0) -> Mark:
    """The area between a line and `base`."""
    return {"kind": "area", "x": list(xs), "y": list(ys), "base": base, "color": f"{color}-faint"}


def upright(
    color: str, xs: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None]
) -> Mark:
    """Vertical strokes: the intervals of points."""
    return {"kind": "upright", "x": list(xs), "low": list(lows), "high": list(highs), "color": color}


def level(color: str, ys: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> Mark:
    """Horizontal strokes: the intervals of points."""
    return {"kind": "level", "y": list(ys), "low": list(lows), "high": list(highs), "color": color}


def figure(
    height: int, x: Axis, y: Axis, marks: Sequence[Mark], legend: Sequence[Mapping[str, Any]]
) -> Figure:
    """A figure, the same form for all of them."""
    return {"height": height, "x": x, "y": y, "marks": list(marks), "legend": list(legend)}


def entry(name: str, shown: str, looks: Mapping[str, Any]) -> dict[str, Any]:
    """A line of a legend.

    Args:
        name: what it names.
        shown: `dot`, `line`, `both` or `bar`.
        looks: its colour, symbol, dash and pattern.
    """
    return {"name": name, "shown": shown, **looks}
