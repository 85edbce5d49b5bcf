"""Where the time of a unit of work goes, as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.dialect.row_names import row_name
from redolab.report.page import drawing
from redolab.report.page.drawing import Figure, safe
from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Results
from redolab.report.tables.rows import profile_rows, shares

_WAIT_PATTERNS = ("", "\\", "x", "|", "-", "+")
_MAIN_SHARE = 0.01
"""Waits below this share in every setting stand together in the legend."""


def time_profile(results: Results) -> Figure:
    """Where the time of a unit of work goes: one bar per setting, session scope."""
    settings = results["settings"]
    each, bar, lift = (84, 0.52, 26) if len(settings) <= drawing.FEW else (56, 0.4, 15)
    unit = cells.time_unit(results)
    rows = profile_rows(results)
    parts = [shares(setting) for setting in settings]
    looks = _row_looks(rows, parts)
    traces: list[dict[str, Any]] = []
    legend: set[str] = set()
    for row in rows:
        look = looks[row]
        points = [part[row]["point"] if row in part else None for part in parts]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": look["name"],
                "legendgroup": look["name"],
                "showlegend": look["shown"] and look["name"] not in legend,
                "y": list(range(len(settings))),
                "x": [None if point is None else 100 * point for point in points],
                "text": [_segment_label(point) for point in points],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "insidetextfont": {"color": look["marker"]["color"] + "-text"},
                "constraintext": "none",
                "customdata": [
                    [
                        safe(setting["name"]),
                        safe(_long_name(row)),
                        cells.share(part.get(row)).full,
                    ]
                    for setting, part in zip(settings, parts, strict=True)
                ],
                "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]} %<extra></extra>",
                "marker": look["marker"],
                "width": bar,
            }
        )
        legend.add(look["name"])
    labels = [
        {
            "x": 0,
            "y": index,
            "xref": "paper",
            "yref": "y",
            "yshift": lift,
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False,
            "align": "left",
            "text": f"<b>{safe(setting['name'])}</b>  " + _response_label(setting["response_time_ms"], unit),
        }
        for index, setting in enumerate(settings)
    ]
    layout = drawing.layout(
        height=120 + each * len(settings),
        barmode="relative",
        annotations=labels,
        xaxis=drawing.axis(
            safe(f"Share of {wording.one(results)}'s response time, %"), ticksuffix=" %", zeroline=True
        ),
        yaxis={
            "range": [len(settings) - 0.45, -0.85],
            "visible": False,
            "fixedrange": True,
        },
        margin={"l": 8, "r": 14, "t": 8, "b": 50},
    )
    layout["xaxis"]["title"]["standoff"] = 8
    return {"data": traces, "layout": layout}


def _row_looks(
    rows: Sequence[str], parts: Sequence[Mapping[str, Mapping[str, Any]]]
) -> dict[str, dict[str, Any]]:
    looks: dict[str, dict[str, Any]] = {}
    named = 0
    fixed = {
        "on_cpu": ("$cpu", ""),
        "on_cpu_or_unknown": ("$cpu", "."),
        "run_queue": ("$queue", "/"),
        "steal": ("$steal", "+"),
        "unaccounted": ("$unaccounted", "."),
    }
    for row in rows:
        largest = max(abs(part[row]["point"] or 0.0) for part in parts if row in part)
        name = safe(row_name(row))
        if row in fixed:
            color, pattern = fixed[row]
        elif largest >= _MAIN_SHARE and named < len(_WAIT_PATTERNS):
            color, pattern = f"$wait{named + 1}", _WAIT_PATTERNS[named]
            named += 1
        else:
            color, pattern, name = "$wait-other", "", "other waits"
        marker: dict[str, Any] = {"color": color, "line": {"color": "$paper", "width": 1}}
        if pattern:
            marker["pattern"] = {
                "shape": pattern, "fillmode": "overlay", "fgcolor": "$paper", "fgopacity": 0.45,
                "size": 7, "solidity": 0.16,
            }  # fmt: skip
        # Steal is there on every virtual machine; a trace of it needs no place in the legend.
        shown = row != "steal" or largest >= _MAIN_SHARE
        looks[row] = {"name": name, "marker": marker, "shown": shown}
    return looks


def _segment_label(share: float | None) -> str:
    return f"{100 * share:.0f} %" if share is not None and abs(share) >= 0.07 else ""


def _response_label(value: Mapping[str, Any], unit: cells.TimeUnit) -> str:
    if value["point"] is None:
        return "not measured"
    return f"{cells.estimate(value, unit.per_ms).text} {unit.name}"


def _long_name(row: str) -> str:
    name = row_name(row)
    return f"{name} ({row})" if ":" in row and name != row else name
