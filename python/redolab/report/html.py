"""The page: one HTML file with its figures, tables, style, scripts and results inside."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from redolab.report import cells, durability, figures, method, published, rows, tables, time_tables
from redolab.report.cells import Results
from redolab.report.drawing import Figure
from redolab.report.time_figure import time_profile


def render(results: Results) -> str:
    """Write the report of a run as one HTML page that needs nothing else.

    Args:
        results: the results object of a stored run.

    Returns:
        The page. It opens without network, and `#results` in it holds the results object.
    """
    is_durability = results["experiment"] == "durability"
    name = "durability.html.j2" if is_durability else "report.html.j2"
    drawn = {"losses": figures.losses(results)} if is_durability else _figures(results)
    return (
        _environment()
        .get_template(name)
        .render(
            results=results,
            cells=cells,
            tables=durability if is_durability else tables,
            method=method,
            published=published,
            rows=rows,
            times=time_tables,
            figures=drawn,
            stamp=tables.emulation(results),
            style=_asset("report.css"),
            script=_asset("report.js"),
            plotly=_asset("plotly-cartesian.min.js"),
            figures_json=_script_json(drawn),
            results_json=_script_json(results),
        )
    )


def _figures(results: Results) -> dict[str, Figure]:
    return {
        "ratios": figures.ratios(results),
        "time": time_profile(results),
        "histogram": figures.response_histogram(results),
        "curve": figures.response_curve(results),
        "timeline": figures.timeline(results),
    }


def _script_json(value: Any) -> Markup:
    """Write JSON that can stand inside a script element whatever its strings hold."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - escaped above


@functools.cache
def _asset(name: str) -> Markup:
    text = resources.files("redolab.report").joinpath("assets", name).read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 - our own files, read from the package


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("redolab.report", "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
