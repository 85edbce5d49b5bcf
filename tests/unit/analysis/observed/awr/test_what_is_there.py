"""What is said of the reports themselves: how long they are, and what they do not have."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from redolab.errors import UsageError
from redolab.importers.layout import Kind
from tests.imported_reports import results_of
from tests.written_reports import Truth, awr_html, awr_miner, awr_text, statspack, truth


def _read_from(results: dict[str, Any]) -> str:
    return str(dict(results["facts"])["Read from"])


def _later(of: Truth, hours: float) -> Truth:
    return replace(
        of, begin=of.begin + timedelta(hours=hours), begin_snapshot=of.begin_snapshot + 1,
        end_snapshot=of.end_snapshot + 1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("hours", "length"),
    [
        (0.0, "2 reports, 1.00 h by the clock, 2.00 h of reports, because some of them cover the same time"),
        (0.5, "2 reports, 1.50 h by the clock, 2.00 h of reports, because some of them cover the same time"),
        (1.0, "2 reports, 2.00 h in all"),
        (7.0, "2 reports, 2.00 h in all"),
    ],
)
def test_hours_by_the_clock_are_no_hours_of_reports(tmp_path: Path, hours: float, length: str) -> None:
    sales, stock = truth(container="SALES"), _later(truth(container="STOCK"), hours)
    results = results_of(tmp_path, [awr_html(sales, "19c", pdb=True), awr_html(stock, "19c", pdb=True)])
    assert _read_from(results) == f"{length} (AWR, HTML)"


def test_instances_of_a_cluster_are_of_the_same_hour(tmp_path: Path) -> None:
    pages = [
        awr_html(truth(rac=True, instance=f"orders{number}", instance_number=number), "19c")
        for number in (1, 2, 3)
    ]
    assert _read_from(results_of(tmp_path, pages)).startswith("3 reports, 1.00 h by the clock, 3.00 h of")


def test_an_account_without_a_single_figure_is_a_sentence(tmp_path: Path) -> None:
    whole = awr_miner([truth(), _later(truth(), 1.0)])
    tables = {item["key"] for item in results_of(tmp_path / "whole", [whole])["tables"]}
    assert "account-1" in tables
    without = whole.replace("TOP-N-TIMED-EVENTS", "TOP-N").replace("AVERAGE-ACTIVE-SESSIONS", "AVERAGE")
    results = results_of(tmp_path / "without", [without])
    assert "account-1" not in {item["key"] for item in results["tables"]}
    assert "So it is also not known where the database's time (DB time) went." in results["verdict"]["text"]


def test_a_counter_below_zero_makes_no_figure(tmp_path: Path) -> None:
    page = re.sub(r"(user commits</td><td[^>]*>)[\d,]+", r"\g<1>-5", awr_html(truth(), "19c"))
    setting = results_of(tmp_path, [page])["settings"][0]
    unknown = ("arrival_rate_per_s", "service_time_s", "commits_per_log_write")
    assert [setting["figures"][key]["point"] for key in unknown] == [None, None, None]
    assert all(value["point"] is None or value["point"] >= 0 for value in setting["figures"].values())


@pytest.mark.parametrize("layout", ["page", "text", "Statspack"])
def test_a_restart_between_the_snapshots_is_refused(tmp_path: Path, layout: str) -> None:
    begin = truth().begin

    def pages(hours: float) -> list[str]:
        facts = truth(startup=begin + timedelta(hours=hours))
        writers = {
            "page": lambda: awr_html(facts, "19c"),
            "text": lambda: awr_text(facts, "19c"),
            "Statspack": lambda: statspack(facts, "11.2"),
        }
        return [writers[layout]()]

    kind: Kind = "statspack" if layout == "Statspack" else "awr"
    with pytest.raises(UsageError, match="started at 2025-03-14 10:30, between its two snapshots"):
        results_of(tmp_path / "between", pages(0.5), kind)
    assert results_of(tmp_path / "before", pages(-0.5), kind)["settings"][0]["reports"] == 1
