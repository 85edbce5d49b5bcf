"""The load that is bound by the CPUs: how much CPU work its pilot finds."""

from __future__ import annotations

import pytest

from redolab.errors import RefusedError
from redolab.experiment.base import Levels, Plan, Wish
from redolab.experiment.commit_mode.plan import EXPERIMENT
from redolab.records.load import Amount
from redolab.records.sample import Work

SESSIONS = 5


def pilot_of(flush_s: float, turn_s: float, cpus: int) -> tuple[list[int], object]:
    """A pilot on a server with such a flush, such a turn of the loop and so many CPUs."""
    asked: list[int] = []

    def pilot(_setting: str, amount: Amount, levels: Levels | None = None, /) -> Work:
        turns = int((levels or {}).get("cpu_turns", "0"))
        asked.append(turns)
        # All sessions share a flush; their CPU work is done side by side on the CPUs.
        commit_s = flush_s + SESSIONS * turns * turn_s / cpus
        commits = int(amount.seconds * SESSIONS / commit_s)
        return Work(commits, commits, 0, amount.seconds, amount.seconds, commits)

    return asked, pilot


def fitted(flush_s: float, turn_s: float = 20e-9, cpus: int = 2) -> tuple[Plan, float]:
    """The plan after the pilot, and the response time that its turns give."""
    _, pilot = pilot_of(flush_s, turn_s, cpus)
    plan = EXPERIMENT.fit(EXPERIMENT.plan(Wish(quick=True, load="cpu")), pilot)  # type: ignore[arg-type]
    turns = {levels["cpu_turns"] for levels in plan.combinations.values()}
    assert len(turns) == 1
    return plan, flush_s + SESSIONS * int(turns.pop()) * turn_s / cpus


@pytest.mark.parametrize("flush_s", [50e-6, 300e-6, 5e-3, 20e-3])
@pytest.mark.parametrize("turn_s", [2e-9, 20e-9, 500e-9])
def test_a_commit_takes_twelve_times_what_its_log_sync_can(flush_s: float, turn_s: float) -> None:
    _, response_s = fitted(flush_s, turn_s)
    assert response_s == pytest.approx(12 * (flush_s + 0.004), rel=0.3)
    assert flush_s < 0.1 * response_s


def test_other_loads_carry_no_cpu_work() -> None:
    asked, pilot = pilot_of(1e-3, 20e-9, 2)
    for load in (None, "hot", "io"):
        plan = EXPERIMENT.plan(Wish(quick=True, load=load))
        assert EXPERIMENT.fit(plan, pilot) == plan  # type: ignore[arg-type]
    assert asked == []


def test_a_pilot_that_commits_nothing_ends_the_run_in_a_sentence() -> None:
    def pilot(_setting: str, amount: Amount, _levels: Levels | None = None, /) -> Work:
        return Work(0, 0, 0, amount.seconds, amount.seconds, 0)

    with pytest.raises(RefusedError, match="committed nothing"):
        EXPERIMENT.fit(EXPERIMENT.plan(Wish(load="cpu")), pilot)


def test_a_loop_that_takes_no_time_ends_the_run_in_a_sentence() -> None:
    with pytest.raises(RefusedError, match="Use --load hot"):
        fitted(1e-3, turn_s=0.0)
