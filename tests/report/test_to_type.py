"""Statements for the changes of the advice, on the page and in the terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from redolab.dialect import innodb_statements, postgres_statements
from redolab.dialect.statements import Assignment, Way
from redolab.report.screen.terminal import print_figures
from tests.report.conftest import Open
from tests.report.fixtures import HOSTILE, stored

PRICE = "The price: a crash of the server, or a power cut, may lose up to 3,000 acknowledged commits."
KNOWN = postgres_statements.ways([Assignment("synchronous_commit", "off", "session", "on", True)])
UNKNOWN = innodb_statements.ways_of_mysql([Assignment("sync_binlog", "0", "system", None)])


def advised(ways: tuple[Way, ...], outcome: str = "more work") -> dict[str, Any]:
    results = stored("advised")
    for item in results["advice"]["changes"]:
        item |= {"ways": [], "parameters": [], "as_before": [], "price": [], "price_text": None}
    change = next(item for item in results["advice"]["changes"] if item["factor"] == "commit_wait")
    change |= {"ways": [way.as_json() for way in ways], "price_text": PRICE, "outcome": outcome}
    return results


def terminal(results: dict[str, Any], width: int = 80) -> str:
    output = io.StringIO()
    print_figures(results, Console(file=output, width=width, color_system=None, highlight=False))
    return output.getvalue()


def test_the_page_has_every_way_of_a_change_and_only_of_changes_of_parameters(open_report: Open) -> None:
    page = open_report(advised(KNOWN)).page
    titles = page.locator("#advice summary").all_text_contents()
    named = [title for title in titles if title.startswith("What to type for")]
    assert named == ["What to type for nowait: commits do not wait for the log."]
    blocks = page.locator("#advice .way pre").all_text_contents()
    expected = [["\n".join(lines) for lines in (way.look, way.set, way.undo) if lines] for way in KNOWN]
    assert [text.removesuffix("copy").strip() for text in blocks] == [
        text for way in expected for text in way
    ]
    assert PRICE in (page.locator("#advice").text_content() or "")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_statements_fit_the_page(open_report: Open, width: int) -> None:
    page = open_report(advised(KNOWN), width=width).page
    page.locator("#advice details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_an_undo_that_nobody_knows_is_not_shown(open_report: Open) -> None:
    page = open_report(advised(UNKNOWN)).page
    told = page.locator("#advice .way").all_text_contents()
    assert all("SELECT @@GLOBAL.sync_binlog;" in text for text in told)
    assert not any("To undo it" in text for text in told)


def test_the_terminal_has_the_first_way_of_what_helps() -> None:
    shown = terminal(advised(KNOWN))
    _, _, rest = shown.partition("What to type for nowait: commits do not wait for the log.\n")
    assert "  ALTER SYSTEM SET synchronous_commit = off;\n  SELECT pg_reload_conf();\nTo undo it:\n" in rest
    assert "  ALTER SYSTEM SET synchronous_commit = on;\n" in rest
    assert "may lose up to 3,000 acknowledged commits" in " ".join(rest.split())
    assert "More: one role; one session (in the report)." in rest
    unknown = terminal(advised(UNKNOWN))
    assert "To look first:\n  SELECT @@GLOBAL.sync_binlog;\nTo set it:\n" in unknown
    assert "To undo it" not in unknown.partition("What to type for")[2]


def test_the_terminal_does_not_urge_what_is_not_shown_to_help() -> None:
    shown = " ".join(terminal(advised(KNOWN, "not shown to help")).split())
    assert "That change is not shown to help, so its statements are only in the report." in shown
    assert "ALTER SYSTEM" not in shown.partition("What to change")[2]


def test_statements_from_outside_stay_text(open_report: Open) -> None:
    ways = postgres_statements.ways([Assignment(HOSTILE, HOSTILE, "session", HOSTILE)])
    opened = open_report(advised(ways))
    assert opened.messages == []
    assert opened.page.locator("img").count() == 0
    assert "<img src=x" in (opened.page.locator("#advice .way").first.text_content() or "")
