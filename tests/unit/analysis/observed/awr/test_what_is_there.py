"""What is said of the reports themselves: how long they are, and what they do not have."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.imported_reports import results_of
from tests.written_reports import Truth, awr_html, awr_miner, truth


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
        (0.0, "2 reports, 1.00 h by the clock, 2.00 h of reports because several are of the same time"),
        (0.5, "2 reports, 1.50 h by the clock, 2.00 h of reports because several are of the same time"),
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
    assert "So where DB time went is not known either." in results["verdict"]["text"]
