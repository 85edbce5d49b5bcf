"""The page: one HTML file with its figures, tables, style, scripts and results inside."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

import redolab
from redolab import units
from redolab.dialect.row_names import row_meaning, row_name
from redolab.forecast.explored import Explored
from redolab.report.page import figures, published_curve, shown_figures, static_curve, time_bars
from redolab.report.page.drawing import Figure
from redolab.report.page.explorer import explorer, packed_module
from redolab.report.page.histogram_figure import response_histogram
from redolab.report.page.packing import json_text, packed, script_json
from redolab.report.tables import (
    advice,
    all_figures,
    care,
    cells,
    contents,
    equal_workload,
    findings,
    forecast,
    method,
    naming,
    profile_tables,
    profile_views,
    published,
    rows,
    shown_tables,
    tables,
    time_tables,
    to_set,
    wording,
)
from redolab.report.tables.cells import Results

_FIGURES: Mapping[str, Callable[[Results], Figure]] = {
    "histogram": response_histogram,
    "curve": figures.response_curve,
}
"""The figure of a section that every experiment has alike."""
_EXPLORER = tuple(
    f"explorer_{name}" for name in ("words", "figures", "calculator", "setting", "sentences", "panels")
)
_WIDTH = 160
_CURVES = ("path", "array", "color", "format", "interpolate", "time", "time-format", "scale", "shape")
"""Modules of D3 that draw curves, each behind those that it needs."""
_PLOTTED = (*_CURVES, "selection", "axis", "geo")
"""Further modules that Observable Plot needs; others are not used here."""
"""Letters of a line that the tables of a profile have room for."""


def render(results: Results, explored: Explored | None = None) -> str:
    """Write the report of a run as one HTML page that needs nothing else.

    Args:
        results: the results object of a stored run, of whatever experiment.
        explored: costs for the page's explorer; None for a page without one.

    Returns:
        The page. It opens without network, and `#results` in it holds the results object.
    """
    shown = naming.labelled(results)
    return _filled(
        "page.html.j2",
        shown,
        _figures(shown),
        stored=results,
        version=results["method"]["redolab_version"],
        explored=explored,
        sections=contents.sections(shown, explored is not None),
        appendix=contents.APPENDIX,
        advice=advice,
        bars=time_bars,
        cells=cells,
        tables=tables,
        to_set=to_set,
        curve_caption=figures.curve_caption,
        findings=findings,
        method=method,
        published=published,
        rows=rows,
        row_name=row_name,
        row_meaning=row_meaning,
        workload=equal_workload,
        figures_of=all_figures,
        times=time_tables,
        wording=wording,
        stamp=tables.emulation(shown),
    )


def render_values(results: Results) -> str:
    """Write the analysis of a column of numbers as one HTML page that needs nothing else.

    Args:
        results: the results object of `redolab analyze`.

    Returns:
        The page. It opens without network, and `#results` in it holds the results object.
    """
    return _filled("values.html.j2", results, _own(results), version=results["redolab_version"], stamp="")


def render_profile(results: Results) -> str:
    """Write a live profile as one HTML page that needs nothing else.

    Args:
        results: the results object of `redolab profile`.

    Returns:
        The page. It opens without network, and `#results` in it holds the results object.
    """
    return _filled(
        "profile.html.j2",
        results,
        {},
        version=redolab.__version__,
        headline=profile_tables.headline(results),
        facts=profile_tables.facts(results),
        bars=time_bars.profile_bars(results),
        advice=advice.sentences(results),
        tables=[_without_bars(table) for table in profile_views.instance_tables(results, _WIDTH)],
        stamp="",
    )


def render_explorer(explored: Explored) -> str:
    """Write an explorer as one HTML page that needs nothing else.

    Args:
        explored: what it starts from.

    Returns:
        The page. It opens without network, and forecasts by itself.
    """
    facts = [
        ("Run", explored.run),
        (
            "Today",
            f"{explored.setting}; loop in {'a client' if explored.loop == 'client' else 'the server'}",
        ),
        ("CPUs", f"{explored.cpus:,}"),
        ("Log device", f"{cells.number(explored.device_ms)} ms a flush, mean"),
    ]
    return _filled(
        "explore.html.j2", None, {}, version=redolab.__version__, facts=facts, explored=explored, stamp=""
    )


def render_forecast(results: Results) -> str:
    """Write a forecast as one HTML page that needs nothing else.

    Args:
        results: the results object of `redolab forecast`.

    Returns:
        The page. It opens without network, and `#results` in it holds the results object.
    """
    sweep = forecast.swept(results)
    return _filled(
        "forecast.html.j2",
        results,
        {} if sweep is None else {"sweep": figures.sweep(sweep)},
        version=redolab.__version__,
        sentences=forecast.sentences(results),
        facts=forecast.facts(results),
        cautions=[("", text) for text in forecast.cautions(results)],
        tables=forecast.tables(results),
        sweep=sweep,
        stamp="",
    )


def _without_bars(table: cells.ShownTable) -> cells.ShownTable:
    """A table of the terminal without its column of bars, which has no title."""
    kept = [place for place, column in enumerate(table.columns) if column.title or not place]
    return cells.ShownTable(
        table.key,
        table.caption,
        [table.columns[place] for place in kept],
        [[row[place] for place in kept if place < len(row)] for row in table.rows],
        table.note,
    )


def _filled(
    template: str,
    results: Results | None,
    drawn: Mapping[str, Figure],
    explored: Explored | None = None,
    stored: Results | None = None,
    **parts: Any,
) -> str:
    return (
        _environment()
        .get_template(template)
        .render(
            results=results,
            shown=shown_tables,
            moment=units.moment,
            care=care,
            numbers=shown_figures.numbers,
            figures=drawn,
            style=_asset("report.css"),
            script=_joined(["parts.js"] if results is None else ["parts.js", "figures.js", "report.js"]),
            libraries_packed=_libraries(plotted=results is not None),
            figures_packed=packed(json_text(_drawable(drawn)).encode()),
            results_json=_script_json(results if stored is None else stored),
            **_explorer_parts(results, explored),
            **parts,
        )
    )


def _explorer_parts(results: Results | None, explored: Explored | None) -> dict[str, Any]:
    """The explorer of costs; without them the published curve through the run's points; or neither."""
    if explored is not None:
        shown = explorer(explored)
        names = (*_EXPLORER, "explorer")
        own = {
            "explore": shown,
            "explored_from": f"the costs of {explored.run}",
            "explore_json": _script_json(shown.data),
            "static": Markup(static_curve.of_sweep(explored)),  # noqa: S704 - its texts are escaped there
        }
    elif results is not None and (curves := published_curve.curves(results)):
        names = (*_EXPLORER[:3], "published_curve")
        own = {"explore": None, "published_json": _script_json(curves)}
    else:
        return {"explore": None, "wasm": None}
    return own | {
        "wasm": packed_module(),
        "explore_worker": _asset("explorer_worker.js"),
        "explore_script": _joined([f"{name}.js" for name in names]),
    }


