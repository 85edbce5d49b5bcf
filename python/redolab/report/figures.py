"""The figures of a report, as plotly.js takes them: plain dicts, no library, nothing recomputed.

Colours are names such as `$setting1`; the page replaces them by its style sheet's, light or dark.
Colour is never the only sign: settings differ in symbol and dash too, parts of a bar in pattern.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from redolab.report import cells, tables
from redolab.report.cells import Results

Figure = dict[str, Any]
"""`data` and `layout` of plotly.js."""

_COLORS = 8
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
_DASHES = ("solid", "dash", "dashdot", "longdash")
_WAIT_PATTERNS = ("", "\\", "x", "|", "-", "+")
_LOG_FROM = 5.0
"""Settings that differ by more than this factor are shown on a logarithmic axis."""
_MAIN_SHARE = 0.01
"""Waits below this share in every setting stand together in the legend."""


def time_profile(results: Results) -> Figure:
    """Where the time of a commit goes: one bar per setting, session scope."""
    settings = results["settings"]
    unit = cells.time_unit(results)
    rows = tables.profile_rows(results)
    shares = [tables.shares(setting) for setting in settings]
    looks = _row_looks(rows, shares)
    traces: list[dict[str, Any]] = []
    legend: set[str] = set()
    for row in rows:
        look = looks[row]
        points = [part[row]["point"] if row in part else None for part in shares]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": look["name"],
                "legendgroup": look["name"],
                "showlegend": look["name"] not in legend,
                "y": list(range(len(settings))),
                "x": [None if point is None else 100 * point for point in points],
                "text": [_segment_label(point) for point in points],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "insidetextfont": {"color": look["marker"]["color"] + "-text"},
                "constraintext": "none",
                "customdata": [
                    [_safe(setting["name"]), _safe(_long_name(row)), cells.share(part.get(row)).full]
                    for setting, part in zip(settings, shares, strict=True)
                ],
                "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]} %<extra></extra>",
                "marker": look["marker"],
                "width": 0.52,
            }
        )
        legend.add(look["name"])
    labels = [
        {
            "x": 0,
            "y": index,
            "xref": "paper",
            "yref": "y",
            "yshift": 26,
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False,
            "align": "left",
            "text": f"<b>{_safe(setting['name'])}</b>  " + _response_label(setting["response_time_ms"], unit),
        }
        for index, setting in enumerate(settings)
    ]
    layout = _layout(
        height=120 + 84 * len(settings),
        barmode="relative",
        annotations=labels,
        xaxis=_axis("Share of a commit's response time, %", ticksuffix=" %", zeroline=True),
        yaxis={
            "range": [len(settings) - 0.45, -0.85],
            "visible": False,
            "fixedrange": True,
        },
        margin={"l": 8, "r": 14, "t": 8, "b": 50},
    )
    layout["xaxis"]["title"]["standoff"] = 8
    return {"data": traces, "layout": layout}


def response_histogram(results: Results) -> Figure:
    """Smoothed histograms of response time, one per setting, over the measured values."""
    unit = cells.time_unit(results)
    curves: list[dict[str, Any]] = []
    rug: list[dict[str, Any]] = []
    settings = [item for item in results["settings"] if item.get("density")]
    every = [value for item in settings for value in item["density"]["values_ms"]]
    logarithmic = _spread(item["response_time_ms"]["point"] for item in results["settings"])
    for index, setting in enumerate(settings):
        density = setting["density"]
        name = _safe(setting["name"])
        places, heights = density["x_ms"], density["density"]
        if logarithmic:
            # Area under a curve over log x is kept by multiplying its height by x.
            heights = [x * y for x, y in zip(places, heights, strict=True)]
        peak = max(heights, default=0.0)
        color = _color(index)
        if peak > 0:
            curves.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": name,
                    "legendgroup": name,
                    "x": [unit.of(x) for x in places],
                    "y": [y / peak for y in heights] if logarithmic else [y / unit.per_ms for y in heights],
                    "line": {"color": color, "dash": _dash(index), "width": 2.2},
                    "fill": "tozeroy",
                    "fillcolor": color + "-faint",
                    "hoverinfo": "skip",
                }
            )
        rug.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "legendgroup": name,
                "showlegend": peak <= 0,
                "xaxis": "x",
                "yaxis": "y2",
                "x": [unit.of(x) for x in density["values_ms"]],
                "y": [index] * len(density["values_ms"]),
                "marker": {"symbol": "line-ns-open", "size": 9, "color": color, "line": {"width": 1.4}},
                "hovertemplate": f"%{{x:.4g}} {unit.name}<extra>%{{fullData.name}}</extra>",
            }
        )
    axis = _axis(f"Response time R, {unit.name} per commit")
    if logarithmic and every:
        axis |= _log_axis([value * unit.per_ms for value in every], padding=0.12)
    height = "density, each to its own peak" if logarithmic else f"density, per {unit.name}"
    layout = _layout(
        height=400,
        xaxis=axis | {"anchor": "y2"},
        yaxis={"domain": [0.24, 1], **_axis(height, rangemode="tozero", showticklabels=False)},
        yaxis2={
            "domain": [0, 0.2],
            "range": [len(settings) - 0.5, -0.5],
            "visible": False,
            "fixedrange": True,
        },
    )
    return {"data": [*curves, *rug], "layout": layout}


def response_curve(results: Results) -> Figure:
    """Response time over commit rate: measured points, the closed loop's law, the published curves."""
    unit = cells.time_unit(results)
    curve = results["curve"]
    sessions = curve["closed_loop"]["sessions"]
    rates = [rate for item in curve["points"] for rate in item["arrival_rate_per_s"]]
    times = [time * unit.per_ms for item in curve["points"] for time in item["response_time_ms"]]
    settings = [item["name"] for item in results["settings"]]
    data: list[dict[str, Any]] = []
    for item in curve.get("published", ()):
        name = _safe(item["setting"])
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": "as published",
                "legendgroup": "as published",
                "showlegend": not data,
                "x": item["arrival_rate_per_s"],
                "y": [unit.of(time) for time in item["response_time_ms"]],
                "line": {
                    "color": _color(settings.index(item["setting"])),
                    "dash": "dot",
                    "width": 1.6,
                },
                "customdata": [[name]] * len(item["arrival_rate_per_s"]),
                "hovertemplate": "as published, %{customdata[0]}<br>%{x:.4g} commits/s"
                f"<br>%{{y:.4g}} {unit.name}<extra></extra>",
            }
        )
    if rates:
        span = _steps(min(rates) / 1.5, max(rates) * 1.5)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"R = {sessions} sessions / L",
                "x": span,
                "y": [1000 * unit.per_ms * sessions / rate for rate in span],
                "line": {"color": "$ink-soft", "width": 1.4},
                "hoverinfo": "skip",
            }
        )
    for item in curve["points"]:
        index = settings.index(item["setting"])
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": _safe(item["setting"]),
                "x": item["arrival_rate_per_s"],
                "y": [unit.of(time) for time in item["response_time_ms"]],
                "marker": _marker(index),
                "hovertemplate": f"%{{x:.4g}} commits/s<br>%{{y:.4g}} {unit.name}"
                "<extra>%{fullData.name}</extra>",
            }
        )
    across = _axis("Commits L, per s", tickformat=",")
    up = _axis(f"Response time R, {unit.name} per commit")
    if rates and _spread(rates):
        across |= _log_axis(rates, padding=0.12)
        up |= _log_axis(times, padding=0.15)
    elif rates:
        across["range"] = [0, max(rates) * 1.15]
        up["range"] = [0, max(times) * 1.6]
    return {"data": data, "layout": _layout(height=440, xaxis=across, yaxis=up)}


