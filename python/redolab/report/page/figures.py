"""The figures that every experiment has alike, as `figures.js` draws them; nothing is recomputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.report.page import drawing
from redolab.report.page.drawing import Figure
from redolab.report.tables import cells, tables, wording
from redolab.report.tables.cells import Results
from redolab.report.tables.forecast import SweptThroughput

_LEFT = 64
"""Pixels left of the axis of figures that are drawn one below the other."""
_LAW = {"color": "ink-soft", "dash": "solid"}
_PUBLISHED = {"color": "ink-soft", "dash": "dot"}
_DISTURBED = {"color": "ink", "symbol": "circle", "hollow": True}
_SPOILED = {"color": "bad", "symbol": "times", "hollow": True}


def response_curve(results: Results) -> Figure:
    """Response time over arrival rate: measured points, the closed loop's law, the published curves."""
    unit = cells.time_unit(results)
    curve = results["curve"]
    sessions = curve["closed_loop"]["sessions"]
    points = _points(results)
    rates = [rate for _, rate, _ in points]
    times = [time * unit.per_ms for _, _, time in points]
    settings = [item["name"] for item in results["settings"]]
    marks, legend = [], []
    for item in curve.get("published", ()):
        color = drawing.look(settings.index(item["setting"]))["color"]
        over = [unit.of(time) for time in item["response_time_ms"]]
        marks.append(drawing.line(color, item["arrival_rate_per_s"], over, "dot", 1.6))
    if marks:
        legend.append(drawing.entry("as published", "line", _PUBLISHED))
    if rates and sessions:
        span = drawing.steps(min(rates) / 1.5, max(rates) * 1.5)
        law = [1000 * unit.per_ms * sessions / rate for rate in span]
        marks.append(drawing.line(_LAW["color"], span, law, width=1.4))
        legend.append(drawing.entry(f"R = {sessions} sessions / L", "line", _LAW))
    for item in curve["points"]:
        looks = drawing.look(settings.index(item["setting"]))
        over = [unit.of(time) for time in item["response_time_ms"]]
        notes = [
            f"{item['setting']}: {cells.number(rate, 4)} {wording.units(results)}/s, "
            f"{cells.number(time, 4)} {unit.name}"
            for rate, time in zip(item["arrival_rate_per_s"], over, strict=True)
        ]
        marks.append(drawing.dots(looks, item["arrival_rate_per_s"], over, notes))
        legend.append(drawing.entry(item["setting"], "dot", looks))
    across = f"{wording.units(results).capitalize()} L, per s"
    up = f"Response time R, {wording.per_unit(results, unit)}"
    if rates and drawing.spread(rates):
        axes = drawing.log_axis(across, rates, padding=0.12), drawing.log_axis(up, times, padding=0.15)
    else:
        axes = (
            drawing.linear_axis(across, rates, zero=True, padding=0.15),
            drawing.linear_axis(up, times, zero=True, padding=0.5),
        )
    return drawing.figure(230, *axes, marks, legend)


def curve_caption(results: Results) -> str:
    """The caption of the response-time figure."""
    curve = results["curve"]
    sessions = curve["closed_loop"]["sessions"]
    loop = (
        f"The load is a loop of {sessions} session{'s' if sessions > 1 else ''} that never pause (a closed "
        "loop), so the points lie on the solid line, where response time is the number of sessions divided "
        "by throughput (R = sessions / L)."
        if sessions
        else (
            "The load is a loop of sessions that never pause (a closed loop); the number of sessions differs "
            "between the settings."
        )
    )
    published = (
        " The dotted line is the published curve R = S / (1 − (S L / M)^M); that curve assumes that work "
        "arrives however fast it is done (open arrivals)."
    )
    return f"Points are samples. {loop}" + (published if curve.get("published") else "")


def ratios(results: Results) -> Figure:
    """Each setting's throughput over the baseline's with its interval, and the margin of equivalence."""
    entries = [
        item
        for item in tables.comparisons_on(results, "throughput_per_s")
        if item["ratio"]["point"] is not None and _within_a_server(results, item)
    ]
    settings = [item["name"] for item in results["settings"]]
    margin = results["method"].get("design", {}).get("margin") or 0.0
    marks: list[drawing.Mark] = []
    if margin:
        marks.append({"kind": "band", "from": 1 - margin, "to": 1 + margin})
    marks.append({"kind": "rule", "x": 1})
    bounds = [1 - 1.5 * margin, 1 + 1.5 * margin]
    for place, item in enumerate(entries):
        looks, ratio = drawing.look(settings.index(item["a"])), item["ratio"]
        full = cells.estimate(ratio, suffix="×").full
        if ratio["low"] is not None and ratio["high"] is not None:
            marks.append(drawing.level(looks["color"], [place], [ratio["low"]], [ratio["high"]]))
        marks.append(
            drawing.dots(looks, [ratio["point"]], [place], [f"{item['a']}: {full}, {item['outcome']}"], 5.5)
        )
        marks.append({"kind": "label", "y": place, "name": item["a"], "text": full})
        bounds += [end for end in (ratio["low"], ratio["point"], ratio["high"]) if end]
    title = f"{wording.units(results).capitalize()}/s, ratio to {tables.baseline_text(results)}"
    across = (
        drawing.log_axis(title, bounds, padding=0.1)
        if drawing.spread(bounds)
        else drawing.linear_axis(title, bounds, padding=0.06)
    )
    each = 44 if len(entries) <= drawing.FEW else 40
    up = {"label": "", "domain": [len(entries) - 0.5, -0.85], "bare": True}
    return drawing.figure(60 + each * max(1, len(entries)), across, up, marks, [])


