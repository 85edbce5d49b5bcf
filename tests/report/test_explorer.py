"""The explorer in a browser: what is dragged, what a link asks for, and that its figures are forecasts."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FloatRect, Locator, Page

from redolab.forecast.asked import changed
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.explored import explored
from redolab.forecast.models.scenario_forecast import forecast
from redolab.forecast.track_record import shipped_record
from redolab.report.page.html import render, render_explorer
from redolab.report.tables import cells
from redolab.report.tables.forecast import ROWS
from tests.forecasts import make_calibrated
from tests.report.conftest import Open, Opened
from tests.report.fixtures import HOSTILE, stored

LINKS = int(os.environ.get("REDOLAB_LINKS", "2"))
"""Links whose every figure is compared with the forecast."""
SETTLED = "#explorer[data-settled]"
RECORD = shipped_record()[0]

OpenExplorer = Callable[..., Opened]


@pytest.fixture
def open_explorer(browser: Browser, tmp_path: Path) -> Iterator[OpenExplorer]:
    """Writes the explorer of made-up costs, opens a link to it, and waits until it is settled."""
    contexts = []

    def opener(
        link: str = "",
        width: int = 1280,
        scheme: Literal["light", "dark"] = "light",
        calibrated: RunCosts | None = None,
        name: str = "costs",
        before: str = "",
        wait: bool = True,
        **more: Any,
    ) -> Opened:
        path = tmp_path / "explore.html"
        found = explored(calibrated or make_calibrated(3), name, "embedded", RECORD)
        path.write_text(render_explorer(found), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, **more)
        contexts.append(context)
        opened = Opened(context.new_page())
        page = opened.page
        page.on("console", lambda message: opened.messages.append(message.text))
        page.on("pageerror", lambda error: opened.messages.append(str(error)))
        page.on("request", lambda request: opened.requests.append(request.url))
        if before:
            page.add_init_script(before)
        page.goto(path.as_uri() + link)
        if wait:
            page.wait_for_selector(SETTLED)
        return opened

    yield opener
    for number, context in enumerate(contexts):
        context.pages[0].screenshot(path=tmp_path / f"explorer-{number}.png", full_page=True)
        context.close()


def settle(page: Page, change: Callable[[], object]) -> None:
    """Change something, and wait until what it gives is settled."""
    page.evaluate("delete document.getElementById('explorer').dataset.settled")
    change()
    page.wait_for_selector(SETTLED)


def text(page: Page, name: str) -> str:
    return page.locator(f"#explorer-{name}").inner_text()


def box_of(locator: Locator) -> FloatRect:
    box = locator.bounding_box()
    assert box is not None
    return box


def shown(page: Page) -> dict[str, list[dict[str, Any]]]:
    """Quantity to its cells: the text, and the exact numbers behind it."""
    found: dict[str, list[dict[str, Any]]] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('#explorer-figures tbody tr')].map((row) =>
        [row.dataset.quantity,
         [...row.cells].slice(1).map((cell) => ({ text: cell.textContent, ...cell.dataset }))]))"""
    )
    return found


def random_changes(rng: random.Random) -> dict[str, Any]:
    """Some factors within the reach of the controls, as a link may name them."""
    levels = {
        "sessions": rng.choice((1, 3, 8, 24, 64)),
        "rows_per_commit": rng.choice((1, 4, 32, 100)),
        "commit_wait": rng.choice(("wait", "wait", "nowait")),
        "commit_delay_us": rng.choice((0, 50, 777)),
        "log_device_ms": rng.choice((0.3, 4.5)),
        "cpus": rng.choice((1, 3.5, 16)),
        "think_time_ms": rng.choice((1, 12.5)),
        "arrival_rate_per_s": rng.choice((120, 700.5)),
        "cpu_factor": rng.choice((0.5, 0.95, 1.5)),
    }
    chosen = dict(rng.sample(sorted(levels.items()), rng.choice((1, 2, 3))))
    if "arrival_rate_per_s" in chosen:
        chosen.pop("think_time_ms", None)
    return chosen


