"""The figures of a report, as plotly.js takes them: plain dicts, no library, nothing recomputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.report.page import drawing
from redolab.report.page.drawing import Figure, safe
from redolab.report.tables import cells, tables, wording
from redolab.report.tables.cells import Results


def response_curve(results: Results) -> Figure:
    """Response time over arrival rate: measured points, the closed loop's law, the published curves."""
    unit = cells.time_unit(results)
    rate_unit = safe(f"{wording.units(results)}/s")
    curve = results["curve"]
    sessions = curve["closed_loop"]["sessions"]
    points = _points(results)
    rates = [rate for _, rate, _ in points]
    times = [time * unit.per_ms for _, _, time in points]
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
                "hovertemplate": f"as published, %{{customdata[0]}}<br>%{{x:.4g}} {rate_unit}"
                f"<br>%{{y:.4g}} {unit.name}<extra></extra>",
            }
        )
    if rates and sessions:
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
                "hovertemplate": f"%{{x:.4g}} {rate_unit}<br>%{{y:.4g}} {unit.name}"
                "<extra>%{fullData.name}</extra>",
            }
        )
    across = drawing.axis(f"{safe(wording.units(results).capitalize())} L, per s", tickformat=",")
    up = drawing.axis(safe(f"Response time R, {wording.per_unit(results, unit)}"))
    if rates and drawing.spread(rates):
        across |= drawing.log_axis(rates, padding=0.12)
        up |= drawing.log_axis(times, padding=0.15)
    elif rates:
        across["range"] = [0, max(rates) * 1.15]
        up["range"] = [0, max(times) * 1.6]
    height = 440 + drawing.legend_height(len(settings))
    return {"data": data, "layout": drawing.layout(height=height, xaxis=across, yaxis=up)}


def curve_caption(results: Results) -> str:
    """What the response-time figure shows."""
    curve = results["curve"]
    sessions = curve["closed_loop"]["sessions"]
    loop = (
        f"The load is a closed loop of {sessions} session{'s' if sessions > 1 else ''} that never pause, so "
        "the points lie on R = sessions / L, the solid line."
        if sessions
        else "The load is a closed loop whose number of sessions differs between the settings."
    )
    published = (
        " Dotted: the published curve R = S / (1 − (S L / M)^M), as published, which is made for open "
        "arrivals."
    )
    return f"Points are samples. {loop}" + (published if curve.get("published") else "")


def ratios(results: Results) -> Figure:
    """Each setting's throughput over the baseline's with its interval, and the margin of equivalence."""
    entries = [
        item
        for item in tables.comparisons_on(results, "throughput_per_s")
        if item["ratio"]["point"] is not None
    ]
    each = 58 if len(entries) <= drawing.FEW else 46
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
    title = safe(f"{wording.units(results).capitalize()}/s")
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
        height=90 + each * max(1, len(entries)),
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
    unit = f"{wording.units(results)}/s"
    data: list[dict[str, Any]] = []
    for index, name in enumerate(settings):
        mine = [item for item in samples if item["setting"] == name and not item["spoiled"]]
        data.append(_timeline_trace(mine, safe(name), drawing.marker(index), unit))
    disturbed = [item for item in samples if item["checkpoints"] or item["vacuums"]]
    spoiled = [item for item in samples if item["spoiled"]]
    ring = {"symbol": "circle-open", "size": 17, "color": "$ink", "line": {"width": 1.6}}
    cross = {"symbol": "x-thin-open", "size": 11, "color": "$bad", "line": {"width": 2.4}}
    if disturbed:
        data.append(_timeline_trace(disturbed, "checkpoint or vacuum inside", ring, unit))
    if spoiled:
        data.append(_timeline_trace(spoiled, "spoiled, not counted", cross, unit))
    rates = [item["throughput_per_s"] for item in samples if item["throughput_per_s"]]
    title = safe(f"{wording.units(results).capitalize()}, per s")
    up = drawing.axis(title, rangemode="tozero", tickformat=",")
    if drawing.spread(rates):
        up = drawing.axis(title) | drawing.log_axis(rates, padding=0.15)
    height = 400 + drawing.legend_height(len(settings))
    layout = drawing.layout(height=height, xaxis=drawing.axis("Time since the run began, s"), yaxis=up)
    return {"data": data, "layout": layout}


def _points(results: Results) -> list[tuple[str, float, float]]:
    """Setting, arrival rate and response time of every sample that has both."""
    return [
        (item["setting"], rate, time)
        for item in results["curve"]["points"]
        for rate, time in zip(item["arrival_rate_per_s"], item["response_time_ms"], strict=True)
        if rate is not None and time is not None
    ]


def _timeline_trace(
    samples: Sequence[Mapping[str, Any]], name: str, marker: dict[str, Any], unit: str
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
        "hovertemplate": f"sample %{{customdata[0]}}, block %{{customdata[1]}}<br>%{{y:.4g}} {safe(unit)}"
        "<br>%{customdata[2]}<extra>%{fullData.name}</extra>",
    }
