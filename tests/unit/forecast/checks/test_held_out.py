"""Models checked inside one run, on the fake engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.engine.fake import FakeEngine, FakeScript
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.forecast.checks.held_out import held_out
from redolab.forecast.models.points import LINE
from redolab.measure import runner
from redolab.records.run import Run
from tests.unit.experiment.verify_forecast.test_verify_forecast import NoProgress

SYNC = ("IO", "WalSync")


def session_ns(sessions: int) -> int:
    """Time of a transaction: a straight line in the sessions, 1.1 ms and 0.15 ms for each further one."""
    return 1_100_000 + 150_000 * (sessions - 1)


def scaling(place: Path, sessions: tuple[int, ...]) -> Run:
    experiment = find_experiment("commit-scaling")
    plan = experiment.plan(Wish(sessions=sessions, blocks=2, seconds=1.0, seed=1))
    scripts = {
        str(count): FakeScript(
            cpu_ns=90_000, run_queue_ns=10_000, waits_ns={SYNC: session_ns(count) - 100_000},
            commits_per_flush=max(1, count // 2), flush_ns=1_000_000,
        )
        for count in sessions
    }  # fmt: skip
    engine = FakeEngine(scripts)
    outcome = runner.run(experiment, plan, engine, place, NoProgress(), "redolab", engine.clock)
    assert outcome.error is None
    return outcome.run


def test_the_rest_of_the_settings_is_forecast_from_three(tmp_path: Path) -> None:
    run = scaling(tmp_path / "run", (1, 2, 4, 8, 16))
    scores, silences = held_out(run)
    # Costs from 1, 4 and 16 sessions; forecasts of 2 and 8.
    line = [item for item in scores if item.model == LINE and item.quantity == "throughput_per_s"]
    assert [item.observed for item in line] == pytest.approx(
        [count / (session_ns(count) * 1e-9) for count in (2, 8)], rel=2e-3
    )
    assert [item.forecast for item in line] == pytest.approx([item.observed for item in line], rel=2e-3)
    models = {item.model for item in scores}
    assert {"group commit, simulated", "exact MVA", "USL"} <= models
    assert not silences
    assert {item.low for item in scores} == {None}
    records = analyse(run)["league"]["records"]
    assert [part["record"] for part in records] == ["this_run"]
    beaten = records[0]["rows"]
    assert {row["forecasts"] for row in beaten if row["quantity"] == "throughput_per_s"} == {2}


@pytest.mark.parametrize("sessions", [(2, 4, 8, 16), (1, 8, 16)])
def test_a_run_without_a_lone_session_or_without_others_has_none(
    sessions: tuple[int, ...], tmp_path: Path
) -> None:
    assert held_out(scaling(tmp_path / "run", sessions)) == ((), ())
