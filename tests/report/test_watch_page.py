"""The page of a watched server, and of a period of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.experiment.answers import analyse
from tests.imported_reports import imported
from tests.unit.watched import watched_run
from tests.written_reports import awr_html, truth

from .conftest import Open
from .fixtures import stored


@pytest.mark.parametrize("width", [390, 1280])
def test_a_period_says_what_it_is_and_what_it_is_compared_with(open_report: Open, width: int) -> None:
    page = open_report(stored("watch"), width).page
    facts = page.locator(".facts").inner_text()
    assert "24 November 2026, 07:00:00 UTC to 24 November 2026, 09:00:00 UTC" in facts
    assert "13:00:00 UTC to 24 November 2026, 15:00:00 UTC" in facts
    shown = page.locator("#table-own-periods").inner_text()
    assert "1.53 (1.39 – 1.68)" in " ".join(shown.split())
    assert page.locator("#table-own-periods").is_visible()
    assert "controlled experiment" in page.locator("#verdict").inner_text()


def test_a_whole_watch_draws_its_load_its_use_and_its_log(open_report: Open, tmp_path: Path) -> None:
    opened = open_report(analyse(watched_run(tmp_path / "run")), 1280)
    page = opened.page
    assert opened.messages == []
    titles = page.locator("#figures figcaption strong, #figures figcaption b").all_inner_texts()
    assert [title.rstrip(".") for title in titles] == [
        "Load and response time",
        "How busy the CPUs were",
        "Commits per flush, by load",
        "How long commits waited for the log, and how long its flushes took",
        "Each wait for the log, not their mean",
    ]
    assert page.locator("#figures svg.drawn").count() == len(titles)
    assert page.evaluate("document.documentElement.scrollHeight") <= 6_000
    overlap = """all => all.some((it) => it.getBoundingClientRect().top
        < it.parentElement.firstElementChild.getBoundingClientRect().bottom)"""
    assert not page.locator("#figures .save").evaluate_all(overlap)
    assert "does not describe this server" in page.locator("#figures").inner_text()


def test_an_imported_report_folds_its_tables(open_report: Open, tmp_path: Path) -> None:
    page = open_report(analyse(imported(tmp_path / "run", [awr_html(truth(), "19c")])), 1280).page
    assert page.evaluate("document.documentElement.scrollHeight") <= 6_000
    assert page.locator("#tables details:not([open])").count() > 4
    assert page.locator("#tables table:visible").count() == 0
