"""Tables of the stored runs: inside their frames at 1,280 px, and scrolled inside them on a phone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from redolab.experiment.answers import analyse
from redolab.records.store import open_run
from redolab.report.page.html import render

RUNS = Path(__file__).parents[2] / "examples" / "runs"
NAMES = sorted(path.name for path in RUNS.iterdir() if path.is_dir())
WHOLE = bool(os.environ.get("REDOLAB_EVERY_RUN"))
"""Whether forecasts along a curve are made too, which take longest and change no table's width."""
TABLES = """() => {
  for (const it of document.querySelectorAll("details")) it.open = true;
  // As the page's script hides the columns that are not picked.
  for (const box of document.querySelectorAll("[data-columns]:not(:checked)")) {
    const table = document.getElementById(box.closest("[data-picks]").dataset.picks);
    const places = box.dataset.columns.split(" ");
    for (const row of table.rows) for (const place of places) row.cells[place].hidden = true;
  }
  return [...document.querySelectorAll(".scroll")].map((it) => ({
    table: it.firstElementChild.id, needs: it.scrollWidth, has: it.clientWidth,
    scrolls: getComputedStyle(it).overflowX,
  }));
}"""
"""Every table of the page, opened: the pixels that it needs across, and those that its frame has."""


def _page(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    if not WHOLE:
        without = "redolab.experiment.response_curve.answer.costs_or_why"
        monkeypatch.setattr(without, lambda _run: (None, ""))
    results: dict[str, Any] = analyse(open_run(RUNS / name))
    return render(results)


@pytest.mark.parametrize("name", NAMES)
def test_no_table_of_a_stored_run_is_wider_than_its_frame(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tmp_path / "report.html"
    file.write_text(_page(name, monkeypatch), encoding="utf-8")
    for width in (1280, 390):
        # The tables are there without scripts, which would only add figures.
        context = browser.new_context(viewport={"width": width, "height": 800}, java_script_enabled=False)
        page = context.new_page()
        page.goto(file.as_uri())
        tables = page.evaluate(TABLES)
        assert len(tables) > 3
        if width == 1280:
            assert [it for it in tables if it["needs"] > it["has"] + 1] == []
        assert {it["scrolls"] for it in tables} == {"auto"}
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()
