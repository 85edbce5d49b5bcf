"""The page in a real browser, opened from a file and without any network."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from redolab.report.page import figures, html
from redolab.report.page.time_bars import first_bars

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
    drawn = opened.page.locator("[data-figure] svg.drawn").count()
    assert drawn == page_figures(opened)
    assert drawn >= (1 if name in ("durability", "bare") else 4)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1200, 390])
def test_what_to_set_stands_before_the_bars_and_can_be_copied(open_report: Open, width: int) -> None:
    results = stored("log_bound")
    way = results["statements"][0]["ways"][0]
    opened = open_report(results, width)
    page = opened.page
    blocks = page.locator("#to-set > .way pre")
    assert [text.split("\n") for text in blocks.all_inner_texts()] == [way["set"], way["undo"]]
    page.evaluate(
        "navigator.clipboard.writeText = (text) => { window.kept = text; return Promise.resolve(); }"
    )
    page.locator("#to-set > .way .copy").last.click()
    assert page.evaluate("window.kept").split("\n") == way["undo"]
    assert page.locator("#to-set > .way .copy").last.inner_text() == "copied"
    bars, block = page.locator("#verdict .bars").bounding_box(), blocks.last.bounding_box()
    assert bars is not None
    assert block is not None
    assert block["y"] + block["height"] <= bars["y"]
    assert block["x"] + block["width"] <= width
    is_quiet(opened)


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
    assert page.locator(".headline .meaning strong").inner_text() == "rows per second, 4,096 rows over 1 row"
    assert "Rows" in (page.locator("#table-glance thead").text_content() or "")
    axes = page.locator("[aria-label='x-axis label']")
    assert {"Response time R, µs per row", "Rows L, per s"} <= set(axes.all_text_contents())
    for section in ("#time", "#histogram", "#curve"):
        assert "commit" not in page.locator(section).inner_text()


def test_tables_figures_and_findings_of_an_experiment_are_shown(open_report: Open) -> None:
    results = stored("wide")
    page = open_report(results).page
    assert page.locator("#verdict #table-own-collected tbody tr").count() == 3
    assert page.locator("#tables #table-own-batch tbody tr").count() == 16
    marks = page.locator("#figure-own-over-rows [aria-label='dot'] > *")
    points = sum(
        sum(y is not None for y in series["y"])
        for series in results["figures"][0]["series"]
        if series["style"] != "dashed"
    )
    assert marks.count() == points
    assert page.locator("#figure-own-over-rows [aria-label='rule'] line").count() == 16
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
    missing = page.locator("figure:not(.bars)").evaluate_all(
        """all => all.filter((figure) => {
             for (let it = figure.nextElementSibling; it; it = it.nextElementSibling) {
               // The figures of every sample share one table.
               if (it.tagName === 'FIGURE' && !figure.id.startsWith('figure-timeline')) return true;
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
    ink = "() => getComputedStyle(document.querySelector('#figure-curve [aria-label^=x-axis] text')).fill"
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
    widest = page.locator("[data-figure] svg.drawn").evaluate_all(
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


@pytest.mark.parametrize("name", ["log_bound", "cpu_bound", "durability", "advised"])
def test_on_paper_the_answer_is_two_pages_before_the_appendix(open_report: Open, name: str) -> None:
    page = open_report(stored(name)).page
    page.add_style_tag(content=".appendix, footer { display: none }")
    assert len(re.findall(rb"/Type ?/Page\b", page.pdf(prefer_css_page_size=True))) <= 2


def test_hostile_names_stay_text(open_report: Open) -> None:
    results = hostile()
    opened = open_report(results)
    page = opened.page
    is_quiet(opened)
    assert page.locator("img").count() == 0
    assert json.loads(page.locator("#results").text_content() or "") == results
    assert HOSTILE in page.locator(".verdict").inner_text()
    assert HOSTILE in page.locator("#table-glance").inner_text()
    legends = page.locator("#figure-curve .legend li").all_text_contents()
    assert f"nowait/batch {HOSTILE}" in legends


def test_hostile_names_stay_text_in_what_an_experiment_adds(open_report: Open) -> None:
    results = hostile_wide()
    opened = open_report(results)
    page = opened.page
    is_quiet(opened)
    assert page.locator("img").count() == 0
    for place in ("#table-own-collected", "#table-findings", "#figcaption-own-over-rows"):
        assert HOSTILE in (page.locator(place).text_content() or ""), place
    assert HOSTILE in page.locator("#figure-own-over-rows .legend li").all_text_contents()[0]
    assert (
        HOSTILE
        in page.locator("#figure-own-by-kind [aria-label='x-axis tick label'] text").all_text_contents()[0]
    )


def test_one_file_holds_everything() -> None:
    page = html.render(stored("log_bound"))
    held = re.search(r'id="packed-libraries">([^<]*)<', page)
    assert held is not None
    libraries = gzip.decompress(base64.b64decode(held[1])).decode()
    modules = re.findall(r"// https://d3js\.org/d3-([a-z-]+)/ v", libraries)
    assert len(set(modules)) == len(modules) > 1
    assert libraries.count("// @observablehq/plot v") == 1
    assert "default-src 'none'" in page
    for reference in ('src="', "src='", "@import", '<link rel="stylesheet'):
        assert reference not in page.split("<script>")[0], reference


def test_the_licences_of_the_vendored_scripts_are_beside_them() -> None:
    assets = Path(html.__file__).with_name("assets")
    for licence in ("d3", "plot"):
        assert "Permission to use, copy, modify" in (assets / f"{licence}.LICENSE").read_text()
    assert "plot v0.6.17 Copyright" in (assets / "plot.umd.min.js").read_text()[:200]
    for module in (assets / "d3").iterdir():
        name = module.name.removesuffix(".min.js")
        assert module.read_text().startswith(f"// https://d3js.org/{name}/ v"), name


def test_settings_far_apart_share_a_logarithmic_axis() -> None:
    assert figures.response_curve(stored("log_bound"))["x"]["log"]
    assert "log" not in figures.response_curve(stored("cpu_bound"))["x"]


def test_bars_are_as_long_as_the_times_of_their_settings() -> None:
    results = stored("log_bound")
    drawn = first_bars(results)
    assert drawn is not None
    longest = max(setting["response_time_ms"]["point"] for setting in results["settings"])
    for bar, setting in zip(drawn.bars, results["settings"], strict=True):
        assert bar.name == setting["name"]
        length = sum(part.width for part in bar.segments)
        assert length == pytest.approx(100 * setting["response_time_ms"]["point"] / longest, rel=1e-3)
        shown = sorted(part.width / length for part in bar.segments)
        assert shown == pytest.approx(
            sorted(part["share"]["point"] for part in setting["profile"] if part["share"]["point"] > 0),
            rel=1e-3,
        )


def test_bars_need_no_script_and_no_figure_hides_the_answer(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html.render(stored("log_bound")), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(path.as_uri())
    widths = [box["width"] for bar in page.locator(".bars .bar").all() if (box := bar.bounding_box())]
    parts = [
        sum(box["width"] for part in bar.locator(".part").all() if (box := part.bounding_box()))
        for bar in page.locator(".bars .bar").all()
    ]
    assert parts[2] < 0.06 * max(parts)
    assert max(parts) == pytest.approx(max(widths), abs=2)
    assert page.locator(".bars .bar").first.get_attribute("aria-label") == (
        "wait/immediate: 10.52 ms per commit. on CPU 2 %, log sync by another 52 %, log sync 45 %."
    )
    context.close()


def test_a_negative_remainder_is_shown_as_negative() -> None:
    results = stored("cpu_bound")
    last = results["settings"][0]["profile"][-1]
    assert last["row"] == "unaccounted"
    last["share"] = {"point": -0.021, "low": -0.03, "high": -0.012, "level": 0.95}
    drawn = first_bars(results)
    assert drawn is not None
    assert "unaccounted −2 %" in drawn.bars[0].sentence
    assert all(sum(part.width for part in bar.segments) <= 100.001 for bar in drawn.bars)
    assert "−2.1" in html.render(results)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark"), (1920, "light")])
def test_axe_finds_nothing(
    open_report: Open, name: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = open_report(stored(name), width, scheme).page
    found = Axe().run(page).response["violations"]
    assert [(item["id"], item["nodes"][0]["html"]) for item in found] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_open_table_is_wider_than_its_frame(open_report: Open, name: str) -> None:
    page = open_report(stored(name), 1280).page
    wide = page.locator(".scroll:visible").evaluate_all(
        "all => all.filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.firstElementChild.id)"
    )
    assert wide == []


def test_on_a_phone_the_outcome_of_every_setting_is_on_the_screen(open_report: Open) -> None:
    page = open_report(stored("log_bound"), 390).page
    for cell in page.locator("#table-glance td").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390
    shown = page.locator("#table-glance td").last.evaluate("it => getComputedStyle(it, '::before').content")
    assert shown == '"Outcome: "'


def test_the_arrow_keys_read_the_points_of_a_figure(open_report: Open) -> None:
    page = open_report(stored("log_bound")).page
    page.locator("#figure-curve [data-figure]").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator("#figure-curve output").inner_text().startswith("1 of 39: wait/immediate: ")


def test_a_figure_is_saved_as_svg_and_its_numbers_as_csv(open_report: Open, tmp_path: Path) -> None:
    page = open_report(stored("log_bound")).page
    saved = {}
    for title in ("SVG", "CSV"):
        with page.expect_download() as download:
            page.get_by_label(f"Save the figure curve as {title}").click()
        assert download.value.suggested_filename == f"curve.{title.lower()}"
        download.value.save_as(tmp_path / title)
        saved[title] = (tmp_path / title).read_text()
    assert saved["SVG"].startswith("<svg ")
    assert "var(--" not in saved["SVG"]
    assert saved["CSV"].splitlines()[0].startswith('"Setting","Commits L')
    assert len(saved["CSV"].splitlines()) == 40


def test_the_first_screen_of_a_phone_says_what_may_be_lost_and_what_to_type(open_report: Open) -> None:
    results = stored("log_bound")
    page = open_report(results, 390).page
    price = page.locator(".price").inner_text()
    risk = next(item["at_risk"] for item in results["settings"] if item["name"] == "nowait/batch")
    assert risk["window_s"] == 3.0
    assert "up to 36,000 acknowledged commits, those of the last 3.00 s" in price
    assert pytest.approx(risk["commits"], rel=0.03) == 36_000
    tops = [page.locator(place).first.bounding_box() for place in (".price", "#to-set pre", ".bars")]
    price_at, statements_at, bars_at = (box["y"] for box in tops if box is not None)
    assert price_at < statements_at < 844 < bars_at < 1_400


def page_figures(opened: Opened) -> int:
    return opened.page.locator("[data-figure]").count()


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def test_columns_of_all_figures_are_picked(open_report: Open) -> None:
    page = open_report(stored("log_bound"), 1280).page
    page.get_by_text("All figures of each setting").first.click()
    table = page.locator("#table-all-figures")

    def titles() -> list[str]:
        return [text for text in table.locator("thead th:visible").all_inner_texts() if text]

    before = titles()
    assert before[0] == "Setting"
    assert not any("flush" in title for title in before)
    page.get_by_label("Log", exact=True).check()
    assert any("Commits per flush" in title for title in titles())
    page.get_by_label("Throughput", exact=True).uncheck()
    assert not any("Ratio" in title for title in titles())
    rows = table.locator("tbody tr").count()
    assert rows == len(stored("log_bound")["settings"])


def test_a_browser_that_cannot_unpack_says_where_the_numbers_are(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html.render(stored("log_bound")))
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(path.as_uri())
    page.wait_for_selector("[data-figure]:has-text('its numbers follow as a table')")
    assert page.locator("#verdict .bar").first.is_visible()
    page.close()