def ratios(results: Results, metric: str = "throughput_per_s") -> Figure:
    """Each setting's ratio to the baseline with its interval, and the margin of equivalence."""
    entries = [
        item
        for item in results["comparisons"]
        if item["metric"] == metric and item["ratio"]["point"] is not None
    ]
    settings = [item["name"] for item in results["settings"]]
    data = []
    for place, item in enumerate(entries):
        index = settings.index(item["a"])
        ratio = item["ratio"]
        known = ratio["low"] is not None and ratio["high"] is not None
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": _safe(item["a"]),
                "showlegend": False,
                "x": [ratio["point"]],
                "y": [place],
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [ratio["high"] - ratio["point"] if known else 0],
                    "arrayminus": [ratio["point"] - ratio["low"] if known else 0],
                    "color": _color(index),
                    "thickness": 2,
                    "width": 6,
                },
                "marker": _marker(index) | {"size": 11},
                "customdata": [[_safe(cells.estimate(ratio).full), _safe(item["outcome"])]],
                "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<extra>%{fullData.name}</extra>",
            }
        )
    title = "Commits/s" if metric == "throughput_per_s" else "Response time R"
    axis = _axis(f"{title}, ratio to {_safe(tables.baseline(results))}")
    bounds = [
        bound
        for item in entries
        for bound in (item["ratio"]["low"], item["ratio"]["point"], item["ratio"]["high"])
        if bound
    ]
    margin = results["method"].get("design", {}).get("margin") or 0.0
    shown = [1 - 1.5 * margin, 1 + 1.5 * margin, *bounds]
    if _spread(shown):
        axis |= _log_axis(shown, padding=0.1)
    else:
        room = 0.06 * (max(shown) - min(shown))
        axis["range"] = [min(shown) - room, max(shown) + room]
    shapes: list[dict[str, Any]] = [
        {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "layer": "below",
         "line": {"color": "$ink-soft", "width": 1.4}}
    ]  # fmt: skip
    if margin:
        shapes.append(
            {"type": "rect", "x0": 1 - margin, "x1": 1 + margin, "y0": 0, "y1": 1, "yref": "paper",
             "layer": "below", "line": {"width": 0}, "fillcolor": "$band"}
        )  # fmt: skip
    labels = [
        {
            "x": 0, "y": place, "xref": "paper", "yref": "y", "yshift": 12, "xanchor": "left",
            "yanchor": "bottom", "showarrow": False, "align": "left", "bgcolor": "$paper",
            "text": f"<b>{_safe(item['a'])}</b>  {_safe(cells.estimate(item['ratio'], suffix='×').full)}",
        }
        for place, item in enumerate(entries)
    ]  # fmt: skip
    layout = _layout(
        height=90 + 58 * max(1, len(entries)),
        xaxis=axis,
        yaxis={"range": [len(entries) - 0.5, -0.75], "visible": False, "fixedrange": True},
        shapes=shapes,
        annotations=labels,
        showlegend=False,
        margin={"l": 8, "r": 14, "t": 4, "b": 50},
    )
    return {"data": data, "layout": layout}


