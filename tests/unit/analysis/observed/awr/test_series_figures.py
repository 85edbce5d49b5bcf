"""Figures of several reports: totals over totals, so that a quiet hour counts by what it had."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.imported_reports import results_of, table
from tests.written_reports import Event, Truth, awr_html, truth

FIRST = truth()


def hour(number: int, **changes: Any) -> Truth:
    return truth(
        begin=FIRST.begin + timedelta(hours=number),
        begin_snapshot=FIRST.begin_snapshot + number,
        end_snapshot=FIRST.begin_snapshot + number + 1,
        elapsed_s=3600.0,
        **changes,
    )


def of_sync(waits: int, seconds: float) -> tuple[Event, ...]:
    return tuple(
        replace(event, waits=waits, seconds=seconds) if event.name == "log file sync" else event
        for event in FIRST.foreground
    )


QUIET: dict[str, Any] = {
    "commits": 20, "redo_writes": 900, "redo_bytes": 400_000_000, "db_cpu_s": 30.0, "db_time_s": 60.0,
    "background_cpu_s": 4.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    hours = [hour(0), hour(1, **QUIET, foreground=of_sync(20, 0.5))]
    return results_of(tmp_path_factory.mktemp("reports"), [awr_html(facts, "19c") for facts in hours])


def test_a_quiet_hour_does_not_carry_the_figures(results: dict[str, Any]) -> None:
    found = results["settings"][0]["figures"]
    commits = FIRST.commits + 20
    sync = next(event for event in FIRST.foreground if event.name == "log file sync")
    true = {
        "redo_per_commit": (FIRST.redo_bytes + 400_000_000) / commits,
        "service_time_s": (FIRST.db_cpu_s + FIRST.background_cpu_s + 34) / commits,
        "log_sync_s": (sync.seconds + 0.5) / (sync.waits + 20),
        "log_sync_share": (sync.seconds + 0.5) / (FIRST.db_time_s + 60),
        "commits_per_log_write": commits / (FIRST.redo_writes + 900),
        "arrival_rate_per_s": commits / 7200,
    }
    for key, value in true.items():
        assert found[key]["point"] == pytest.approx(value, rel=0.01), key
    response = found["service_time_s"]["point"] + found["queue_time_s"]["point"]
    assert found["response_time_s"]["point"] == pytest.approx(response, rel=1e-9)


def test_what_cannot_be_below_zero_has_no_end_there(results: dict[str, Any]) -> None:
    figures = results["settings"][0]["figures"]
    for key, value in figures.items():
        assert value["low"] is not None, key
        assert 0 <= value["low"] <= value["point"] <= value["high"], key
    assert figures["log_sync_share"]["high"] <= 1


def test_the_account_and_the_events_are_shares_of_the_same_totals(results: dict[str, Any]) -> None:
    whole = FIRST.db_time_s + 60
    rows = {row["row"]: row for row in table(results, "account-1")}
    for row in rows.values():
        assert row["share"]["point"] == pytest.approx(row["seconds"] / whole, abs=1e-6)
        assert row["per_commit_ms"] == pytest.approx(1e3 * row["seconds"] / (FIRST.commits + 20))
    for row in table(results, "events-1"):
        assert row["share"]["point"] == pytest.approx(row["seconds"] / whole, rel=1e-3)


def test_an_event_that_an_hour_does_not_list_took_nothing_there(tmp_path: Path) -> None:
    without = tuple(event for event in FIRST.foreground if event.name != "log file sync")
    hours = [hour(0), hour(1, **{**QUIET, "db_time_s": 7000.0}, foreground=without)]
    found = results_of(tmp_path, [awr_html(facts, "19c") for facts in hours])["settings"][0]["figures"]
    sync = next(event for event in FIRST.foreground if event.name == "log file sync")
    assert found["log_sync_share"]["point"] == pytest.approx(
        sync.seconds / (FIRST.db_time_s + 7000), rel=0.01
    )
    assert found["log_sync_s"]["point"] == pytest.approx(sync.seconds / sync.waits, rel=0.01)


def test_an_hour_that_lists_its_largest_events_alone_is_not_taken_for_none(tmp_path: Path) -> None:
    def only_largest(facts: Truth) -> str:
        return awr_html(facts, "19c").replace("Foreground Wait Events", "Foreground Wait Incidents")

    without = tuple(event for event in FIRST.foreground if event.name != "log file sync")
    pages = [only_largest(hour(0)), only_largest(hour(1, foreground=without))]
    results = results_of(tmp_path, pages)
    sync = next(event for event in FIRST.foreground if event.name == "log file sync")
    found = results["settings"][0]["figures"]["log_sync_share"]
    assert found["point"] == pytest.approx(sync.seconds / FIRST.db_time_s, rel=0.01)
    (told,) = [text for text in results["warnings"] if "only their largest events" in text]
    assert "1 of 2 reports" in told


def test_hours_that_are_alike_have_the_mean_of_their_figures(tmp_path: Path) -> None:
    bytes_of = (1_500_000_000, 1_600_000_000, 1_700_000_000)
    pages = [awr_html(hour(number, redo_bytes=size), "19c") for number, size in enumerate(bytes_of)]
    found = results_of(tmp_path, pages)["settings"][0]["figures"]["redo_per_commit"]
    assert found["point"] == pytest.approx(1_600_000_000 / FIRST.commits)
    half = 4.302653 * (100_000_000 / FIRST.commits) / 3**0.5
    assert found["high"] - found["point"] == pytest.approx(half, rel=1e-6)
    assert found["point"] - found["low"] == pytest.approx(half, rel=1e-6)
