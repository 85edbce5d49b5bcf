"""`redolab verify-forecast` and `redolab league` on the command line: what they refuse and leave alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from redolab.commands import verify_forecast
from redolab.forecast.checks import ledger
from redolab.forecast.costs import of_run
from redolab.forecast.track_record import Score
from redolab.records.sealed import seal
from tests.conftest import Redolab
from tests.forecasts import made_up_run, make_calibrated


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> str:
    """A run on Redolab's own server whose costs are made up."""
    monkeypatch.setattr(verify_forecast, "open_run", lambda _: made_up_run("embedded"))
    monkeypatch.setattr(of_run, "costs_of", lambda _: make_calibrated(replicates=2))
    return "costs"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([], "today's setting"),
        (["--set", "sessions=8"], "today's setting"),
        (["--set", "cpus=4"], "cpus can be forecast but not checked"),
        (["--set", "think_time_ms=4"], "think_time_ms can be forecast but not checked"),
        (["--sweep", "arrival_rate_per_s=4,5"], "run calibrate --client"),
        (["--set", "speed=4"], "the factor 'speed' does not exist"),
        (["--set", "sessions=0"], "sessions is 0; it must be at least 1"),
        (["--set", "sessions=many"], "is not a whole number"),
        (["--set", "sessions=2000"], "at most 1,000 can be measured"),
        (["--set", "sessions=4", "--sweep", "sessions=1..4"], "both name sessions"),
        (["--sweep", "sessions=1,2,3,4,5,6,7,9,10,11,12,13,14,15,16,17,18,19,20,21"], "too many to measure"),
        (["--set", "log_device_ms=2", "--engine", "postgresql://x@y/z"], "own server alone"),
        (["--set", "sessions=4", "--engine", "sqlite"], "does not run on sqlite"),
        (
            ["--set", "sessions=4", "--engine", "mariadb"],
            "measured on PostgreSQL, and --engine names MariaDB",
        ),
        (["--set", "sessions=4", "--engine", "oracle://a@b/c"], "and --engine names Oracle Database"),
        (["--set", "sessions=4", "--blocks", "0"], "--blocks is 0"),
        (["--set", "sessions=4", "--seconds", "-1"], "--seconds is -1"),
        (["--set", "sessions=4", "--seed", "-1"], "--seed is -1; it must be at least 0"),
        (["--set", "sessions=4", "--seed", str(2**64)], "--seed is 18446744073709551616; it must be"),
    ],
)
def test_what_cannot_be_checked_is_refused_before_anything_is_sealed(
    run: str, asked: list[str], said: str, redolab: Redolab, tmp_path: Path
) -> None:
    ended = redolab("verify-forecast", run, *asked, "--out", tmp_path / "out")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert not ledger.own_path().exists()
    assert not (tmp_path / "out").exists()


def test_what_has_no_steady_state_is_not_sealed(
    run: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make_calibrated(replicates=0, loop="client")
    monkeypatch.setattr(of_run, "costs_of", lambda _: client)
    ended = redolab("verify-forecast", run, "--set", "arrival_rate_per_s=900000", "--out", tmp_path / "out")
    assert ended.code == 1
    assert "no steady state" in ended.err
    assert not ledger.own_path().exists()


def test_a_place_that_is_taken_is_refused_before_anything_is_sealed(
    run: str, redolab: Redolab, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").write_text("")
    ended = redolab("verify-forecast", run, "--set", "sessions=4", "--out", tmp_path / "out")
    assert ended.code == 2
    assert "exists already" in ended.err
    assert not ledger.own_path().exists()


def test_a_run_that_is_none_is_refused(redolab: Redolab, tmp_path: Path) -> None:
    ended = redolab("verify-forecast", tmp_path / "none", "--set", "sessions=4")
    assert ended.code == 2
    assert "holds no stored run" in ended.err


def test_an_empty_league_says_how_to_begin(redolab: Redolab) -> None:
    ended = redolab("league")
    assert ended.code == 0
    assert "verify-forecast" in ended.out


def test_the_league_as_json_and_shared(redolab: Redolab, tmp_path: Path) -> None:
    sealed = seal({"asked": 1})
    ledger.note_seal(sealed)
    score = Score("exact MVA", "single rows", "throughput_per_s", 90.0, 100.0, 80.0, 101.0)
    ledger.note_scores(sealed["sha256"], [score], [])
    shared = tmp_path / "shared.jsonl"
    ended = redolab("league", "--export", shared, "--json")
    results = json.loads(ended.out)
    assert results["format"] == 1
    (part,) = [part for part in results["records"] if part["record"] == "here"]
    (row,) = part["rows"]
    assert row["error_median"] == pytest.approx(0.1)
    assert "2 lines" in ended.err
    ended = redolab("league", "--import", shared)
    assert "0 lines imported, 2 already here" in ended.err
    ended = redolab("league", "--import", tmp_path / "none")
    assert ended.code == 2
