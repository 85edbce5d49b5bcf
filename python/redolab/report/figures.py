"""The figures of a report, as plotly.js takes them: plain dicts, no library, nothing recomputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.report import cells, drawing, tables
from redolab.report.cells import Results
from redolab.report.drawing import Figure, safe


def response_histogram(results: Results) -> Figure:
    """Smoothed histograms of response time, one per setting, over the measured values."""
    unit = cells.time_unit(results)
    curves: list[dict[str, Any]] = []
    rug: list[dict[str, Any]] = []
    settings = [item for item in results["settings"] if item.get("density")]
    every = [value for item in settings for value in item["density"]["values_ms"]]
    logarithmic = drawing.spread(item["response_time_ms"]["point"] for item in results["settings"])
    for index, setting in enumerate(settings):
        density = setting["density"]
        name = safe(setting["name"])
        places, heights = density["x_ms"], density["density"]
        if logarithmic:
            # Area under a curve over log x is kept by multiplying its height by x.
            heights = [x * y for x, y in zip(places, heights, strict=True)]
        peak = max(heights, default=0.0)
        color = drawing.color(index)
        if peak > 0:
            curves.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": name,
                    "legendgroup": name,
                    "x": [unit.of(x) for x in places],
                    "y": [y / peak for y in heights] if logarithmic else [y / unit.per_ms for y in heights],
                    "line": {"color": color, "dash": drawing.dash(index), "width": 2.2},
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
    axis = drawing.axis(f"Response time R, {unit.name} per commit")
    if logarithmic and every:
        axis |= drawing.log_axis([value * unit.per_ms for value in every], padding=0.12)
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
        name = safe(item["setting"])
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
                    "color": drawing.color(settings.index(item["setting"])),
                    "dash": "dot",
                    "width": 1.6,
                },
                "customdata": [[name]] * len(item["arrival_rate_per_s"]),
                "hovertemplate": "as published, %{customdata[0]}<br>%{x:.4g} commits/s"
                f"<br>%{{y:.4g}} {unit.name}<extra></extra>",
            }
        )
    if rates:
        span = drawing.steps(min(rates) / 1.5, max(rates) * 1.5)
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
                "name": safe(item["setting"]),
                "x": item["arrival_rate_per_s"],
                "y": [unit.of(time) for time in item["response_time_ms"]],
                "marker": drawing.marker(index),
                "hovertemplate": f"%{{x:.4g}} commits/s<br>%{{y:.4g}} {unit.name}"
                "<extra>%{fullData.name}</extra>",
            }
        )
    across = drawing.axis("Commits L, per s", tickformat=",")
    up = drawing.axis(f"Response time R, {unit.name} per commit")
    if rates and drawing.spread(rates):
        across |= drawing.log_axis(rates, padding=0.12)
        up |= drawing.log_axis(times, padding=0.15)
    elif rates:
        across["range"] = [0, max(rates) * 1.15]
        up["range"] = [0, max(times) * 1.6]
    return {"data": data, "layout": drawing.layout(height=440, xaxis=across, yaxis=up)}


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
                "name": safe(item["a"]),
                "showlegend": False,
                "x": [ratio["point"]],
                "y": [place],
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [ratio["high"] - ratio["point"] if known else 0],
                    "arrayminus": [ratio["point"] - ratio["low"] if known else 0],
                    "color": drawing.color(index),
                    "thickness": 2,
                    "width": 6,
                },
                "marker": drawing.marker(index) | {"size": 11},
                "customdata": [[safe(cells.estimate(ratio).full), safe(item["outcome"])]],
                "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<extra>%{fullData.name}</extra>",
            }
        )
    title = "Commits/s" if metric == "throughput_per_s" else "Response time R"
    axis = drawing.axis(f"{title}, ratio to {safe(tables.baseline(results))}")
    bounds = [
        bound
        for item in entries
        for bound in (item["ratio"]["low"], item["ratio"]["point"], item["ratio"]["high"])
        if bound
    ]
    margin = results["method"].get("design", {}).get("margin") or 0.0
    shown = [1 - 1.5 * margin, 1 + 1.5 * margin, *bounds]
    if drawing.spread(shown):
        axis |= drawing.log_axis(shown, padding=0.1)
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
            "text": f"<b>{safe(item['a'])}</b>  {safe(cells.estimate(item['ratio'], suffix='×').full)}",
        }
        for place, item in enumerate(entries)
    ]  # fmt: skip
    layout = drawing.layout(
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
        data.append(_timeline_trace(mine, safe(name), drawing.marker(index)))
    disturbed = [item for item in samples if item["checkpoints"] or item["vacuums"]]
    spoiled = [item for item in samples if item["spoiled"]]
    ring = {"symbol": "circle-open", "size": 17, "color": "$ink", "line": {"width": 1.6}}
    cross = {"symbol": "x-thin-open", "size": 11, "color": "$bad", "line": {"width": 2.4}}
    if disturbed:
        data.append(_timeline_trace(disturbed, "checkpoint or vacuum inside", ring))
    if spoiled:
        data.append(_timeline_trace(spoiled, "spoiled, not counted", cross))
    rates = [item["throughput_per_s"] for item in samples if item["throughput_per_s"]]
    up = drawing.axis("Commits, per s", rangemode="tozero", tickformat=",")
    if drawing.spread(rates):
        up = drawing.axis("Commits, per s") | drawing.log_axis(rates, padding=0.15)
    layout = drawing.layout(height=400, xaxis=drawing.axis("Time since the run began, s"), yaxis=up)
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
                "name": safe(setting["name"]),
                "x": [item["sample"] for item in mine],
                "y": [item["missing"] for item in mine],
                "marker": drawing.marker(index),
                "customdata": [[item["acknowledged"]] for item in mine],
                "hovertemplate": "kill %{x}<br>%{y:,} of %{customdata[0]:,} missing"
                "<extra>%{fullData.name}</extra>",
            }
        )
    up = drawing.axis("Acknowledged commits missing", rangemode="tozero", tickformat=",", zeroline=True)
    return {"data": data, "layout": drawing.layout(height=360, xaxis=drawing.axis("Kill"), yaxis=up)}


def _timeline_trace(
    samples: Sequence[Mapping[str, Any]], name: str, marker: dict[str, Any]
) -> dict[str, Any]:
    notes = []
    for item in samples:
        seen = [f"{cells.count(item[what])} {what}" for what in ("checkpoints", "vacuums") if item[what]]
        if item["spoiled"]:
            seen.append(f"spoiled: {item['spoiled']}")
        notes.append([item["sample"], item["block"], safe(", ".join(seen))])
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