@pytest.mark.parametrize("system", ["", "PostgreSQL, seen"])
@pytest.mark.parametrize("seed", range(LINKS))
def test_a_link_shows_what_the_forecast_says_to_the_digit(
    open_explorer: OpenExplorer, seed: int, system: str
) -> None:
    changes = random_changes(random.Random(seed))
    calibrated = make_calibrated(
        5, after_idle_s=((0.0, 0.0), (2e-3, 1e-4)), cold_s=7e-6, system=system, only_seen=bool(system)
    )
    link = "#e1:" + ",".join(f"{factor}={value}" for factor, value in changes.items())
    page = open_explorer(link, calibrated=calibrated).page
    today = calibrated.measured[calibrated.today].scenario
    said = forecast(calibrated, changed(today, changes), RECORD)
    cells_of = shown(page)
    assert set(cells_of) >= {"throughput_per_s", "response_time_ms", "device_utilization"}
    for name, (asked, ratio, before, measured) in cells_of.items():
        scale = ROWS[name][1]
        for cell, value in (
            (measured, said["today"]["measured"].get(name)),
            (before, said["today"]["forecast"].get(name)),
            (asked, said["asked"]["forecast"].get(name)),
            (ratio, said["asked"]["compared_with_today"].get(name)),
        ):
            if value is None:
                assert "point" not in cell, (name, cell)
                continue
            exact = {end: float(cell[end]) for end in ("point", "low", "high")}
            assert exact == {end: value[end] for end in exact}, (name, changes)
            written = cells.estimate(value, scale if cell is not ratio else 1.0)
            assert cell["text"].split("\u00a0")[0] == written.text
        around = cells.estimate(said["asked"]["forecast"].get(name), scale).interval
        assert (f"({around})" if around else "") in asked["text"]
    cautions = page.locator("#explorer-cautions li").all_text_contents()
    assert set(said["warnings"]) <= set(cautions)
    assert len(cautions) - len(said["warnings"]) == len(said["extrapolated"])