def timeline(results: Results) -> Figure:
    """Throughput of every sample over the run, with what disturbed it."""
    settings = [item["name"] for item in results["settings"]]
    samples = results["timeline"]
    data: list[dict[str, Any]] = []
    for index, name in enumerate(settings):
        mine = [item for item in samples if item["setting"] == name and not item["spoiled"]]
        data.append(_timeline_trace(mine, _safe(name), _marker(index)))
    disturbed = [item for item in samples if item["checkpoints"] or item["vacuums"]]
    spoiled = [item for item in samples if item["spoiled"]]
    ring = {"symbol": "circle-open", "size": 17, "color": "$ink", "line": {"width": 1.6}}
    cross = {"symbol": "x-thin-open", "size": 11, "color": "$bad", "line": {"width": 2.4}}
    if disturbed:
        data.append(_timeline_trace(disturbed, "checkpoint or vacuum inside", ring))
    if spoiled:
        data.append(_timeline_trace(spoiled, "spoiled, not counted", cross))
    rates = [item["throughput_per_s"] for item in samples if item["throughput_per_s"]]
    up = _axis("Commits, per s", rangemode="tozero", tickformat=",")
    if _spread(rates):
        up = _axis("Commits, per s") | _log_axis(rates, padding=0.15)
    layout = _layout(height=400, xaxis=_axis("Time since the run began, s"), yaxis=up)
    return {"data": data, "layout": layout}


