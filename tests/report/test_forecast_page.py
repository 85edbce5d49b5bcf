"""The page of a forecast in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from redolab.commands.page import write_page
from redolab.errors import UsageError
from redolab.report.page.html import render_forecast
from redolab.report.tables import forecast
from tests.report.conftest import Open
from tests.report.fixtures import HOSTILE
from tests.screens.screens import FORECASTS


@pytest.mark.parametrize("name", sorted(FORECASTS))
def test_the_page_says_what_the_terminal_says(open_report: Open, name: str) -> None:
    results = FORECASTS[name]
    opened = open_report(results, 1280)
    page = opened.page
    assert opened.messages == []
    assert len(opened.requests) == 1
    assert page.locator("p.verdict, p.rest").all_text_contents() == forecast.sentences(results)
    assert page.locator("#warnings li").all_text_contents() == forecast.cautions(results)
    tables = [f"table-{table.key}" for table in forecast.tables(results)]
    assert sorted(page.locator("table").evaluate_all("all => all.map((it) => it.id)")) == sorted(tables)
    assert json.loads(page.locator("#results").text_content() or "") == json.loads(json.dumps(results))


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1920, "dark")])
def test_a_sweep_is_drawn(open_report: Open, width: int, scheme: Literal["light", "dark"]) -> None:
    results = FORECASTS["forecast_sweep"]
    page = open_report(results, width, scheme).page
    assert page.locator("#figure-sweep [aria-label='dot'] > *").count() == len(results["sweep"])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert Axe().run(page).response["violations"] == []


def test_names_of_runs_are_no_markup() -> None:
    results: dict[str, Any] = json.loads(json.dumps(FORECASTS["forecast"]))
    results["run"] = HOSTILE
    results["warnings"] = [HOSTILE]
    assert "<img" not in render_forecast(results).split('<script type="application/json"')[0]


def test_a_page_never_takes_the_place_of_another_file(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    write_page(FORECASTS["forecast"], "forecast", place, "--page")
    before = place.read_text()
    with pytest.raises(UsageError, match=r"not overwritten\. Give --page another name"):
        write_page(FORECASTS["forecast_sweep"], "forecast", place, "--page")
    assert place.read_text() == before