def test_it_asks_for_nothing_and_says_nothing(open_explorer: OpenExplorer) -> None:
    opened = open_explorer()
    assert opened.messages == []
    assert [url.partition(":")[0] for url in opened.requests if not url.startswith("blob:")] == ["file"]
    assert text(opened.page, "answer").startswith("8 sessions: ")


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "light"), (1920, "dark")]
)
def test_it_can_be_read_at_every_width(
    open_explorer: OpenExplorer, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = open_explorer("#e1:commit_wait=nowait", width, scheme).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert Axe().run(page).response["violations"] == []
    assert "may lose up to" in text(page, "note-lost")
    if width >= 1280:
        wide = "all => all.filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.id)"
        assert page.locator("#explorer .scroll").evaluate_all(wide) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_link_is_shown_and_copied_whole(open_explorer: OpenExplorer, width: int) -> None:
    asked = (
        "sessions=64,rows_per_commit=8,commit_wait=nowait,log_device_ms=0.15,cpu_factor=0.85,think_time_ms=15"
    )
    page = open_explorer(f"#e1:{asked}", width).page
    link = page.locator("#explorer-link")
    assert "think_time_ms=15" in link.inner_text()
    assert link.inner_text() == page.evaluate("location.href")
    assert link.evaluate(
        "it => it.scrollWidth <= it.clientWidth + 1 && it.scrollHeight <= it.clientHeight + 1"
    )
    box = link.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator('#explorer [data-save="link"]').click()
    assert page.evaluate("navigator.clipboard.readText()") == link.inner_text()


def test_settings_of_the_explorer_are_labelled() -> None:
    found = explored(make_calibrated(1), "costs", "embedded", RECORD).as_json()
    names = [found["setting"], *(item["setting"] for item in found["measured"])]
    assert "8 sessions, 1 row, wait" in names
    assert not [name for name in names if name[:1].isdecimal() and "/" in name]


def test_a_slider_is_moved_by_keys_mouse_and_finger(open_explorer: OpenExplorer) -> None:
    page = open_explorer(width=1280).page
    slider = page.locator("#explorer-sessions")
    assert slider.get_attribute("aria-valuetext") == "8.00"
    settle(page, lambda: slider.press("ArrowRight"))
    assert text(page, "answer").startswith("10 sessions: ")
    assert slider.get_attribute("aria-valuetext") == "10.0, 1.2 times the largest measured value"
    assert "sessions=10" in page.url
    box = box_of(slider)
    middle = box["y"] + box["height"] / 2

    def drag() -> None:
        page.mouse.move(box["x"] + box["width"] / 3, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 1, middle, steps=5)
        page.mouse.up()

    settle(page, drag)
    assert text(page, "answer").startswith("512 sessions: ")
    page.reload()
    page.wait_for_selector(SETTLED)
    assert text(page, "answer").startswith("512 sessions: ")

    phone = open_explorer(width=390, has_touch=True).page
    chosen = phone.locator("#explorer-one")
    chosen.select_option("rows_per_commit")
    finger = phone.locator("#explorer-rows_per_commit")
    place = box_of(finger)
    assert not phone.locator("#explorer-sessions").is_visible()
    settle(phone, lambda: phone.touchscreen.tap(place["x"] + place["width"] - 2, place["y"] + 9))
    assert "1,024 rows per commit" in text(phone, "answer")


def test_the_point_is_dragged_along_its_curve(open_explorer: OpenExplorer) -> None:
    page = open_explorer().page
    before = box_of(page.locator("#explorer-own"))
    figure = box_of(page.locator("#explorer-curve svg.drawn"))

    def drag() -> None:
        page.mouse.move(before["x"] + 5, before["y"] + 5)
        page.mouse.down()
        page.mouse.move(figure["x"] + figure["width"], figure["y"], steps=4)
        page.mouse.up()

    settle(page, drag)
    sessions = int(text(page, "answer").split(" sessions")[0])
    assert sessions > 8


def test_presets_change_the_setting_and_say_what_comes_of_it(open_explorer: OpenExplorer) -> None:
    page = open_explorer("#e1:arrival_rate_per_s=2500,sessions=64").page
    slow = float(shown(page)["response_time_ms"][0]["point"])
    settle(page, lambda: page.locator("[data-preset=less]").click())
    fast = float(shown(page)["response_time_ms"][0]["point"])
    assert "cpu_factor=0.95" in page.url
    shorter = 100 * (1 - fast / slow)
    told = text(page, "note-less")
    assert told.startswith("5 % less CPU per transaction: R is ")
    assert f"{abs(shorter):.2g} %" in told
    settle(page, lambda: page.locator("[data-preset=device]").click())
    assert text(page, "note-less") == ""
    assert "log_device_ms=0.5" in page.url
    settle(page, lambda: page.locator("[data-preset=fewer]").click())
    assert "arrival_rate_per_s=2000" in page.url
    settle(page, lambda: page.locator("[data-preset=reset]").click())
    assert "#" not in page.url
    settle(page, lambda: page.locator("[data-preset=elbow]").click())
    assert "sessions=" in page.url


def test_what_has_no_steady_state_says_so(open_explorer: OpenExplorer) -> None:
    page = open_explorer("#e1:arrival_rate_per_s=9000000").page
    assert text(page, "answer").startswith("No steady state: ")
    # Its curve ends at the capacity.
    assert "capacity" in page.locator("#explorer-curve svg.drawn").inner_html()


def test_a_hostile_link_does_nothing(open_explorer: OpenExplorer) -> None:
    wrong = f"{quote(HOSTILE)},__proto__=1,constructor=2,cpus=<b>,commit_wait=both,rows_per_commit=NaN"
    link = f"#e1:sessions=1e99,{wrong}"
    opened = open_explorer(link)
    assert opened.messages == []
    assert text(opened.page, "answer").startswith("512 sessions: ")
    note = text(opened.page, "note-link")
    assert "sessions must be from 1 to 512" in note
    assert "<b>" not in note
    assert "alert" not in note
    assert opened.page.locator("#explorer img").count() == 0
    opened = open_explorer("#e1:sessions=16,%zz")
    assert opened.messages == []
    assert "characters that cannot be decoded" in text(opened.page, "note-link")


def test_a_hostile_name_is_no_markup(open_explorer: OpenExplorer) -> None:
    opened = open_explorer(name=HOSTILE)
    assert opened.messages == []
    assert opened.page.locator("img").count() == 0
    assert "redolab forecast '" in text(opened.page, "command")


def test_a_cost_that_is_not_known_is_not_asked_about(open_explorer: OpenExplorer) -> None:
    page = open_explorer("#e1:rows_per_commit=8", calibrated=make_calibrated(1, row_known=False)).page
    assert page.locator("#explorer-rows_per_commit").is_disabled()
    assert "rows_per_commit must be from 1 to 1" in text(page, "note-link")


_SILENT_ONCE = """
    const real = window.Worker; let started = 0;
    window.Worker = function (url) { started += 1; window.started = started;
      return started > SILENT ? new real(url) : { postMessage() {}, terminate() {} }; };
"""


def test_a_worker_that_is_silent_is_replaced(open_explorer: OpenExplorer) -> None:
    page = open_explorer(before=_SILENT_ONCE.replace("SILENT", "1")).page
    assert page.evaluate("window.started") == 2
    assert "was restarted" in text(page, "note-state")
    assert text(page, "answer").startswith("8 sessions: ")


def test_where_none_answers_what_was_drawn_stays(open_explorer: OpenExplorer) -> None:
    page = open_explorer(before=_SILENT_ONCE.replace("SILENT", "99"), wait=False).page
    page.wait_for_function("() => window.started >= 3")
    page.wait_for_function(
        "() => document.getElementById('explorer-note-state').textContent.includes('cannot run')"
    )
    assert page.locator("#explorer-curve svg.static").is_visible()
    assert not page.locator("#explorer-controls").is_visible()


@pytest.mark.parametrize("by", [-1, 1])
def test_a_module_of_another_version_shows_no_figures(open_explorer: OpenExplorer, by: int) -> None:
    older = f"""
        const real = WebAssembly.instantiate;
        WebAssembly.instantiate = async (...all) => {{
          const {{ exports }} = (await real(...all)).instance;
          const output_count = () => Math.max(0, exports.output_count() + {by});
          return {{ instance: {{ exports: {{ ...exports, output_count }} }} }};
        }};
    """
    before = f"""
        const made = URL.createObjectURL;
        URL.createObjectURL = (blob) => made.call(URL, new Blob([{json.dumps(older)}, blob]));
    """
    page = open_explorer("#e1:sessions=16", before=before, wait=False).page
    page.wait_for_function(
        "() => document.getElementById('explorer-note-state').textContent.includes('cannot run')"
    )
    assert text(page, "answer") == ""
    assert page.locator("#explorer-curve svg.static").is_visible()


def test_without_scripts_a_curve_and_a_table_stand_there(open_explorer: OpenExplorer) -> None:
    page = open_explorer(java_script_enabled=False, wait=False).page
    assert page.locator("svg.static polyline.curve").is_visible()
    assert page.locator("#table-explorer-sweep tbody tr").count() == 7
    assert not page.locator("#explorer-controls").is_visible()


def test_it_prints_on_one_page(open_explorer: OpenExplorer) -> None:
    page = open_explorer("#e1:sessions=32").page
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 1


def test_pages_are_small(open_explorer: OpenExplorer, tmp_path: Path) -> None:
    calibrated = make_calibrated(40)
    found = explored(calibrated, "costs", "embedded", RECORD)
    assert len(render_explorer(found).encode()) < 400_000
    assert len(render(stored("advised"), found).encode()) < 1_200_000
    assert len(render(stored("wide")).encode()) < 1_200_000


def test_a_report_has_the_explorer_in_the_place_of_its_curve(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(stored("advised"), explored(make_calibrated(3), "costs", "embedded", RECORD)))
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("html.drawn")
    # It costs nothing before it is seen.
    assert page.locator("#explorer.live").count() == 0
    page.locator("a[href='#explorer']").click()
    page.wait_for_selector(SETTLED)
    assert page.locator("#figure-curve").count() == 0
    assert Axe().run(page).response["violations"] == []
    assert said == []
    page.close()


def test_the_published_curve_can_be_dragged(open_report: Open) -> None:
    opened = open_report(stored("log_bound"), 1280)
    page = opened.page
    page.get_by_text("The published curve with sliders").click()
    page.wait_for_selector("#published-figure svg.drawn")
    first = page.locator("#published-answer").inner_text()
    # The curve passes through the mean of the setting's points.
    curve = stored("log_bound")["curve"]
    times = curve["points"][0]["response_time_ms"]
    assert first.startswith(f"R is {cells.number(sum(times) / len(times))} ms")
    page.locator("#published-service").press("ArrowLeft")
    page.wait_for_function(
        "(was) => document.getElementById('published-answer').textContent !== was", arg=first
    )
    page.locator("#published-rate").press("End")
    page.wait_for_function(
        "() => document.getElementById('published-answer').textContent.includes('grows without end')"
    )
    assert opened.messages == []


def test_the_data_of_a_page_is_plain() -> None:
    found = explored(make_calibrated(1), "costs", "embedded", RECORD).as_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
