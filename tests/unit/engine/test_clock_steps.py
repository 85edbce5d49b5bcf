"""The server's clock is set inside a sample: the sample does not count, whichever way the clock went."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from redolab.engine.fake import FakeEngine, FakeScript
from redolab.experiment import find_experiment
from redolab.experiment.answers import analyse
from redolab.experiment.base import Wish
from redolab.measure import runner
from redolab.measure.difference import clock_step
from redolab.records.sample import ServerClock, Snapshot
from redolab.report.page.html import render

EXPERIMENT = find_experiment("commit-mode")
SCRIPT = FakeScript(cpu_ns=20_000, run_queue_ns=5_000, commits_per_flush=4, flush_ns=40_000)


class NoProgress:
    """Nobody watches."""

    def begin(self, samples: int, seconds: float) -> None:
        """Nothing."""

    def news(self, text: str) -> None: ...

    def advance(self, setting: str) -> None:
        """Nothing."""


def snapshot(asked_s: float, at_s: float, answered_s: float) -> Snapshot:
    return Snapshot(answered_s, "one", {}, None, None, (), ServerClock(asked_s, at_s, answered_s))


def seen(elapsed_s: float, step_s: float, round_trip_s: float = 0.0002, place: float = 0.5) -> str | None:
    """What is said of two snapshots `elapsed_s` apart; the server answers at `place` of a round trip."""
    epoch_s, at_s = 1.8e9, 100.0
    before = snapshot(at_s, epoch_s + place * round_trip_s, at_s + round_trip_s)
    at_s += elapsed_s
    after = snapshot(at_s, epoch_s + elapsed_s + (1 - place) * round_trip_s + step_s, at_s + round_trip_s)
    return clock_step(before, after)


@pytest.mark.parametrize("step_s", [3600.0, -0.5, 0.2, -0.2, -20.0, 1e9, 0.05])
def test_a_step_is_seen(step_s: float) -> None:
    said = seen(1.1, step_s)
    assert said is not None
    assert "it was set, or its machine was stopped" in said


def test_the_step_is_told_in_seconds() -> None:
    assert seen(1.1, 3600.0) == (
        "the server's clock went 3,601 s while 1.10 s passed: it was set, or its machine was stopped"
    )


@pytest.mark.parametrize("elapsed_s", [0.01, 0.1, 1.0, 90.0, 86_400.0])
@pytest.mark.parametrize("round_trip_s", [0.0, 0.0002, 0.05, 2.0])
@pytest.mark.parametrize("place", [0.0, 0.3, 1.0])
def test_a_clock_that_nobody_set_spoils_nothing(elapsed_s: float, round_trip_s: float, place: float) -> None:
    # A clock that is slewed goes 0.05 % too fast or too slow; the answer is made anywhere in the round trip.
    for rate in (-0.0005, 0.0, 0.0005):
        assert seen(elapsed_s, rate * elapsed_s, round_trip_s, place) is None


def test_a_step_shorter_than_the_round_trips_is_not_told_from_them() -> None:
    assert seen(1.0, 0.3, round_trip_s=0.5) is None
    assert seen(1.0, 0.3, round_trip_s=0.01) is not None


def test_an_engine_that_times_by_its_own_clock_has_no_steps() -> None:
    assert clock_step(Snapshot(0.0, "", {}, None, None, ()), Snapshot(1.0, "", {}, None, None, ())) is None


@pytest.mark.parametrize("step_s", [3600.0, -0.5, -0.999, -30.0])
def test_a_whole_run_keeps_such_samples_and_does_not_count_them(tmp_path: Path, step_s: float) -> None:
    # Every second work is a warm-up: the first step falls into the sample 4, the second between two samples.
    plan = EXPERIMENT.plan(Wish(blocks=6, seconds=1.0, seed=7))
    engine = FakeEngine(dict.fromkeys(plan.combinations, SCRIPT), clock_steps={8: step_s, 11: step_s})
    plan = dataclasses.replace(plan, design=dataclasses.replace(plan.design, warmup_s=0.5))
    outcome = runner.run(
        EXPERIMENT, plan, engine, tmp_path / "run", NoProgress(), "redolab run", engine.clock
    )  # fmt: skip
    assert outcome.error is None
    spoiled = {row["sample"]: row["spoiled"] for row in outcome.run.samples.to_pylist() if row["spoiled"]}
    assert list(spoiled) == [4]
    assert "it was set" in spoiled[4]
    results = analyse(outcome.run)
    assert sum(setting["spoiled"] for setting in results["settings"]) == 1
    assert "it was set" in render(results)