def _within_a_server(results: Results, comparison: Mapping[str, Any]) -> bool:
    """Whether it is not a comparison of servers, which have a table of their own."""
    return not results.get("baselines") or comparison["b"] == tables.baseline_of(results, comparison["a"])


def sweep(swept: SweptThroughput) -> Figure:
    """The throughput of a sweep of forecasts, with its prediction intervals."""
    looks = drawing.look(0)
    points, lows, highs = ([said.get(end) for said in swept.estimates] for end in ("point", "low", "high"))
    numbers = all(isinstance(level, int | float) for level in swept.levels)
    places: list[float] = list(swept.levels) if numbers else list(range(len(swept.levels)))
    notes = [
        f"{label} {swept.factor}: {cells.estimate(said).full if said else 'no steady state'}"
        for label, said in zip(swept.labels, swept.estimates, strict=True)
    ]
    marks: list[drawing.Mark] = []
    if swept.enough is not None:
        marks.append({"kind": "rule", "x": places[swept.enough]})
    marks += [
        drawing.upright(looks["color"], places, lows, highs),
        drawing.line(looks["color"], places, points),
        drawing.dots(looks, places, points, notes),
    ]
    title = swept.factor[0].upper() + swept.factor[1:]
    across = (
        drawing.named_axis(title, swept.labels)
        if not numbers
        else drawing.log_axis(title, places, padding=0.06)
        if min(places) > 0
        else drawing.linear_axis(title, places)
    )
    return drawing.figure(
        320, across, drawing.linear_axis(swept.unit, [*points, *highs], zero=True), marks, []
    )


def over_time(results: Results) -> dict[str, Figure]:
    """Every sample over the run: its throughput and, where known, CPU use and run queue."""
    drawn = {"timeline": _throughput(results)}
    for name, key, title, scale in (
        ("timeline-cpu", "cpu_use", "CPU use, %", 100.0),
        ("timeline-queue", "run_queue", "Processes waiting for a CPU, mean", 1.0),
    ):
        if any(item.get(key) is not None for item in results["timeline"]):
            drawn[name] = _per_sample(results, key, title, scale)
    # One below the other: the same moment must be at the same place.
    return {name: figure | {"left": _LEFT} for name, figure in drawn.items()}


def _per_sample(results: Results, key: str, title: str, scale: float) -> Figure:
    marks, every = [], []
    for index, setting in enumerate(results["settings"]):
        mine = [item for item in results["timeline"] if item["setting"] == setting["name"]]
        values = [None if item.get(key) is None else scale * item[key] for item in mine]
        notes = [
            f"{item['setting']}: {cells.number(value)}, sample {item['sample']}"
            for item, value in zip(mine, values, strict=True)
        ]
        marks.append(drawing.dots(drawing.look(index), [item["start_s"] for item in mine], values, notes))
        every += values
    across = _over_time(results["timeline"]) | {"label": ""}
    return drawing.figure(105, across, drawing.linear_axis(title, every, zero=True), marks, [])


def _throughput(results: Results) -> Figure:
    """Throughput of every sample over the run, with what disturbed it."""
    samples = results["timeline"]
    marks, legend = [], []
    for index, setting in enumerate(results["settings"]):
        mine = [item for item in samples if item["setting"] == setting["name"] and not item["spoiled"]]
        marks.append(_samples(results, mine, drawing.look(index)))
        legend.append(drawing.entry(setting["name"], "dot", drawing.look(index)))
    for seen, name, looks, size in (
        ([item for item in samples if item["checkpoints"] or item["vacuums"]],
         "checkpoint or vacuum inside", _DISTURBED, 8.5),
        ([item for item in samples if item["spoiled"]], "spoiled, not counted", _SPOILED, 6),
    ):  # fmt: skip
        if seen:
            marks.append(_samples(results, seen, looks, size))
            legend.append(drawing.entry(name, "dot", looks))
    rates = [item["throughput_per_s"] for item in samples if item["throughput_per_s"]]
    title = f"{wording.units(results).capitalize()}, per s"
    up = (
        drawing.log_axis(title, rates, padding=0.15)
        if drawing.spread(rates)
        else drawing.linear_axis(title, rates, zero=True)
    )
    return drawing.figure(200, _over_time(samples), up, marks, legend)


def _over_time(samples: Sequence[Mapping[str, Any]]) -> drawing.Axis:
    starts = [item["start_s"] for item in samples]
    return drawing.linear_axis("Time since the run began, s", starts, zero=True, padding=0.03)


def _samples(
    results: Results, samples: Sequence[Mapping[str, Any]], looks: Mapping[str, Any], size: float = 4.5
) -> drawing.Mark:
    notes = []
    for item in samples:
        seen = [f"{cells.count(item[what])} {what}" for what in ("checkpoints", "vacuums") if item[what]]
        if item["spoiled"]:
            seen.append(f"spoiled: {item['spoiled']}")
        rate = f"{cells.number(item['throughput_per_s'], 4)} {wording.units(results)}/s"
        where = f"sample {item['sample']}, block {item['block']}"
        notes.append(", ".join([f"{item['setting']}: {rate}", where, *seen]))
    return drawing.dots(
        looks,
        [item["start_s"] for item in samples],
        [item["throughput_per_s"] for item in samples],
        notes,
        size,
    )


def _points(results: Results) -> list[tuple[str, float, float]]:
    """Setting, arrival rate and response time of every sample that has both."""
    return [
        (item["setting"], rate, time)
        for item in results["curve"]["points"]
        for rate, time in zip(item["arrival_rate_per_s"], item["response_time_ms"], strict=True)
        if rate is not None and time is not None
    ]
