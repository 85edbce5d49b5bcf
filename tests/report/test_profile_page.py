"""The page of a live profile in a browser."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from redolab.report.page.html import render_profile
from redolab.report.page.time_bars import profile_bars
from redolab.report.tables import profile_tables
from tests.report.conftest import Open
from tests.report.fixtures import HOSTILE
from tests.screens import profiles


@pytest.mark.parametrize("name", ["busy", "remote", "quiet"])
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_the_page_says_what_the_terminal_says(
    open_report: Open, name: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    results = getattr(profiles, name)()
    opened = open_report(results, width, scheme)
    page = opened.page
    assert opened.messages == []
    assert len(opened.requests) == 1
    assert page.locator(".verdict").inner_text() == profile_tables.headline(results)
    assert json.loads(page.locator("#results").text_content() or "") == results
    assert page.locator(".advice li").count() == len(results["advice"]["lines"])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert Axe().run(page).response["violations"] == []


def test_the_bars_are_as_long_as_the_time_of_sessions_and_server() -> None:
    results = profiles.busy()
    drawn = profile_bars(results)
    assert drawn is not None
    lengths = [sum(part.width for part in bar.segments) for bar in drawn.bars]
    busy = [results["all_sessions"]["busy_s"], results["instance"]["busy_s"]]
    assert lengths == pytest.approx([100 * item / max(busy) for item in busy], rel=0.02)


def test_what_a_server_says_is_no_markup() -> None:
    results = profiles.busy()
    results["engine"]["version"] = HOSTILE
    results["warnings"] = [HOSTILE]
    page = render_profile(results)
    assert "<img" not in page.split('<script type="application/json"')[0]
