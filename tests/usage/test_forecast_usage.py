"""`redolab forecast` on the command line: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from redolab.forecast.costs import of_run
from redolab.records import store
from tests.conftest import Redolab
from tests.forecasts import TODAY, make_calibrated


@pytest.fixture(autouse=True)
def _no_ledger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was verified on this machine."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> str:
    """A run whose costs are made up."""
    monkeypatch.setattr(store, "open_run", lambda path: path)
    monkeypatch.setattr(of_run, "costs_of", lambda _: make_calibrated(replicates=3))
    return "costs"


def test_json_is_all_that_is_printed(run: str, redolab: Redolab) -> None:
    ended = redolab("forecast", run, "--set", "sessions=16", "--set", "rows_per_commit=8", "--json")
    assert (ended.code, ended.err) == (0, "")
    results = json.loads(ended.out)
    assert (results["format"], results["run"], results["today"]["setting"]) == (1, "costs", TODAY)
    assert results["asked"]["levels"] | {"sessions": 8, "rows_per_commit": 1} == results["today"]["levels"]
    assert (results["sweep"], results["swept"], results["answers"]) == ([], None, [])
    assert results["league"]["level"] == 0.9


def test_the_answer_comes_first(run: str, redolab: Redolab) -> None:
    ended = redolab("forecast", run, "--set", "sessions=64")
    assert ended.code == 0
    assert ended.out.startswith("64 sessions: ")
    assert "Read with care" in ended.out


def test_today_alone_is_the_model_beside_what_was_measured(run: str, redolab: Redolab) -> None:
    ended = redolab("forecast", run)
    assert ended.code == 0
    first = " ".join(ended.out.split())
    assert first.startswith("Today's setting: forecast ")
    assert "measured 3,400" in first


def test_a_sweep_has_its_ends_and_the_powers_of_two_between(run: str, redolab: Redolab) -> None:
    ended = redolab("forecast", run, "--set", "cpus=4", "--sweep", "sessions=3..20", "--json")
    assert ended.code == 0
    results = json.loads(ended.out)
    assert results["swept"] == "sessions"
    assert [one["levels"]["sessions"] for one in results["sweep"]] == [3, 4, 8, 16, 20]
    assert {one["levels"]["cpus"] for one in results["sweep"]} == {4.0}


def test_every_question_in_one_command(run: str, redolab: Redolab) -> None:
    ended = redolab(
        "forecast", run, "--set", "log_device_ms=1", "--elbow", "--keep-p95-under", "4", "--rows-for", "0.8",
        "--json",
    )  # fmt: skip
    assert (ended.code, ended.err) == (0, "")
    answers = json.loads(ended.out)["answers"]
    assert [(one["question"], one["wanted"], one["factor"]) for one in answers] == [
        ("elbow", 0.95, "sessions"),
        ("keep_p95_under", 4.0, "arrival_rate_per_s"),
        ("rows_for", 0.8, "rows_per_commit"),
    ]
    assert all(one["value"]["point"] > 0 for one in answers)


def test_a_question_without_an_answer_is_printed_and_ends_with_1(run: str, redolab: Redolab) -> None:
    ended = redolab("forecast", run, "--keep-p95-under", "0.5", "--rows-for", "0.8", "--json")
    assert ended.code == 1
    assert "No answer: with hardly any load the 95th percentile" in ended.err
    refused, answered = json.loads(ended.out)["answers"]
    assert refused["value"] is None
    assert refused["refused"] in ended.err
    assert answered["refused"] is None


def test_more_than_can_be_done_has_no_steady_state(run: str, redolab: Redolab) -> None:
    ended = redolab("forecast", run, "--set", "arrival_rate_per_s=1000000", "--json")
    assert (ended.code, ended.out) == (1, "")
    assert "No steady state: 1e+06 units per second ask for" in ended.err
    swept = redolab("forecast", run, "--sweep", "arrival_rate_per_s=100,1000000")
    assert swept.code == 0
    assert "no steady state" in swept.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--set", "sesions=8"],
            "the factor 'sesions' does not exist. The factors are: sessions, rows_per_commit",
        ),
        (["--set", "sessions"], "write sessions=VALUE"),
        (["--set", "sessions=many"], "'many' is not a whole number"),
        (["--set", "sessions=8.5"], "'8.5' is not a whole number"),
        (["--set", "sessions=0"], "sessions is 0; it must be at least 1"),
        (["--set", "sessions=-3"], "sessions is -3; it must be at least 1"),
        (["--set", "sessions=100000"], "sessions is 100,000; forecasts go up to 4,096"),
        (
            ["--set", "rows_per_commit=1000000000"],
            "rows_per_commit is 1,000,000,000; forecasts go up to 65,536",
        ),
        (["--set", "sessions=8", "--set", "sessions=9"], "names the factor sessions twice"),
        (["--set", "cpus=0"], "cpus is 0; it must be greater than 0"),
        (["--set", "cpus=-2"], "cpus is -2; it must be greater than 0"),
        (["--set", "cpus=nan"], "cpus is nan; it must be greater than 0"),
        (["--set", "cpus=1e9"], "cpus is 1,000,000,000.0; forecasts go up to 1,024"),
        (["--set", "log_device_ms=-1"], "log_device_ms is -1; it must be 0 or more"),
        (["--set", "log_device_ms=inf"], "log_device_ms is inf; forecasts go up to 10,000"),
        (["--set", "think_time_ms=1e300"], "think_time_ms is 1e+300; forecasts go up to 3,600,000"),
        (["--set", "think_time_ms=fast"], "'fast' is not a number"),
        (["--set", "commit_wait=later"], "commit_wait is 'later'; it is wait or nowait"),
        (
            ["--set", "commit_delay_us=99999999999"],
            "commit_delay_us is 99,999,999,999; forecasts go up to 100,000",
        ),
        (["--set", "arrival_rate_per_s=0"], "arrival_rate_per_s is 0; it must be greater than 0"),
        (["--set", "arrival_rate_per_s=1e-300"], "gap between arrivals: inf ns is no duration"),
        (["--set", "arrival_rate_per_s=9", "--set", "think_time_ms=1"], "exclude each other"),
        (["--sweep", "sessions"], "write sessions=VALUE"),
        (["--sweep", "sessions=8..1"], "goes from a smaller number to a greater one"),
        (["--sweep", "sessions=1,1"], "names a level twice"),
        (["--sweep", "sessions=0..8"], "sessions is 0; it must be at least 1"),
        (["--sweep", "cpus=1..8"], "a range is for whole numbers"),
        (["--sweep", "sessions=1..8", "--set", "sessions=4"], "--sweep and --set both name sessions"),
        (["--sweep", "cpus=" + ",".join(map(str, range(1, 60)))], "names 59 levels; at most 40"),
        (
            ["--keep-p95-under", "0"],
            "--keep-p95-under is 0; it must be a number of milliseconds greater than 0",
        ),
        (["--rows-for", "1.5"], "--rows-for is 1.5; it must be a share of the benefit between 0 and 1"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(arguments: list[str], said: str, run: str, redolab: Redolab) -> None:
    ended = redolab("forecast", run, *arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert said in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("arguments", [["--set", "rows_per_commit=4"], ["--rows-for", "0.9"]])
def test_a_run_of_single_rows_knows_no_cost_of_a_row(
    arguments: list[str], redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "open_run", lambda path: path)
    monkeypatch.setattr(of_run, "costs_of", lambda _: make_calibrated(row_known=False))
    ended = redolab("forecast", "costs", *arguments)
    assert ended.code == 2
    assert "the cost of a row is not known" in ended.err
    assert "redolab run calibrate" in ended.err


def test_what_is_no_run_is_refused(tmp_path: Path, redolab: Redolab) -> None:
    ended = redolab("forecast", tmp_path / "none", "--set", "sessions=8")
    assert ended.code == 2
    assert "holds no stored run" in ended.err
