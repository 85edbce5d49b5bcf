"""A run whose database breaks off: tried again where a connection was lost, told in plain words otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redolab.engine.fake import FakeEngine, FakeScript
from redolab.errors import ConnectionLostError, EngineError, RefusedError
from redolab.experiment import find_experiment
from redolab.experiment.base import Wish
from redolab.measure import runner
from redolab.records.sample import Setting
from tests.unit.measure.test_whole_run import NoProgress

EXPERIMENT = find_experiment("commit-mode")
PLAN = EXPERIMENT.plan(Wish(blocks=2, seconds=1.0, seed=7, settings=("wait/immediate", "nowait/immediate")))
SCRIPT = FakeScript(cpu_ns=20_000, run_queue_ns=5_000)
TOLD = "The database ended the run: it is tired. "
ADVICE = "Look at the server's log for the cause."
KEPT = "Every sample finished before is kept. "


class Broken(FakeEngine):
    """Breaks off when a setting is put in force, or when it is closed."""

    def __init__(self, error: Callable[[], Exception], at: tuple[int, ...], in_closing: bool = False) -> None:
        super().__init__(dict.fromkeys(PLAN.combinations, SCRIPT))
        self._error, self._at, self._in_closing = error, at, in_closing
        self.applied = 0

    def apply(self, setting: Setting) -> None:
        self.applied += 1
        if self.applied in self._at:
            raise self._error()
        super().apply(setting)

    def close(self) -> None:
        super().close()
        if self._in_closing:
            raise self._error()


def run(engine: Broken, place: Path) -> runner.Outcome:
    outcome = runner.run(EXPERIMENT, PLAN, engine, place / "run", NoProgress(), "redolab run", engine.clock)
    assert engine.closed
    return outcome


def tired() -> EngineError:
    return EngineError("it is tired")


def lost() -> EngineError:
    return ConnectionLostError("it is tired")


@pytest.mark.parametrize("at", [(3,), (3, 4), (1, 2, 6)])
def test_a_sample_whose_connection_is_lost_is_tried_again(at: tuple[int, ...], tmp_path: Path) -> None:
    engine = Broken(lost, at)
    outcome = run(engine, tmp_path)
    assert outcome.error is None
    assert len(outcome.run.samples) == engine.applied - len(at)


def test_the_third_lost_connection_ends_the_run(tmp_path: Path) -> None:
    outcome = run(Broken(lost, (3, 4, 5)), tmp_path)
    assert str(outcome.error) == TOLD + KEPT + ADVICE
    assert len(outcome.run.samples) == 2


def test_anything_else_ends_the_run_at_once_and_keeps_its_samples(tmp_path: Path) -> None:
    engine = Broken(tired, (3,))
    outcome = run(engine, tmp_path)
    assert engine.applied == 3
    assert isinstance(outcome.error, RefusedError)
    assert outcome.error.exit_code == 3
    assert str(outcome.error) == TOLD + KEPT + ADVICE
    assert outcome.run.manifest["error"] == TOLD + KEPT + ADVICE
    assert outcome.run.manifest["status"] == "failed"


def test_before_the_first_sample_nothing_is_kept_and_nothing_left(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as raised:
        run(Broken(tired, (1,)), tmp_path)
    assert str(raised.value) == TOLD + ADVICE
    assert not (tmp_path / "run").exists()


def test_what_breaks_off_in_closing_is_told_after_what_ended_the_run(tmp_path: Path) -> None:
    outcome = run(Broken(tired, (), in_closing=True), tmp_path)
    assert str(outcome.error) == TOLD + KEPT + ADVICE
    both = run(Broken(tired, (3,), in_closing=True), tmp_path / "second")
    assert str(both.error) == TOLD + KEPT + ADVICE + " " + TOLD + ADVICE
