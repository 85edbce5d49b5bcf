"""What to change, on the page and in its tables."""

from __future__ import annotations

import pytest

from redolab.report.page.html import render
from redolab.report.tables import advice
from redolab.report.tables.advice import sentences
from tests.report.conftest import Open
from tests.report.fixtures import HOSTILE, stored


def test_the_page_ranks_changes_as_the_results_do(open_report: Open) -> None:
    results = stored("advised")
    page = open_report(results).page
    rows = page.locator("#table-changes tbody tr").evaluate_all(
        "all => all.map((row) => [...row.cells].map((cell) => cell.firstChild.textContent))"
    )
    changes = results["advice"]["changes"]
    assert [row[1] for row in rows] == [item["change"] for item in changes]
    assert [row[2] for row in rows] == [item["tier_after"] for item in changes]
    for row, item in zip(rows, changes, strict=True):
        assert float(row[4]) == pytest.approx(item["gain"]["point"], rel=0.01)
    (lost,) = [row for row in rows if row[1].startswith("nowait")]
    assert lost[2] == "memory"
    assert page.locator("#table-changes .tone-worse").first.inner_text() == "memory"


def test_the_page_says_the_price_and_the_exact_command(open_report: Open) -> None:
    results = stored("advised")
    page = open_report(results).page
    said = page.locator("#table-prices tbody tr").evaluate_all(
        "all => all.map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    by_change = {row[0]: row[1:] for row in said}
    assert by_change["nowait: commits do not wait for the log"] == [
        "a commit is acknowledged before it is written; lost in a crash of the server",
        f"redolab verify-forecast {results['run']} --set commit_wait=nowait",
    ]
    assert by_change["32 rows per commit instead of 1"][1] == "measured in this run"
    assert not any("RUN" in row[2] for row in said)
    beyond = page.locator("#advice details li").all_text_contents()
    assert any("no other log device was measured" in text for text in beyond)


def test_the_page_has_a_bound_for_every_part_of_the_time(open_report: Open) -> None:
    results = stored("log_bound")
    page = open_report(results).page
    rows = page.locator("#table-bounds tbody tr").evaluate_all(
        "all => all.map((row) => [...row.cells].map((cell) => cell.firstChild.textContent))"
    )
    bounds = results["advice"]["bounds"]
    assert [row[0] for row in rows] == [item["name"] for item in bounds]
    for row, item in zip(rows, bounds, strict=True):
        share, most = float(row[1].replace("<", "")) / 100, float(row[2])
        assert most == pytest.approx(1 / (1 - item["share"]["point"]), rel=0.006)
        assert share == pytest.approx(item["share"]["point"], abs=0.0001)
    assert page.locator("#table-changes").count() == 0
    lines = page.locator("#advice ol li")
    told = sentences(results)
    measured = "nowait/batch instead of wait/immediate: 25.1× (24.6 – 25.7) the commits per second"
    assert told[0] == f"{measured} (measured here)."
    assert told[1:] == results["advice"]["lines"]
    assert lines.all_text_contents() == [line.replace("`", "") for line in told]
    assert page.locator("#advice ol code").all_text_contents() == ["redolab run calibrate"]


def test_a_bound_without_an_end_is_said_in_words() -> None:
    results = stored("log_bound")
    bounds = results["advice"]["bounds"]
    bounds[0]["most"] = {"point": 4.0, "low": 2.0, "high": None, "level": 0.95}
    bounds[1]["most"] = {"point": None, "low": 2.0, "high": None, "level": 0.95}
    bounds[2]["most"] = {"point": 1.5, "low": None, "high": None, "level": 0.95}
    cells = [row[2] for row in advice.bounds(results).rows]
    assert [cell.full for cell in cells[:3]] == ["4.00 (2.00 – no limit)", "no limit", "1.50"]


def test_a_forecast_of_no_change_at_all_is_a_page_too() -> None:
    results = stored("advised")
    results["advice"] |= {"changes": [], "why_no_forecast": None}
    page = render(results)
    assert '<section id="advice">' in page
    assert all(bound["name"] in page for bound in results["advice"]["bounds"])


def test_hostile_names_stay_text(open_report: Open) -> None:
    results = stored("advised")
    results["advice"]["lines"][0] = f"{HOSTILE} `{HOSTILE}`"
    results["advice"]["changes"][0]["change"] = HOSTILE
    results["advice"]["bounds"][0]["name"] = HOSTILE
    opened = open_report(results)
    assert opened.messages == []
    assert opened.page.locator("img").count() == 0
    for place in ("#advice ol", "#table-changes", "#table-prices", "#table-bounds"):
        assert HOSTILE in (opened.page.locator(place).text_content() or ""), place


def test_results_stored_before_there_was_advice_have_none() -> None:
    results = stored("log_bound")
    del results["advice"]
    assert not advice.has_advice(results)
    assert advice.sentences(results) == []
