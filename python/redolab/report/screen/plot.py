"""A small plot for the terminal: a point for each level, its interval above and below, one level marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from redolab.units import significant

_ROWS = 8
"""Lines of the plot itself, without its title, axis and labels."""
_FEWEST = 3
"""Number of points below which a plot shows nothing more than the table."""
_HIGHEST = 1.5
"""Times the highest value up to which intervals are drawn."""
_LEAST_APART = 3
"""Columns between two points."""
POINT, STROKE, MARK = "●", "│", "▲"


@dataclass(frozen=True)
class SweepPoint:
    """One level of a sweep."""

    label: str
    value: float | None
    """None where there is none: its place stays empty."""
    low: float | None
    high: float | None


def plotted(points: Sequence[SweepPoint], title: str, width: int, marked: int | None, mark: str) -> list[str]:
    """The lines of a plot from zero on; none where fewer than three points have a value.

    Args:
        points: in their order, evenly apart.
        title: what is plotted, with its unit.
        width: of the screen, characters.
        marked: the place of the level to mark below the axis, or None.
        mark: what is said of it.
    """
    values = [point.value for point in points if point.value is not None]
    if len(values) < _FEWEST or max(values) <= 0:
        return []
    highs = [point.high for point in points if point.high is not None]
    top = _round_up(min(max([*values, *highs]), _HIGHEST * max(values)))
    scale = [_written(top), _written(top / 2), "0"]
    margin = max(map(len, scale)) + 1
    apart = min(10, (width - margin - 3) // len(points))
    if apart < _LEAST_APART:
        return []

    def line_of(value: float) -> int:
        return round((_ROWS - 1) * (1 - value / top))

    canvas = [[" "] * (apart * len(points)) for _ in range(_ROWS)]
    for place, point in enumerate(points):
        column = apart * place + (apart - 1) // 2
        if point.value is None:
            continue
        if point.low is not None and point.high is not None:
            for line in range(line_of(min(point.high, top)), line_of(max(point.low, 0.0)) + 1):
                canvas[line][column] = STROKE
        canvas[line_of(point.value)][column] = POINT
    labels = {0: scale[0], (_ROWS - 1) // 2: scale[1], _ROWS - 1: scale[2]}
    drawn = [f"{labels.get(line, ''):>{margin}} {''.join(row)}" for line, row in enumerate(canvas)]
    below = _labels([point.label for point in points], apart)
    drawn = [title, *drawn, f"{'':>{margin}} {'─' * (apart * len(points))}", f"{'':>{margin}} {below}"]
    if marked is not None:
        at = margin + 1 + apart * marked + (apart - 1) // 2
        told = f"{MARK} {mark}"
        fits = at + len(told) <= width
        drawn.append(" " * at + told if fits else f"{mark} {MARK}".rjust(at + 1))
    return [line.rstrip() for line in drawn]


def _labels(labels: Sequence[str], apart: int) -> str:
    """Labels below their points: every one, or every other and so on where whole ones would touch."""
    step = math.ceil((max(map(len, labels)) + 1) / apart)
    line = [" "] * (apart * len(labels) + max(map(len, labels)))
    for place in range(0, len(labels), step):
        first = max(0, apart * place + (apart - 1) // 2 - (len(labels[place]) - 1) // 2)
        line[first : first + len(labels[place])] = labels[place]
    return "".join(line)


def _round_up(value: float) -> float:
    """The next number whose half is round too."""
    power = 10.0 ** math.floor(math.log10(value))
    return power * next(step for step in (1, 2, 3, 4, 6, 8, 10) if value <= step * power * (1 + 1e-9))


def _written(value: float) -> str:
    text = significant(value, 2)
    return text.rstrip("0").rstrip(".") if "." in text else text
