"""Forecast, seal, measure and score on a real server."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from redolab.forecast.checks import ledger
from redolab.records.sealed import FILE, is_whole
from redolab.records.store import open_run, read_document
from tests.conftest import Redolab
from tests.servers import Server, in_this_process

FORECASTS = "group commit, simulated"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that a forecast can start from, on an emulated log device of 4 ms; the tests only read it.

    It is slow enough that other work on the machine does not decide what a commit takes.
    """
    place = tmp_path_factory.mktemp("verify-forecast")
    ended = in_this_process(
        place, "run", "calibrate", "--sessions", "4", "--blocks", "2", "--seconds", "0.3",
        "--log-device-ms", "4", "--out", "costs", environment={"XDG_DATA_HOME": str(place / "data")},
    )  # fmt: skip
    assert ended.code == 0, ended.err
    return place / "costs"


def checked(ended: Any) -> dict[str, Any]:
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_a_forecast_is_sealed_measured_and_scored(costs: Path, tmp_path: Path, redolab: Redolab) -> None:
    place = tmp_path / "checked"
    results = checked(
        redolab(
            "verify-forecast",
            costs,
            "--set",
            "sessions=8",
            "--set",
            "rows_per_commit=4",
            "--blocks",
            "2",
            "--seconds",
            "0.3",
            "--out",
            place,
            "--json",
        )
    )
    told = results["forecast"]
    assert told["scored"]
    scores = {(item["model"], item["quantity"]): item for item in told["scores"]}
    own = scores["group commit, simulated", "throughput_per_s"]
    (asked,) = [item for item in results["settings"] if item["name"] == "8/4/wait"]
    assert own["measured"]["point"] == pytest.approx(asked["throughput_per_s"]["point"], rel=1e-6)
    assert own["inside"] is (own["forecast"]["low"] <= own["measured"]["point"] <= own["forecast"]["high"])
    assert ("group commit, simulated", "commit_time_ms_p95") in scores
    # The emulated device is that of the run.
    assert results["engine"]["emulated"]["log_device_ms"]["requested"] == 4.0
    # Both are of one calibration. A flush of 4 ms for each commit is slower, however busy the CPUs are.
    # On a quiet machine four commits share one.
    without = scores["exact MVA", "throughput_per_s"]["forecast"]["point"]
    assert 1.2 * without < own["forecast"]["point"]

    run = open_run(place)
    sealed = read_document(run, FILE)
    assert sealed is not None
    assert is_whole(sealed)
    first = min(run.samples.column("started_at").to_pylist())
    assert datetime.fromisoformat(sealed["sealed_at"]) < datetime.fromisoformat(first)
    # The ledger has the seal before the scores, and no name of this machine's.
    lines = [json.loads(line) for line in ledger.own_path().read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["sealed", "scored"]
    assert lines[0]["sha256"] == lines[1]["sha256"] == sealed["sha256"] == told["sha256"]
    assert str(tmp_path) not in ledger.own_path().read_text()
    assert [part["record"] for part in results["league"]["records"]] == ["shipped", "here"]

    assert redolab("verify", place).code == 0
    league = checked(redolab("league", "--json"))
    here = next(item for item in league["ledger"] if item["record"] == "here")
    assert here == {"record": "here", "forecasts": 1, "unscored": 0}

    changed = place / FILE
    forged = json.loads(changed.read_text())
    forged["forecast"]["settings"][0]["models"][0]["quantities"]["throughput_per_s"]["point"] *= 1.01
    changed.write_text(json.dumps(forged))
    ended = redolab("verify", place)
    assert ended.code == 1
    assert "its seal is broken" in ended.err


def test_another_log_device_is_emulated_for_the_check(costs: Path, tmp_path: Path, redolab: Redolab) -> None:
    results = checked(
        redolab(
            "verify-forecast",
            costs,
            "--set",
            "log_device_ms=20",
            "--blocks",
            "1",
            "--seconds",
            "0.4",
            "--out",
            tmp_path / "checked",
            "--json",
        )
    )
    rates = {item["name"]: item["throughput_per_s"]["point"] for item in results["settings"]}
    assert set(rates) == {"4/1/wait/4", "4/1/wait/20"}
    # Four sessions that wait 20 ms at least do 200 a second at most.
    assert rates["4/1/wait/20"] <= 210
    own = next(item for item in results["forecast"]["scores"] if item["quantity"] == "throughput_per_s")
    assert own["forecast"]["point"] <= 210


def test_arrivals_are_checked_with_a_client_loop(tmp_path: Path, redolab: Redolab) -> None:
    place = tmp_path / "costs"
    ended = redolab(
        "run", "calibrate", "--client", "--sessions", "4", "--blocks", "1", "--seconds", "0.3", "--out", place
    )
    assert ended.code == 0, ended.err
    results = checked(
        redolab(
            "verify-forecast",
            place,
            "--set",
            "arrival_rate_per_s=50",
            "--set",
            "sessions=2",
            "--blocks",
            "1",
            "--seconds",
            "0.3",
            "--out",
            tmp_path / "checked",
            "--json",
        )
    )
    assert results["load"]["loop"] == "client"
    scores = {item["quantity"]: item for item in results["forecast"]["scores"] if item["model"] == FORECASTS}
    # What arrives is done, as long as it can be: 50 a second, within the scatter of random arrivals.
    assert scores["throughput_per_s"]["forecast"]["point"] == pytest.approx(50, rel=0.05)
    assert {"commit_time_ms", "response_time_ms_p95"} <= scores.keys()
    assert scores["throughput_per_s"]["family"] == "open arrivals"


def test_a_server_of_somebody_else_must_be_named_and_agreed_to(
    newest: Server, url: str, database: str, tmp_path: Path, redolab: Redolab
) -> None:
    place = tmp_path / "costs"
    ended = redolab(
        "run", "calibrate", "--engine", url, "--sessions", "4", "--blocks", "1", "--seconds", "0.2",
        "--out", place, "--yes",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    ended = redolab("verify-forecast", place, "--set", "sessions=2", "--out", tmp_path / "checked")
    assert ended.code == 2
    assert "--engine URL" in ended.err
    again = ("verify-forecast", place, "--set", "sessions=2", "--engine", url, "--blocks", "1", "--seconds")
    ended = redolab(*again, "0.2", "--out", tmp_path / "checked")
    assert ended.code == 2
    assert "--yes" in ended.err
    # Nothing was sealed for what was not agreed to.
    assert not ledger.own_path().exists()
    results = checked(redolab(*again, "0.2", "--out", tmp_path / "checked", "--yes", "--json"))
    assert results["forecast"]["scored"]
    newest.assert_left_clean(database)
