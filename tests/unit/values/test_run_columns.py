"""A column of a run's samples, as `redolab analyze` takes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from redolab.commands.analyze import analyze
from redolab.errors import UsageError
from redolab.values.run_columns import read_run_values
from tests.unit.analysis.synthetic import LOG_BOUND, build_run, design
from tests.unit.watched import Seen, busy_days, steady, watched_run


def test_a_figure_of_every_stretch_that_counts_is_a_column(tmp_path: Path) -> None:
    stretches = [Seen(60 * at, 1, 100 * (at + 1), 1e-3) for at in range(10)]
    stretches[3] = replace(stretches[3], spoiled="counters went backwards")
    watched_run(tmp_path / "run", stretches)
    found = read_run_values(tmp_path / "run", "arrival_rate_per_s")
    assert found.values == pytest.approx([100, 200, 300, 500, 600, 700, 800, 900, 1000])
    assert (found.rows, found.missing, found.in_time) == (9, 0, True)


def test_a_column_of_the_samples_is_one_too_and_what_is_null_is_missing(tmp_path: Path) -> None:
    watched_run(tmp_path / "run", steady(6), "mariadb")
    assert read_run_values(tmp_path / "run", "log_flushes").values == pytest.approx([15_000] * 6)
    with pytest.raises(UsageError, match="6 rows, 6 of them without a value"):
        read_run_values(tmp_path / "run", "log_flush_time_s")


def test_hours_days_and_starts_are_groups(tmp_path: Path) -> None:
    watched_run(tmp_path / "run")
    by_day = read_run_values(tmp_path / "run", "response_time_s", "day")
    assert by_day.groups == (
        "Monday, 23 November 2026",
        "Tuesday, 24 November 2026",
        "Wednesday, 25 November 2026",
    )
    assert len(by_day.member) == len(by_day.values)
    assert read_run_values(tmp_path / "run", "response_time_s", "hour").groups[0] == "22h"
    assert read_run_values(tmp_path / "run", "response_time_s", "block").groups == ("1", "2")


def test_one_column_is_taken_off_another(tmp_path: Path) -> None:
    watched_run(tmp_path / "run", steady(6))
    less = read_run_values(tmp_path / "run", "busy_s", None, "session_cpu_s")
    assert less.title == "busy_s less session_cpu_s"
    assert less.values == pytest.approx([30_000 * 4.15e-3] * 6)


def test_the_samples_of_an_experiment_are_taken_as_well(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", LOG_BOUND, design(blocks=3), change={2: {"spoiled": "a session died"}})
    results = analyze(str(run.path), "elapsed_s", None, "setting", None)
    assert {group["name"] for group in results["groups"]} == set(LOG_BOUND)
    assert results["source"]["rows"] == run.samples.num_rows - 1
    assert results["neighbours"] is None


def test_what_neighbours_have_in_common_is_told_and_widens_the_mean(tmp_path: Path) -> None:
    watched_run(tmp_path / "run", busy_days(stretch_s=300.0))
    results = analyze(str(tmp_path / "run"), "arrival_rate_per_s", None, None, None)
    found = results["neighbours"]
    assert found["correlation"] > 0.8
    assert found["worth"] < results["groups"][0]["count"] / 4
    plain = results["groups"][0]["mean"]
    assert found["mean"]["point"] == pytest.approx(plain["point"])
    assert found["mean"]["high"] - found["mean"]["low"] > 2 * (plain["high"] - plain["low"])
    assert any(
        sentence.startswith("Each value resembles the next in time (correlation 0.")
        for sentence in results["answer"]
    )


def test_a_file_says_nothing_of_neighbours(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("ms\n" + "\n".join(map(str, np.arange(20))) + "\n")
    assert analyze(str(tmp_path / "values.csv"), None, None, None, None)["neighbours"] is None


@pytest.mark.parametrize(
    ("value", "group", "against", "why"),
    [
        (None, None, None, r"Choose one with --value: arrival_rate_per_s"),
        ("zzz", None, None, r"no column 'zzz' for --value[.] They have"),
        ("busy_s", "zzz", None, r"no column 'zzz' for --group[.] They have: block, day, hour"),
        ("busy_s", None, "started_at", r"no column 'started_at' for --against"),
        ("busy_s", None, "busy_s", r"--value and --against both name busy_s"),
    ],
)
def test_what_is_no_column_is_refused_in_words(
    tmp_path: Path, value: str | None, group: str | None, against: str | None, why: str
) -> None:
    watched_run(tmp_path / "run", steady(3))
    with pytest.raises(UsageError, match=why):
        read_run_values(tmp_path / "run", value, group, against)
