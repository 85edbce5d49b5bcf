"""Whole runs of rows-per-commit and commit-scaling on the fake engine, worked out by hand."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from redolab.engine.fake import FakeEngine, FakeScript
from redolab.errors import InterruptedRunError, UsageError
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.measure import runner

SYNC, LOCK = ("IO", "WalSync"), ("LWLock", "WALWrite")


class NoProgress:
    """Nobody watches."""

    def begin(self, samples: int, seconds: float) -> None:
        """Nothing."""

    def news(self, text: str) -> None: ...

    def advance(self, setting: str) -> None:
        """Nothing."""


# A row takes 2 us of CPU, and a commit 10 us of CPU and a flush of 50 us beside it.
INSERTS = {
    str(rows): FakeScript(
        cpu_ns=2_000 * rows + 10_000, run_queue_ns=0, waits_ns={SYNC: 50_000}, flush_ns=50_000
    )
    for rows in (2**power for power in range(16))
}
# A flush of 1 ms serves all that waited while the last one ran: two groups that take turns.
COMMITS = {
    "1": FakeScript(cpu_ns=100_000, run_queue_ns=0, waits_ns={SYNC: 1_000_000}, flush_ns=1_000_000),
    "2": FakeScript(
        cpu_ns=100_000, run_queue_ns=0, waits_ns={SYNC: 500_000, LOCK: 500_000},
        commits_per_flush=2, flush_ns=1_000_000,
    ),
    "5": FakeScript(
        cpu_ns=100_000, run_queue_ns=100_000, waits_ns={SYNC: 400_000, LOCK: 1_400_000},
        commits_per_flush=4, flush_ns=1_000_000,
    ),
    "10": FakeScript(
        cpu_ns=100_000, run_queue_ns=100_000, waits_ns={SYNC: 200_000, LOCK: 1_600_000},
        commits_per_flush=8, flush_ns=1_000_000,
    ),
    "20": FakeScript(
        cpu_ns=100_000, run_queue_ns=1_900_000, waits_ns={SYNC: 200_000, LOCK: 1_800_000},
        commits_per_flush=8, flush_ns=1_000_000,
    ),
}  # fmt: skip


def run_fake(name: str, place: Path, scripts: Mapping[str, FakeScript], wish: Wish) -> Any:
    experiment, engine = find_experiment(name), FakeEngine(scripts)
    plan = experiment.plan(wish)
    plan = dataclasses.replace(plan, design=dataclasses.replace(plan.design, warmup_s=0.0))
    outcome = runner.run(experiment, plan, engine, place, NoProgress(), "redolab run", engine.clock)
    assert outcome.error is None
    results = analyse(outcome.run)
    assert analyse(outcome.run) == results
    json.dumps(results, allow_nan=False)
    return outcome.run, results


def table(results: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    (found,) = [table["rows"] for table in results["tables"] if table["key"] == key]
    assert isinstance(found, list)
    return found


@pytest.fixture(scope="module")
def inserts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Any]]:
    place = tmp_path_factory.mktemp("inserts") / "run"
    found: tuple[Any, dict[str, Any]] = run_fake(
        "rows-per-commit", place, INSERTS, Wish(quick=True, blocks=7, seed=3)
    )
    return found


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tmp_path_factory.mktemp("commits") / "run"
    _, results = run_fake("commit-scaling", place, COMMITS, Wish(quick=True, blocks=10, seed=3))
    assert isinstance(results, dict)
    return results


def test_the_rows_of_a_sample_take_the_seconds_asked_for(inserts: tuple[Any, dict[str, Any]]) -> None:
    run, _ = inserts
    design = run.manifest["design"]
    # Of a block of 17 samples each takes 2 us a row, and 60 us for each of 1 + 1 + 1/2 ... commits a row:
    # 12.6 us on average, so that 39,000 rows and some, and 65,536 at the most rows per commit, take 0.5 s.
    assert design["units"] == 39_000
    # In less than 0.1 s they would be done by large commits: those do them twice.
    assert design["repeats"] == {str(2**power): 2 for power in range(7, 15)}
    assert design["seconds"] == pytest.approx(0.537, abs=0.001)
    assert {row["units"] for row in run.samples.to_pylist() if row["setting"] == "32768"} == {65_536}


def test_what_is_collected(inserts: tuple[Any, dict[str, Any]]) -> None:
    _, results = inserts
    rows = {row["setting"]: row for row in table(results, "rows-per-commit-collected")}
    assert len(rows) == 16
    assert rows["1"]["time_per_row_ms"]["point"] == pytest.approx(0.062)
    for name, row in rows.items():
        share = (1 - 1 / int(name)) / (1 - 1 / 32768)
        assert row["collected"]["point"] == pytest.approx(share, abs=1e-9)
    elapsed = {row["setting"]: row for row in table(results, "rows-per-commit-elapsed")}
    assert elapsed["1"]["elapsed_s"]["point"] == pytest.approx(39_000 * 62e-6)
    assert elapsed["1"]["samples"] == 14
    assert elapsed["32"]["change_pct"] == pytest.approx(100 * ((2 + 60 / 32) / 62 - 1))


def test_the_time_of_an_insert(inserts: tuple[Any, dict[str, Any]]) -> None:
    _, results = inserts
    rows = {row["setting"]: row for row in table(results, "rows-per-commit-unit-of-work-session")}
    assert rows["1"]["arrival_rate_per_ms"] == pytest.approx(1 / 0.062)
    assert rows["1"]["service_time_ms"] == pytest.approx(0.012)
    assert rows["1"]["queue_time_ms"] == pytest.approx(0.050)
    assert rows["4"]["response_time_ms"] == pytest.approx(0.017)
    assert rows["4"]["queue_time_ms_change_pct"] == pytest.approx(-75)


def test_the_verdict_on_rows(inserts: tuple[Any, dict[str, Any]]) -> None:
    _, results = inserts
    assert results["verdict"] == {
        "text": "Commit every 16 to 128 rows: that brings nearly all of the possible saving, which is 96.8 % "
        "(96.8 to 96.8) of an insert's time. With 32,768 rows per commit, a row takes 2.00 µs instead of "
        "62.0 µs. 32 rows per commit bring 96.9 % (96.9 to 96.9) of the saving that 32,768 rows bring. "
        "90 % of the possible saving needs 16 (16 to 16) rows per commit, and 99 % needs 128 (128 to "
        "128).",
        "outcome": "better",
        "outcome_text": None,
        "baseline": "1",
        "best": "128",
        "price": None,
    }
    agreement = {item["key"]: item["agreement"] for item in results["published"]}
    assert agreement == {
        "rows-per-commit-saving": "differs",
        "rows-per-commit-32": "agrees",
        "rows-per-commit-ninety": "agrees",
    }


def test_the_curve_of_rows_passes_through_the_first_point(inserts: tuple[Any, dict[str, Any]]) -> None:
    _, results = inserts
    figures = {figure["key"]: figure for figure in results["figures"]}
    fitted = figures["rows-per-commit-time"]["series"][1]
    assert fitted["name"] == "a + b/n^c"
    assert fitted["y"] == pytest.approx([0.002 + 0.060 / rows for rows in fitted["x"]], rel=1e-4)
    measured, curve = figures["rows-per-commit-curve"]["series"]
    assert measured["y"][0] == pytest.approx(0.062)
    below = max(rate for rate in curve["x"] if rate <= measured["x"][0])
    above = min(rate for rate in curve["x"] if rate >= measured["x"][0])
    assert curve["y"][curve["x"].index(below)] <= 0.062 <= curve["y"][curve["x"].index(above)]


def test_the_log_over_sessions(commits: dict[str, Any]) -> None:
    rows = {row["sessions"]: row for row in table(commits, "commit-scaling-log")}
    for sessions, commit_ms, per_flush in ((1, 1.1, 1), (2, 1.1, 2), (5, 2.0, 4), (10, 2.0, 8), (20, 4.0, 8)):
        row = rows[sessions]
        assert row["commits_per_s"]["point"] == pytest.approx(1000 * sessions / commit_ms)
        assert row["commit_time_ms"]["point"] == pytest.approx(commit_ms)
        # Flushes are whole, so the last group of a sample may have none of its own.
        assert row["commits_per_flush"]["point"] == pytest.approx(per_flush, rel=0.01)


def test_the_published_report_over_sessions(commits: dict[str, Any]) -> None:
    rows = {(row["sessions"], row["event"]): row for row in table(commits, "commit-scaling-published")}
    assert rows[1, "log flush"]["per_second"] == pytest.approx(1000 / 1.1)
    assert rows[1, "log flush"]["average_ms"] == pytest.approx(1.0)
    assert rows[10, "log sync"]["per_hour"] == pytest.approx(3600 * 5000)
    assert rows[10, "log sync"]["average_ms"] == pytest.approx(1.8)
    assert rows[10, "log write"]["average_ms"] == 0


def test_the_verdict_on_sessions(commits: dict[str, Any]) -> None:
    assert commits["verdict"] == {
        "text": "Let 10 sessions commit at a time: they bring 5.50 times (5.50 to 5.50) the commits of 1 "
        "session, and more sessions only wait longer. From 10 sessions on, throughput is within 5 % of "
        "its maximum. The log limits commits here. With 10 sessions, which committed most, the log was "
        "busy 100 % of the time and the CPUs 25 %. The database used 25 % of the CPUs. A faster log "
        "device or more commits per flush would help; more CPU would do little. Commits passed the "
        "predicted wall, the rate at which every commit has a flush of its own. If every commit had to "
        "make a flush of its own (a single-server queue), commits would have stopped at 1,000 per "
        "second; 5,000 were measured. One flush of the log served 8.00 commits.",
        "outcome": "better",
        "outcome_text": None,
        "baseline": "1",
        "best": "10",
        "price": None,
    }


def test_the_prediction_ends_at_its_wall(commits: dict[str, Any]) -> None:
    figures = {figure["key"]: figure for figure in commits["figures"]}
    names = [series["name"] for series in figures["commit-scaling-time"]["series"]]
    assert names == ["commit time", "log sync in it", "single-server prediction (M/M/1)", "predicted wall"]
    *_, curve, wall = figures["commit-scaling-time"]["series"]
    assert wall["x"] == pytest.approx([1000, 1000])
    assert max(curve["x"]) < 1000
    for rate, each in zip(curve["x"], curve["y"], strict=True):
        assert each == pytest.approx(1 / (1 - rate / 1000))


def test_further_factors_name_the_settings() -> None:
    experiment = find_experiment("rows-per-commit")
    plain = experiment.plan(Wish(sessions=(4,)))
    assert plain.design.settings[5] == "32"
    assert plain.load.sessions == 4
    both = experiment.plan(Wish(sessions=(1, 4), client=True, quick=True, blocks=7))
    assert len(both.design.settings) == 24
    assert both.combinations["128/4/client"] == {
        "rows_per_commit": "128", "sessions": "4", "loop": "client",
    }  # fmt: skip
    assert both.design.baseline == "1/1/server"
    assert both.load.sessions == 4
    assert experiment.plan(Wish(rows=700)).design.units == 700
    assert experiment.plan(Wish(full=True)).design.units == 900_000


def test_further_factors_are_compared_in_their_own_sweep(tmp_path: Path) -> None:
    slow = {
        f"{rows}/{sessions}": FakeScript(
            cpu_ns=2_000 * rows, run_queue_ns=0, waits_ns={SYNC: sessions * 50_000}, flush_ns=50_000
        )
        for rows in (1, 32, 32768)
        for sessions in (1, 4)
    }
    wish = Wish(quick=True, blocks=7, sessions=(1, 4), settings=tuple(slow), rows=32768, seed=5)
    _, results = run_fake("rows-per-commit", tmp_path / "run", slow, wish)
    rows = {row["setting"]: row for row in table(results, "rows-per-commit-collected")}
    # Four sessions insert at the same time: (2 + 200) / 4 us a row.
    assert rows["1/4"]["time_per_row_ms"]["point"] == pytest.approx(0.0505)
    assert rows["1/4"]["change_pct"] == 0
    assert rows["32/4"]["collected"]["point"] == pytest.approx((1 - 1 / 32) / (1 - 1 / 8192), rel=1e-3)
    assert results["verdict"]["text"].startswith("With 1 session: commit every ")
    assert " With 4 sessions: 32 rows per commit bring" in results["verdict"]["text"]


@pytest.mark.parametrize(
    ("name", "scripts", "works"), [("rows-per-commit", INSERTS, 2 * 16), ("commit-scaling", COMMITS, 0)]
)
def test_a_run_of_one_sample_says_that_it_is_too_few(
    name: str, scripts: Mapping[str, FakeScript], works: int, tmp_path: Path
) -> None:
    experiment, engine = find_experiment(name), FakeEngine(scripts, interrupt_after=works + 2)
    plan = experiment.plan(Wish(quick=True, blocks=7, seed=3))
    plan = dataclasses.replace(plan, design=dataclasses.replace(plan.design, warmup_s=0.0))
    outcome = runner.run(
        experiment, plan, engine, tmp_path / "run", NoProgress(), "redolab run", engine.clock
    )
    assert isinstance(outcome.error, InterruptedRunError)
    assert outcome.run.samples.num_rows == 1
    results = analyse(outcome.run)
    json.dumps(results, allow_nan=False)
    assert results["verdict"]["outcome"] == "undecided"
    assert results["verdict"]["best"] is None
    assert "Measure again: too few samples" in results["verdict"]["text"]
    assert {item["agreement"] for item in results["published"]} <= {"not comparable", "agrees", "differs"}


@pytest.mark.parametrize(
    ("name", "wish", "said"),
    [
        ("rows-per-commit", Wish(rows=0), "--rows is 0"),
        ("rows-per-commit", Wish(rows=10**10), "at most 1,000,000,000"),
        ("rows-per-commit", Wish(load="io"), "does not take the option --load"),
        ("rows-per-commit", Wish(scope="system"), "does not take the option --scope"),
        ("commit-scaling", Wish(sessions=(1, 2, 1)), "names a number twice in 1,2,1"),
        ("commit-scaling", Wish(sessions=(4,)), "Name at least two"),
        ("commit-scaling", Wish(rows=5), "does not take the option --rows"),
    ],
)
def test_what_cannot_be_asked(name: str, wish: Wish, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find_experiment(name).plan(wish)


def test_a_clear_difference_in_few_blocks_is_not_called_sure(tmp_path: Path) -> None:
    wish = Wish(quick=True, blocks=2, settings=("1", "32", "32768"), rows=32768, seed=5)
    _, results = run_fake("rows-per-commit", tmp_path / "run", INSERTS, wish)
    assert results["verdict"] == {
        "text": (
            "Measure longer (more blocks): 32,768 rows per commit were 31.0 times as fast (31.0 to 31.0) as "
            "1, which is not certain yet. 2 blocks (passes over all settings) are too few to be sure; 2 more "
            "blocks would be enough."
        ),
        "outcome": "undecided",
        "baseline": "1",
        "best": None,
        "price": None,
        "outcome_text": None,
    }


def test_where_a_commit_costs_nothing_no_number_is_named(tmp_path: Path) -> None:
    free = {name: FakeScript(cpu_ns=2_000 * int(name), run_queue_ns=0) for name in INSERTS}
    _, results = run_fake("rows-per-commit", tmp_path / "run", free, Wish(quick=True, blocks=7, seed=5))
    assert results["verdict"]["outcome"] == "equivalent"
    assert results["verdict"]["best"] is None
    assert results["verdict"]["text"].startswith("Commit as suits you: 32,768 rows per commit were ")
    assert {item["agreement"] for item in results["published"]} == {"differs", "not comparable"}
