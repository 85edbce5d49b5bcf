"""The published cases that were read from reports, as `redolab import awr` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.imported_reports import results_of, table
from tests.written_reports.cases import CASES


def figures(place: Path, case: str) -> dict[str, Any]:
    found: dict[str, Any] = results_of(place, [CASES[case]])["settings"][0]["figures"]
    return found


@pytest.mark.parametrize(
    ("case", "share", "sync_ms"), [("four-sessions.txt", 73.13, 1), ("many-sessions.txt", 93.66, 42)]
)
def test_fewer_sessions(case: str, share: float, sync_ms: float, tmp_path: Path) -> None:
    results = results_of(tmp_path, [CASES[case]])
    found = results["settings"][0]["figures"]
    assert 100 * found["log_sync_share"]["point"] == pytest.approx(share, abs=0.01)
    # Published in whole milliseconds.
    assert round(1e3 * found["log_sync_s"]["point"]) == sync_ms
    assert results["verdict"]["text"].startswith("Change how commits are made")
    assert table(results, "events-1")[0]["event"] == "log file sync"


def test_of_a_wait_of_42_ms_the_log_write_was_11(tmp_path: Path) -> None:
    assert 1e3 * figures(tmp_path, "many-sessions.txt")["log_write_s"]["point"] == pytest.approx(11, abs=0.05)


def test_a_log_with_1_2_million_writes_of_1_ms_an_hour_is_33_percent_busy(tmp_path: Path) -> None:
    assert round(100 * figures(tmp_path, "production.txt")["log_utilization"]["point"]) == 33


def test_217_percent_in_cores_are_54_in_threads(tmp_path: Path) -> None:
    found = figures(tmp_path, "production.txt")
    assert round(100 * found["cpu_utilization_cores"]["point"]) == 217
    assert round(100 * found["cpu_utilization_threads"]["point"]) == 54


@pytest.mark.parametrize("case", CASES)
def test_the_reports_beside_the_guide_are_these(case: str) -> None:
    assert (ROOT / "docs" / "guide" / "reports" / case).read_text() == CASES[case]