def _figures(results: Results) -> dict[str, Figure]:
    drawn = {name: draw(results) for name, draw in _FIGURES.items() if contents.has(results, name)}
    if tables.comparisons_on(results, "throughput_per_s"):
        drawn["ratios"] = figures.ratios(results)
    if method.has_throughput(results):
        drawn |= figures.over_time(results)
    return drawn | _own(results)


def _own(results: Results) -> dict[str, Figure]:
    return {_name(data): shown_figures.figure(data) for data in results.get("figures") or ()}


def _name(data: Mapping[str, Any]) -> str:
    """An experiment's own figure within the page, whose own names it must not take."""
    return f"own-{data['key']}"


def _drawable(value: Any) -> Any:
    """The same with numbers to six digits: a screen shows no difference."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _drawable(item) for key, item in value.items()}
    return [_drawable(item) for item in value] if isinstance(value, list | tuple) else value


def _script_json(value: Any) -> Markup:
    return Markup(script_json(value))  # noqa: S704 - escaped there


@functools.cache
def _asset(name: str) -> Markup:
    text = resources.files("redolab.report.page").joinpath("assets", name).read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 - our own files, read from the package


def _joined(names: Sequence[str]) -> Markup:
    return Markup("\n").join(map(_asset, names))


@functools.cache
def _libraries(plotted: bool) -> str:
    """The libraries of figures, packed: with Observable Plot, or for curves alone."""
    modules = [f"d3/d3-{name}.min.js" for name in (_PLOTTED if plotted else _CURVES)]
    return packed(_joined([*modules, *(["plot.umd.min.js"] if plotted else [])]).encode())


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("redolab.report.page", "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
