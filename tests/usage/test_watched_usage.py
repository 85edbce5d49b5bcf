"""Reports of a watched run on the command line: what they print and write, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Redolab
from tests.servers import Ended, in_this_process
from tests.unit.watched import steady, watched_run


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return watched_run(tmp_path_factory.mktemp("watched") / "run", steady(240)).path


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A watch that was reported as a whole, and what the command said."""
    place = tmp_path_factory.mktemp("reported")
    run = watched_run(place / "run", steady(240)).path
    return run, in_this_process(place, "report", run, environment={})


def test_a_report_is_written_and_verifies(reported: tuple[Path, Ended], redolab: Redolab) -> None:
    watched, ended = reported
    assert ended.code == 0, ended.err
    assert ended.out.startswith("Change how commits are made: waiting for the log is 92.0 %")
    assert (watched / "report.html").is_file()
    assert redolab("verify", watched).code == 0


def test_a_period_is_reported_beside_the_rest_and_beside_another(watched: Path, redolab: Redolab) -> None:
    rest = redolab("report", watched, "--from", "00:00", "--to", "01:00", "--json")
    assert rest.code == 0, rest.err
    told = json.loads(rest.out)
    assert told["period"] == {
        "from": "2026-11-24T00:00:00.000+00:00",
        "to": "2026-11-24T01:00:00.000+00:00",
        "against": None,
    }
    assert (told["watched"]["stretches"], told["comparison"]["stretches"]) == (60, 180)
    two = redolab(
        "report", watched, "--from", "00:00", "--to", "01:00", "--from", "2026-11-23T23:00", "--to", "00:00",
    )  # fmt: skip
    assert two.code == 0, two.err
    assert "23 November 2026, 23:00:00 UTC to 24 November 2026, 00:00:00 UTC" in " ".join(two.out.split())
    verified = redolab("verify", watched)
    assert verified.code == 0, verified.err


@pytest.mark.parametrize(
    "words",
    [
        ("--from", "01:00", "--to", "00:30"),
        ("--from", "soon"),
        ("--to", "2020-01-01"),
        ("--from", "2026-11-24T00:00:10", "--to", "2026-11-24T00:00:50"),
        ("--from", "00:00", "--from", "00:30", "--to", "01:00"),
    ],
)
def test_a_wrong_period_is_one_paragraph_and_changes_nothing(
    reported: tuple[Path, Ended], redolab: Redolab, words: tuple[str, ...]
) -> None:
    watched, _ = reported
    before = {path.name: path.read_bytes() for path in watched.iterdir()}
    ended = redolab("report", watched, *words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("redolab: ")
    assert len(ended.err.splitlines()) == 1
    assert {path.name: path.read_bytes() for path in watched.iterdir()} == before


def test_a_column_of_the_watch_is_analysed(watched: Path, redolab: Redolab) -> None:
    ended = redolab("analyze", watched, "--value", "commits_per_flush", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["groups"][0]["mean"]["point"] == pytest.approx(2)
    nothing = redolab("analyze", watched)
    assert nothing.code == 2
    assert "Choose one with --value" in nothing.err


def test_a_directory_that_is_no_run_is_still_refused(tmp_path: Path, redolab: Redolab) -> None:
    ended = redolab("analyze", tmp_path)
    assert ended.code == 2
    assert "is a directory" in ended.err
