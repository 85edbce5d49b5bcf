"""What every figure is drawn with: axes, layout, marks and colours, as plotly.js takes them.

Colours are names such as `$setting1`; the page replaces them by its style sheet's, light or dark.
Colour is never the only sign: settings differ in symbol and dash too, parts of a bar in pattern.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

from redolab.report.tables import cells

Figure = dict[str, Any]
"""`data` and `layout` of plotly.js."""

FEW = 6
"""Settings up to which a figure has room for each; with more they are drawn closer together."""
_COLORS = 8
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
_DASHES = ("solid", "dash", "dashdot", "longdash")
_PATTERNS = ("", "/", "x", ".", "\\", "-", "+", "|")
_LOG_FROM = 5.0
"""Settings that differ by more than this factor are shown on a logarithmic axis."""


def safe(text: str) -> str:
    """Text as plotly.js may show it: it reads a small HTML dialect in everything it draws."""
    return html.escape(text, quote=False)


def color(index: int) -> str:
    """The colour of a setting, by its place among them."""
    return f"$setting{index % _COLORS + 1}"


def dash(index: int) -> str:
    """The dash of a setting's line; another one where the colours begin again."""
    return _DASHES[(index + index // _COLORS) % len(_DASHES)]


def pattern(index: int) -> dict[str, Any]:
    """The pattern of a setting's bars; another one where the colours begin again."""
    shape = _PATTERNS[(index + index // _COLORS) % len(_PATTERNS)]
    return {
        "shape": shape, "fillmode": "overlay", "fgcolor": "$paper", "fgopacity": 0.45, "size": 7,
        "solidity": 0.16,
    }  # fmt: skip


def legend_height(entries: int) -> int:
    """Pixels that a figure grows by, so that a long legend leaves its plot as high as it was."""
    return 8 * max(0, entries - _COLORS)


def marker(index: int) -> dict[str, Any]:
    """The marker of a setting's points; open where the colours begin again."""
    symbol = _SYMBOLS[index % len(_SYMBOLS)]
    rounds = index // len(_SYMBOLS)
    return {
        "symbol": f"{symbol}-open" if rounds % 2 else symbol,
        "size": 11 if symbol == "triangle-up" else 9,
        "color": color(index),
        "opacity": 0.85,
        "line": {"width": 1.8} if rounds % 2 else {"color": "$paper", "width": 0.8},
    }


def spread(values: Iterable[float | None]) -> bool:
    """Whether values lie so far apart that they need a logarithmic axis."""
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) / min(known) > _LOG_FROM


def steps(low: float, high: float, points: int = 60) -> list[float]:
    """Places from `low` to `high` in equal ratios."""
    factor = (high / low) ** (1 / (points - 1))
    return [low * factor**index for index in range(points)]


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title."""
    return {
        "title": {"text": title, "font": {"size": 13}},
        "gridcolor": "$grid",
        "zerolinecolor": "$axis",
        "zeroline": False,
        "linecolor": "$axis",
        "tickcolor": "$axis",
        "automargin": True,
        **more,
    }


def log_axis(values: Sequence[float], padding: float) -> dict[str, Any]:
    """A logarithmic axis over `values`, ticks at 1, 2 and 5, or at 1 alone, written in full."""
    positive = [value for value in values if value > 0]
    low, high = math.log10(min(positive)) - padding, math.log10(max(positive)) + padding
    each = (1, 2, 5) if high - low < 2.5 else (1,)
    ticks = [
        step * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for step in each
        if low <= math.log10(step * 10.0**power) <= high
    ]
    axis = {"type": "log", "range": [low, high]}
    if len(ticks) < 2:
        return axis
    return axis | {"tickvals": ticks, "ticktext": [cells.number(tick, 1) for tick in ticks]}


def layout(**more: Any) -> dict[str, Any]:
    """The layout of a figure, the same in all of them but for `more`."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "$ink", "size": 13},
        "hoverlabel": {
            "bgcolor": "$paper", "bordercolor": "$axis", "font": {"color": "$ink"}, "align": "left",
        },
        "hovermode": "closest",
        "dragmode": False,
        "legend": {
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yref": "container",
            "yanchor": "top", "font": {"size": 13}, "itemclick": False, "itemdoubleclick": False,
        },
        "margin": {"l": 8, "r": 14, "t": 8, "b": 8},
        **more,
    }  # fmt: skip
