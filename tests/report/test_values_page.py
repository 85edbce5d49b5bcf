"""The page of `redolab analyze` in a browser."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.report.conftest import Open
from tests.screens.screens import column


@pytest.mark.parametrize("group", [None, "mode"])
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_the_page_says_the_answer_and_draws_every_histogram(
    open_report: Open, group: str | None, width: int, scheme: Literal["light", "dark"]
) -> None:
    results = column(group)
    opened = open_report(results, width, scheme)
    page = opened.page
    assert opened.messages == []
    assert [url for url in opened.requests if not url.startswith("file:")] == []
    assert page.locator(".verdict").inner_text() == results["answer"][0]
    assert page.locator("figure").count() == len(results["figures"]) > 0
    for figure in results["figures"]:
        drawn = page.locator(f"#figure-own-{figure['key']} svg.drawn").first
        assert drawn.is_visible()
    assert page.locator("table").count() >= len(results["tables"])
    # Wide tables scroll inside their own box; the page itself does not.
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_text_of_the_file_is_no_markup(open_report: Open) -> None:
    results = column("mode")
    results["source"]["value"] = "<script>alert(1)</script>"
    results["answer"] = ["<b>bold</b>"]
    opened = open_report(results)
    assert opened.messages == []
    assert opened.page.locator(".verdict").inner_text() == "<b>bold</b>"
    assert opened.page.locator("h1").inner_text() == "<script>alert(1)</script> by mode"
