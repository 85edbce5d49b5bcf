"""Runs in which work came at random moments, made up from known numbers through the real store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from redolab import open_run
from redolab.analysis.checks import diagnostics
from redolab.analysis.checks.diagnostic import Diagnostic
from redolab.analysis.compared import compare_run
from redolab.analysis.reading import read_latency
from redolab.analysis.results import results
from redolab.analysis.time_based import session_account
from redolab.analysis.verdict import Verdict
from redolab.records.design import Trial
from redolab.records.run import Run
from redolab.records.sample import LatencyRow, Sample
from redolab.records.writing.writer import RunWriter

from .synthetic import BASELINE, LOG_BOUND, design, manifest, one_sample

FIRST = Trial(1, 1, 1, BASELINE, "baseline_a")
COMMITS = 1_000
"""Of each sample."""


def closed(trial: Trial = FIRST) -> Sample:
    return one_sample(trial, LOG_BOUND[trial.setting])[0]


def opened(trial: Trial = FIRST, left: int = 0) -> Sample:
    """1,000 commits in 1.2 s by five sessions, 2 ms each from the moment asked for."""
    return replace(
        closed(trial), commits=COMMITS, rows=COMMITS, server_rows=COMMITS, session_cpu_s=0.1,
        response_s=2e-3 * COMMITS, arrivals_waited=10, arrivals_unserved=left,
    )  # fmt: skip


def stored(path: Path, finish: bool = True) -> Run:
    """Every sample with the same histograms: commits take 1 ms, one in a hundred answers came after 9 ms."""
    plan = design(blocks=2)
    writer = RunWriter(path, manifest(plan))
    for trial in plan.order():
        number = trial.sample
        writer.append(
            opened(trial),
            latency=[
                LatencyRow(number, 1_000.0, COMMITS),
                LatencyRow(number, 1_900.0, 980, "response"),
                LatencyRow(number, 9_000.0, 20, "response"),
                LatencyRow(number, 60.0, 900, "lag"),
                LatencyRow(number, 300.0, 90, "lag"),
            ],
        )
    return writer.finish("finished") if finish else open_run(path)


def text_of(found: Sequence[Diagnostic], name: str) -> Diagnostic:
    (one,) = [item for item in found if item.name == name]
    return one


def test_a_response_counts_from_the_moment_asked_for() -> None:
    account = session_account(opened())
    assert account.arrival_rate == pytest.approx(COMMITS / 1.2)
    assert account.response_time == pytest.approx(2e-3)
    assert account.service_time == pytest.approx(0.1e-3)
    assert account.queue_time == pytest.approx(1.9e-3)
    # Five sessions for 1.2 s would be 6 ms for each of 1,000 commits.
    looped = session_account(replace(opened(), response_s=None))
    assert looped.response_time == pytest.approx(6e-3)


def test_littles_law_is_of_sessions_that_work_all_the_time() -> None:
    both = diagnostics.diagnose([closed(), opened()], {}, BASELINE, "none")
    alone = diagnostics.diagnose([closed()], {}, BASELINE, "none")
    assert text_of(both, "Little's law") == text_of(alone, "Little's law")
    assert text_of(alone, "Little's law").outcome == "passed"
    assert all(item.name != "arrivals" for item in alone)
    only = text_of(diagnostics.diagnose([opened()], {}, BASELINE, "none"), "Little's law")
    assert only.outcome == "not_available"


def test_what_found_no_session_is_counted() -> None:
    (found,) = diagnostics.arrivals([opened(), opened(left=3)])
    assert found.outcome == "passed"
    assert "23 of them found no free session, and 3 had not begun" in found.text


def test_a_growing_backlog_is_told() -> None:
    # What is left by chance is at most three times the square root of what came.
    assert diagnostics.arrivals([opened(left=90)])[0].outcome == "passed"
    (found,) = diagnostics.arrivals([opened(), opened(left=120)])
    assert found.outcome == "warning"
    assert f"Under {BASELINE} more transactions were asked for than could be done" in found.text
    many = [replace(opened(left=120), setting=f"setting {number}") for number in range(1, 6)]
    (found,) = diagnostics.arrivals(many)
    assert "Under setting 1, setting 2, setting 3 and 2 others more transactions were asked for" in found.text


def test_results_have_response_times_and_the_clients_lag(tmp_path: Path) -> None:
    found = results(compare_run(stored(tmp_path / "run")), Verdict("", "undecided", BASELINE, None))
    for setting in found["settings"]:
        points = {
            key: value["point"]
            for key, value in setting.items()
            if key.startswith(("resp", "client", "commit_t"))
        }
        assert points == pytest.approx(
            {
                "response_time_ms": 2.0,
                "response_time_ms_p50": 1.9,
                "response_time_ms_p95": 1.9,
                "response_time_ms_p99": 9.0,
                "commit_time_ms_p50": 1.0,
                "commit_time_ms_p95": 1.0,
                "commit_time_ms_p99": 1.0,
                "client_lag_ms_p50": 0.06,
                "client_lag_ms_p99": 0.3,
            }
        )
        assert setting["arrivals_waited"] == 10 * setting["samples"]
        assert setting["arrivals_unserved"] == 0
    assert found["curve"]["closed_loop"] == {"sessions": None}


def test_runs_without_arrivals_say_nothing_of_them(tmp_path: Path) -> None:
    plan = design(blocks=2)
    writer = RunWriter(tmp_path / "run", manifest(plan))
    for trial in plan.order():
        writer.append(closed(trial))
    found = results(compare_run(writer.finish("finished")), Verdict("", "undecided", BASELINE, None))
    keys = {key for setting in found["settings"] for key in setting}
    assert not {key for key in keys if key.startswith(("response_time_ms_p", "client_lag", "arrivals"))}


@pytest.mark.parametrize("finished", [True, False])
def test_a_run_stored_before_there_were_arrivals_still_opens(tmp_path: Path, finished: bool) -> None:
    run = stored(tmp_path / "run", finish=finished)
    places = [run.path, run.path / "parts"]
    for file in [file for place in places for file in place.glob("latency*.parquet")]:
        table = pq.read_table(file)
        commits = table.filter([kind == "commit" for kind in table.column("kind").to_pylist()])
        pq.write_table(commits.drop_columns(["kind"]), file)
    for file in [file for place in places for file in place.glob("samples*.parquet")]:
        gone = ["response_s", "arrivals_waited", "arrivals_unserved"]
        pq.write_table(pq.read_table(file).drop_columns(gone), file)
    old = compare_run(open_run(run.path))
    assert old.latency == {sample.sample: {1_000.0: COMMITS} for sample in old.everything}
    assert old.responses == old.lags == {}
    assert {sample.response_s for sample in old.everything} == {None}
    assert len(old.everything) == len(read_latency(run, "response"))
