"""`redolab analyze` on the command line: what it prints, writes, and refuses."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Redolab
from tests.servers import command

TEXT = "ms,mode\n" + "".join(f"{1 + place % 7},{'ab'[place % 2]}\n" for place in range(60))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.csv"
    path.write_text(TEXT)
    return path


def test_json_is_all_that_is_printed(file: Path, redolab: Redolab) -> None:
    ended = redolab("analyze", file, "--group", "mode", "--json")
    assert (ended.code, ended.err) == (0, "")
    results = json.loads(ended.out)
    assert results["format"] == 1
    assert {"groups", "normality", "plus_minus", "comparisons"} <= results.keys()


def test_the_answer_comes_first(file: Path, redolab: Redolab) -> None:
    ended = redolab("analyze", file)
    assert ended.code == 0
    assert ended.out.startswith("ms: 60 values, mean ")


def test_a_page_with_every_figure(file: Path, tmp_path: Path, redolab: Redolab) -> None:
    out = tmp_path / "page.html"
    ended = redolab("analyze", file, "--out", out)
    assert ended.code == 0
    assert ended.err == f"Page: {out}\n"
    page = out.read_text()
    assert 'id="results"' in page
    assert "figure-own-values-histogram" in page


def test_stdin(file: Path, redolab: Redolab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    ended = redolab("analyze", "-", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["source"]["file"] == "stdin"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--value", "s"], "has no column 's' for --value. It has: ms, mode."),
        (["--value", "mode"], "line 2: 'a' in the column mode is not a number"),
        (["--group", "day"], "has no column 'day' for --group"),
        (["--group", "mode", "--children", "3"], "Leave one of the two out."),
        (["--children", "31"], "--children is 31; 60 values can be cut into at least 2 and at most 30"),
        (["--out", "."], "exists already and is not overwritten"),
        (["--out", "no/such/place.html"], "cannot be written"),
    ],
)
def test_wrong_usage(
    arguments: list[str], said: str, file: Path, redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    ended = redolab("analyze", file, *arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert list(file.parent.iterdir()) == [file]


def test_sampling_distribution_takes_no_database(redolab: Redolab, tmp_path: Path) -> None:
    for arguments, said in (
        (["--engine", "embedded"], "only on generator"),
        (["--engine", "postgresql://nobody@127.0.0.1:1/none"], "only on generator"),
        (["--log-device-ms", "5"], "only for Redolab's own servers"),
        (["--sessions", "4"], "does not take the option --sessions"),
        (["--settings", "7x7"], "Its settings are: 10x10, 30x30, 90x90."),
    ):
        ended = redolab("run", "sampling-distribution", "--out", tmp_path / "run", *arguments)
        assert ended.code == 2
        assert said in ended.err
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("place", ["/proc/self/mem", "/proc/self/attr/exec"])
def test_a_file_that_opens_and_cannot_be_read_is_named(place: str, redolab: Redolab) -> None:
    ended = redolab("analyze", place)
    assert ended.code == 2
    assert ended.err.startswith(f"redolab: {place} cannot be read: ")


def test_a_standard_input_that_is_closed_is_an_empty_one() -> None:
    ended = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *command("analyze", "-")], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("redolab: stdin is empty.")


def test_two_readings_end_with_2_and_an_option_settles_them(tmp_path: Path, redolab: Redolab) -> None:
    path = tmp_path / "german.csv"
    path.write_text("n;us\n0;934\n1;1.001\n")
    ended = redolab("analyze", path)
    assert (ended.code, ended.out) == (2, "")
    assert "the column us can be read in two ways: 1.001 is" in ended.err
    for mark, mean in ((",", 967.5), (".", 467.5005)):
        ended = redolab("analyze", path, "--decimal", mark, "--json")
        assert json.loads(ended.out)["groups"][0]["mean"]["point"] == mean
    ended = redolab("analyze", path, "--decimal", "points")
    assert (ended.code, "--decimal is 'points'; use . or a comma" in ended.err) == (2, True)


def test_logs_of_threads_are_named_one_after_another(tmp_path: Path, redolab: Redolab) -> None:
    places = [tmp_path / "pgbench_log.7", tmp_path / "pgbench_log.7.1"]
    for number, path in enumerate(places):
        path.write_text(f"{number} 0 {1000 + number} 0 1499414498 750\n{number} 1 3000 0 1499414498 850\n")
    ended = redolab("analyze", *places, "--json")
    results = json.loads(ended.out)
    assert results["source"]["format"] == "a log of pgbench -l"
    assert (results["source"]["unit"], results["source"]["values"]) == ("ms", 4)
    assert results["groups"][0]["name"] == "latency (ms)"
    assert results["groups"][0]["mean"]["point"] == pytest.approx((1 + 1.001 + 3 + 3) / 4)
    assert any("column latency is analysed" in warning for warning in results["warnings"])