def losses(results: Results) -> Figure:
    """Acknowledged commits missing after each kill."""
    data = []
    for index, setting in enumerate(results["settings"]):
        mine = [
            item for item in results["timeline"] if item["setting"] == setting["name"] and not item["spoiled"]
        ]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": _safe(setting["name"]),
                "x": [item["sample"] for item in mine],
                "y": [item["missing"] for item in mine],
                "marker": _marker(index),
                "customdata": [[item["acknowledged"]] for item in mine],
                "hovertemplate": "kill %{x}<br>%{y:,} of %{customdata[0]:,} missing"
                "<extra>%{fullData.name}</extra>",
            }
        )
    up = _axis("Acknowledged commits missing", rangemode="tozero", tickformat=",", zeroline=True)
    return {"data": data, "layout": _layout(height=360, xaxis=_axis("Kill"), yaxis=up)}


def _timeline_trace(
    samples: Sequence[Mapping[str, Any]], name: str, marker: dict[str, Any]
) -> dict[str, Any]:
    notes = []
    for item in samples:
        seen = [f"{cells.count(item[what])} {what}" for what in ("checkpoints", "vacuums") if item[what]]
        if item["spoiled"]:
            seen.append(f"spoiled: {item['spoiled']}")
        notes.append([item["sample"], item["block"], _safe(", ".join(seen))])
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [item["start_s"] for item in samples],
        "y": [item["throughput_per_s"] for item in samples],
        "marker": marker,
        "customdata": notes,
        "hovertemplate": "sample %{customdata[0]}, block %{customdata[1]}<br>%{y:.4g} commits/s"
        "<br>%{customdata[2]}<extra>%{fullData.name}</extra>",
    }


def _row_looks(
    rows: Sequence[str], shares: Sequence[Mapping[str, Mapping[str, Any]]]
) -> dict[str, dict[str, Any]]:
    looks: dict[str, dict[str, Any]] = {}
    named = 0
    fixed = {
        "on_cpu": ("$cpu", ""),
        "on_cpu_or_unknown": ("$cpu", "."),
        "run_queue": ("$queue", "/"),
        "unaccounted": ("$unaccounted", "."),
    }
    for row in rows:
        largest = max(abs(part[row]["point"] or 0.0) for part in shares if row in part)
        name = _safe(tables.row_name(row))
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
        looks[row] = {"name": name, "marker": marker}
    return looks


def _segment_label(share: float | None) -> str:
    return f"{100 * share:.0f} %" if share is not None and abs(share) >= 0.07 else ""


def _response_label(value: Mapping[str, Any], unit: cells.TimeUnit) -> str:
    if value["point"] is None:
        return "not measured"
    return f"{cells.estimate(value, unit.per_ms).text} {unit.name}"


def _long_name(row: str) -> str:
    name = tables.row_name(row)
    return f"{name} ({row})" if ":" in row and name != row else name


def _safe(text: str) -> str:
    # plotly.js reads a small HTML dialect in every text it draws.
    return html.escape(text, quote=False)


def _color(index: int) -> str:
    return f"$setting{index % _COLORS + 1}"


def _dash(index: int) -> str:
    return _DASHES[index % len(_DASHES)]


def _marker(index: int) -> dict[str, Any]:
    symbol = _SYMBOLS[index % len(_SYMBOLS)]
    return {
        "symbol": symbol,
        "size": 11 if symbol == "triangle-up" else 9,
        "color": _color(index),
        "opacity": 0.85,
        "line": {"color": "$paper", "width": 0.8},
    }


def _spread(values: Iterable[float | None]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) / min(known) > _LOG_FROM


def _steps(low: float, high: float, points: int = 60) -> list[float]:
    factor = (high / low) ** (1 / (points - 1))
    return [low * factor**index for index in range(points)]


def _axis(title: str, **more: Any) -> dict[str, Any]:
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


def _log_axis(values: Sequence[float], padding: float) -> dict[str, Any]:
    """A logarithmic axis over `values`, ticks at 1, 2 and 5 written in full."""
    positive = [value for value in values if value > 0]
    low, high = math.log10(min(positive)) - padding, math.log10(max(positive)) + padding
    ticks = [
        step * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for step in (1, 2, 5)
        if low <= math.log10(step * 10.0**power) <= high
    ]
    return {
        "type": "log",
        "range": [low, high],
        "tickvals": ticks,
        "ticktext": [cells.number(tick, 1) for tick in ticks],
    }


def _layout(**more: Any) -> dict[str, Any]:
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
