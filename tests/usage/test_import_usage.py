"""`redolab import` on the command line: a first answer, a series for `analyze`, and what it refuses."""

from __future__ import annotations

import csv
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import Redolab
from tests.written_reports import awr_html, statspack, truth


def write(place: Path, hours: int) -> list[str]:
    first = truth()
    files = []
    for number in range(hours):
        facts = truth(
            begin=first.begin + timedelta(hours=number),
            begin_snapshot=first.begin_snapshot + number,
            commits=first.commits + 1000 * number,
        )
        files.append(place / f"awr_{number}.html")
        files[-1].write_text(awr_html(facts, "19c"))
    return list(map(str, files))


def test_a_report_becomes_a_run_that_is_shown_and_verified(redolab: Redolab, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = redolab("import", "awr", *write(tmp_path, 1), "--out", str(run))
    assert done.code == 0, done.err
    assert "log file sync is 13.3 % of DB time" in " ".join(done.out.split())
    assert redolab("verify", str(run)).code == 0
    again = redolab("report", str(run), "--json")
    assert json.loads(again.out)["experiment"] == "awr"


def test_a_series_is_analysed_by_its_columns(redolab: Redolab, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = redolab("import", "awr", *write(tmp_path, 3), "--out", str(run), "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["settings"][0]["reports"] == 3
    with (run / "series.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["hour"] for row in rows] == ["10h", "11h", "12h"]
    assert {row["day"] for row in rows} == {"Friday"}
    rates = [truth().commits / 3600 + number * 1000 / 3600 for number in range(3)]
    assert [float(row["arrival_rate_per_s"]) for row in rows] == pytest.approx(rates)
    analysed = redolab("analyze", str(run / "series.csv"), "--value", "arrival_rate_per_s", "--json")
    assert analysed.code == 0, analysed.err


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("statspack", "use `redolab import awr`"),
        ("nmon", "not a kind of report"),
        ("AWR", "not a kind of report"),
    ],
)
def test_the_wrong_kind_is_refused(kind: str, said: str, redolab: Redolab, tmp_path: Path) -> None:
    done = redolab("import", kind, *write(tmp_path, 1), "--out", str(tmp_path / "run"))
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not (tmp_path / "run").exists()


def test_what_is_no_plain_file_is_refused(redolab: Redolab, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path, tmp_path / "gone"):
        done = redolab("import", "awr", str(place), "--out", str(tmp_path / "run"))
        assert done.code == 2
        assert str(place) in done.err.replace("\n", "")


def test_statspack_is_asked_for_by_its_name(redolab: Redolab, tmp_path: Path) -> None:
    path = tmp_path / "sp_1_2.lst"
    path.write_text(statspack(truth(release="11.2.0.4.0"), "11.2"))
    done = redolab("import", "statspack", str(path), "--out", str(tmp_path / "run"))
    assert done.code == 0, done.err
    assert "Statspack" in done.out
    done = redolab("import", "awr", str(path), "--out", str(tmp_path / "other"))
    assert done.code == 2
    assert "redolab import statspack" in " ".join(done.err.split())
