from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from redolab.report.page import html


@dataclass
class Opened:
    """A report in a browser, with everything it said and asked for."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Ended with this folder: its event loop would be in the way of the live screen's."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    path = next((item for item in found if item), None)
    assert path, "the report's tests need Chromium; `make test` says how to get it"
    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def _render_of(results: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], str]:
    """What writes the page of such results."""
    kinds = {"profile": html.render_profile, "answer": html.render_values, "swept": html.render_forecast}
    return next((render for key, render in kinds.items() if key in results), html.render)


@pytest.fixture
def open_report(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Renders results and opens the file as a user would; takes a screenshot at the end."""
    contexts = []

    def opener(
        results: dict[str, Any], width: int = 1200, scheme: Literal["light", "dark"] = "light"
    ) -> Opened:
        path = tmp_path / "report.html"
        written = _render_of(results)(results)
        path.write_text(written, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        opened = Opened(context.new_page())
        page = opened.page
        page.on("console", lambda message: opened.messages.append(message.text))
        page.on("pageerror", lambda error: opened.messages.append(str(error)))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html.drawn")
        return opened

    yield opener
    for number, context in enumerate(contexts):
        context.pages[0].screenshot(path=tmp_path / f"report-{number}.png", full_page=True)
        context.close()
