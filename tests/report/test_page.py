"""The page in a real browser, opened from a file and without any network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from redolab.report.page import figures, html
from redolab.report.page.time_figure import time_profile

from .conftest import Open, Opened
from .fixtures import HOSTILE, NAMES, hostile, hostile_wide, stored

SECTIONS = {
    "log_bound": ["verdict", "time", "advice", "histogram", "curve", "tables", "published", "method"],
    "durability": ["verdict", "figures", "tables", "method"],
    "wide": ["verdict", "figures", "time", "advice", "histogram", "curve", "tables", "published", "method"],
    "bare": ["verdict", "figures", "method"],
}


def is_quiet(opened: Opened) -> None:
    assert opened.messages == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in opened.requests if url.startswith("file:")]) == 1


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
@pytest.mark.parametrize("name", NAMES)
def test_opens_quietly_and_fits(
    open_report: Open, name: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    opened = open_report(stored(name), width, scheme)
    is_quiet(opened)
    drawn = opened.page.locator("[data-figure] svg.main-svg").count()
    assert drawn >= (1 if name in ("durability", "bare") else 5)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", SECTIONS)
def test_a_page_has_the_sections_its_run_has_data_for(open_report: Open, name: str) -> None:
    page = open_report(stored(name)).page
    assert page.locator("section").evaluate_all("all => all.map((it) => it.id)") == SECTIONS[name]
    links = page.locator("nav a").evaluate_all("all => all.map((it) => it.getAttribute('href'))")
    assert links == [f"#{section}" for section in SECTIONS[name][1:]]
    empty = page.locator("tbody td[colspan]").evaluate_all("all => all.map((it) => it.closest('table').id)")
    assert set(empty) <= {"table-parameter-changes"}


def test_a_report_speaks_of_its_unit_of_work(open_report: Open) -> None:
    page = open_report(stored("wide")).page
    assert page.locator(".headline .meaning strong").inner_text() == "rows per second, 4096 over 1"
    assert "Rows" in page.locator("#table-glance thead").inner_text()
    axes = page.locator("#figure-time .xtitle, #figure-histogram .xtitle, #figure-curve .xtitle")
    assert axes.all_text_contents() == [
        "Share of a row's response time, %", "Response time R, µs per row", "Rows L, per s",
    ]  # fmt: skip
    for section in ("#time", "#histogram", "#curve"):
        assert "commit" not in page.locator(section).inner_text()


def test_tables_figures_and_findings_of_an_experiment_are_shown(open_report: Open) -> None:
    results = stored("wide")
    page = open_report(results).page
    assert page.locator("#verdict #table-own-collected tbody tr").count() == 3
    assert page.locator("#tables #table-own-batch tbody tr").count() == 16
    marks = page.locator("#figure-own-over-rows .points path.point")
    points = sum(
        sum(y is not None for y in series["y"])
        for series in results["figures"][0]["series"]
        if series["style"] != "dashed"
    )
    assert marks.count() == points
    assert page.locator("#figure-own-over-rows .errorbar").count() == 16
    said = page.locator("#table-findings tbody tr").evaluate_all(
        "rows => rows.map((row) => row.cells[3].textContent)"
    )
    assert said == [finding["agreement"] for finding in results["published"]]
    assert page.locator("#published li").all_text_contents() == [results["published"][0]["source"]]


def test_the_file_holds_the_results_it_shows(open_report: Open) -> None:
    results = stored("log_bound")
    page = open_report(results).page
    assert json.loads(page.locator("#results").text_content() or "") == results
    shown = page.locator("#table-glance tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.cells].map((cell) => cell.firstChild.textContent))"
    )
    for row, setting in zip(shown, results["settings"], strict=True):
        assert row[0] == setting["name"]
        assert row[1] == setting["tier"]
        assert _value(row[2]) == pytest.approx(setting["throughput_per_s"]["point"], rel=0.006)
        assert _value(row[3]) == pytest.approx(setting["response_time_ms"]["point"], rel=0.006)
    assert page.locator(".verdict").inner_text() in results["verdict"]["text"]


def test_an_emulated_device_is_stamped_on_everything(open_report: Open) -> None:
    page = open_report(stored("log_bound")).page
    for place in ("section h2", "caption", "figcaption"):
        texts = page.locator(place).all_text_contents()
        assert texts
        assert all("EMULATED log device 5 ms (delivered 5.06)" in text for text in texts), place
    assert "EMULATED" not in html.render(stored("cpu_bound"))


@pytest.mark.parametrize("name", ["log_bound", "wide", "durability", "bare"])
def test_every_figure_has_its_numbers_as_a_table(open_report: Open, name: str) -> None:
    page = open_report(stored(name)).page
    missing = page.locator("figure").evaluate_all(
        """all => all.filter((figure) => {
             for (let it = figure.nextElementSibling; it; it = it.nextElementSibling) {
               if (it.tagName === 'FIGURE') return true;
               if (it.querySelector('table') && it.querySelectorAll('tbody tr').length) return false;
             }
             return true;
           }).map((figure) => figure.id)"""
    )
    assert missing == []


def test_works_from_the_keyboard(open_report: Open) -> None:
    page = open_report(stored("log_bound")).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#verdict"
    summary = page.locator("#time summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("#time details").first.get_attribute("open") is not None
    reach = "all => all.every((it) => it.tabIndex === 0)"
    assert page.locator(".scroll").evaluate_all(reach)


def test_follows_a_change_of_the_colour_scheme(open_report: Open) -> None:
    opened = open_report(stored("cpu_bound"))
    ink = "() => getComputedStyle(document.querySelector('#figure-curve .xtick text')).fill"
    before = opened.page.evaluate(ink)
    opened.page.emulate_media(color_scheme="dark")
    opened.page.wait_for_function(f"(before) => ({ink})() !== before", arg=before)
    is_quiet(opened)


@pytest.mark.parametrize("name", ["log_bound", "wide"])
def test_prints_on_light_paper(open_report: Open, name: str) -> None:
    opened = open_report(stored(name), scheme="dark")
    page = opened.page
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    paper = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()")
    widest = page.locator("[data-figure] svg.main-svg").evaluate_all(
        "all => Math.max(...all.map((it) => it.getBoundingClientRect().width))"
    )
    assert paper == "#ffffff"
    assert widest <= 661
    assert page.locator("details.paper").evaluate_all("all => all.every((it) => it.open)")
    page.set_viewport_size({"width": 680, "height": 900})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.paper").evaluate_all("all => all.every((it) => !it.open)")
    assert page.pdf().startswith(b"%PDF")
    is_quiet(opened)


def test_hostile_names_stay_text(open_report: Open) -> None:
    results = hostile()
    opened = open_report(results)
    page = opened.page
    is_quiet(opened)
    assert page.locator("img").count() == 0
    assert json.loads(page.locator("#results").text_content() or "") == results
    assert HOSTILE in page.locator(".verdict").inner_text()
    assert HOSTILE in page.locator("#table-glance").inner_text()
    legends = page.locator("#figure-curve .legendtext").all_text_contents()
    assert f"nowait/batch {HOSTILE}" in legends


def test_hostile_names_stay_text_in_what_an_experiment_adds(open_report: Open) -> None:
    results = hostile_wide()
    opened = open_report(results)
    page = opened.page
    is_quiet(opened)
    assert page.locator("img").count() == 0
    for place in ("#table-own-collected", "#table-findings", "#figcaption-own-over-rows"):
        assert HOSTILE in page.locator(place).inner_text(), place
    assert HOSTILE in page.locator("#figure-own-over-rows .legendtext").all_text_contents()[0]
    assert HOSTILE in page.locator("#figure-own-by-kind .xtick text").all_text_contents()[0]


def test_one_file_holds_everything() -> None:
    page = html.render(stored("log_bound"))
    assert page.count("plotly.js (cartesian - minified)") == 1
    assert "default-src 'none'" in page
    for reference in ('src="', "src='", "@import", '<link rel="stylesheet'):
        assert reference not in page.split("<script>")[0], reference


def test_the_licence_of_the_vendored_script_is_beside_it() -> None:
    assets = Path(html.__file__).with_name("assets")
    assert "MIT License" in (assets / "plotly-cartesian.LICENSE").read_text()
    assert "v4.1.1" in (assets / "plotly-cartesian.min.js").read_text()[:200]


def test_settings_far_apart_share_a_logarithmic_axis() -> None:
    assert figures.response_curve(stored("log_bound"))["layout"]["xaxis"]["type"] == "log"
    assert "type" not in figures.response_curve(stored("cpu_bound"))["layout"]["xaxis"]


def test_bars_show_the_shares_of_the_results() -> None:
    results = stored("log_bound")
    bars = time_profile(results)["data"]
    for place, setting in enumerate(results["settings"]):
        shown = [bar["x"][place] for bar in bars if bar["x"][place] is not None]
        assert shown == pytest.approx(
            [100 * part["share"]["point"] for part in _in_order(setting, bars, place)]
        )
        assert sum(shown) == pytest.approx(100, abs=0.01)


def test_a_negative_remainder_is_shown_as_negative() -> None:
    results = stored("cpu_bound")
    last = results["settings"][0]["profile"][-1]
    assert last["row"] == "unaccounted"
    last["share"] = {"point": -0.021, "low": -0.03, "high": -0.012, "level": 0.95}
    bar = time_profile(results)["data"][-1]
    assert bar["x"][0] == pytest.approx(-2.1)
    assert "−2.1" in html.render(results)


def _in_order(setting: dict[str, Any], bars: list[dict[str, Any]], place: int) -> list[dict[str, Any]]:
    parts = {part["row"]: part for part in setting["profile"]}
    names = [bar["customdata"][place][1] for bar in bars if bar["x"][place] is not None]
    from redolab.report.tables import rows

    order = [row for row in rows.profile_rows(stored("log_bound")) if row in parts]
    assert len(order) == len(names)
    return [parts[row] for row in order]


def _value(text: str) -> float:
    return float(text.replace(",", ""))
