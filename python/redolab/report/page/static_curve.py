"""A response-time curve as an SVG that needs no script: for mail, paper and browsers that run none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from redolab.forecast.explored import Explored
from redolab.report.tables import cells

_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 26, 40
_ROOM = 1.06
Point = tuple[float, float]
"""A place: throughput or arrivals per second, and response time in milliseconds."""


def of_sweep(explored: Explored) -> str:
    """Today's setting with other numbers of sessions: response time over throughput."""
    known = [swept for swept in explored.sweep if swept.forecast]
    line = [
        (swept.forecast["throughput_per_s"].point, swept.forecast["response_time_ms"].point)
        for swept in known
    ]
    times = [swept.forecast["response_time_ms"] for swept in known]
    band = [(x, time.low, time.high) for (x, _), time in zip(line, times, strict=True)]
    measured = [
        (rate["point"], time["point"], str(item["setting"]))
        for item in explored.measured
        if (rate := item["quantities"].get("throughput_per_s"))
        and (time := item["quantities"].get("response_time_ms"))
        and rate["point"] is not None
        and time["point"] is not None
        and item["levels"]["commit_wait"] == explored.today.commit_wait
    ]
    today = [
        point
        for swept, point in zip(known, line, strict=True)
        if swept.scenario.sessions == explored.today.sessions
    ]
    return curve(line, band, measured, today[0] if today else None, "commits per s")


def curve(
    line: Sequence[Point],
    band: Sequence[tuple[float, float, float]],
    measured: Sequence[tuple[float, float, str]],
    today: Point | None,
    across: str,
    width: int = 720,
    height: int = 340,
) -> str:
    """A curve with its band, measured points and today's point.

    Args:
        line: of the forecast, in its order.
        band: throughput, and the low and high end of the response time.
        measured: points with what is said of each.
        today: the point of today's setting, forecast.
        across: the title of the axis across.
        width: in px, as is the height.
        height: of the whole.
    """
    most_x = _ROOM * max([x for x, _ in line] + [x for x, _, _ in measured], default=1.0)
    most_y = _ROOM * max([y for _, y in line] + [y for _, y, _ in measured], default=1.0)

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            round(_LEFT + (width - _LEFT - _RIGHT) * x / most_x, 1),
            round(height - _BOTTOM - (height - _TOP - _BOTTOM) * min(y, most_y) / most_y, 1),
        )

    foot = height - _BOTTOM
    parts = [
        f'<svg class="static" role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f"aria-label={quoteattr(f'Response time in ms over {across}, as in the table')}>"
    ]
    for at in _ticks(most_y, 5):
        _, y = place(0, at)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{_number(at)}</text>')
    for at in _ticks(most_x, 6):
        x, _ = place(at, 0)
        parts.append(f'<text x="{x}" y="{foot + 18}" text-anchor="middle">{_number(at)}</text>')
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{foot}" y2="{foot}"/>')
    parts.append(f'<text x="{width - _RIGHT}" y="{foot + 35}" text-anchor="end">{escape(across)}</text>')
    parts.append('<text x="4" y="13">Response time R, ms</text>')
    if len(band) > 1:
        ends = [place(x, low) for x, low, _ in band] + [place(x, high) for x, _, high in reversed(band)]
        parts.append(f'<polygon class="band" points="{_points(ends)}"/>')
    if len(line) > 1:
        parts.append(f'<polyline class="curve" points="{_points([place(*point) for point in line])}"/>')
    for at_x, at_y, note in measured:
        x, y = place(at_x, at_y)
        parts.append(
            f'<circle class="measured" cx="{x}" cy="{y}" r="4.5"><title>{escape(note)}</title></circle>'
        )
    if today is not None:
        x, y = place(*today)
        parts.append(f'<circle class="today" cx="{x}" cy="{y}" r="6"><title>today, forecast</title></circle>')
    return "".join([*parts, "</svg>"])


def _ticks(most: float, about: int) -> list[float]:
    """Round numbers from 0 to `most`, in steps of 1, 2 or 5 times a power of ten."""
    least = most / about
    power = 10.0 ** math.floor(math.log10(least))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= least)
    return [index * step for index in range(math.floor(most / step) + 1)]


def _number(value: float) -> str:
    return cells.number(value, 1) if value else "0"


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)
