"""How much may be simulated: events first, and the clock last."""

from __future__ import annotations

import time

import pytest

from redolab._core import GroupCommitParameters, SimulationTooLongError
from redolab.model.allowance import Allowance, OutOfTimeError
from redolab.model.distribution import constant
from redolab.model.group_commit import simulate

SMALL = GroupCommitParameters(sessions=2, cpus=2, commit_cpu=constant(1e-4), device=constant(1e-3))


def test_simulations_share_the_events_that_there_are() -> None:
    alone = simulate(SMALL, 1, 1_000)
    allowance = Allowance(2 * alone.events + 1)
    assert simulate(SMALL, 1, 1_000, allowance) == alone
    assert simulate(SMALL, 1, 1_000, allowance) == alone
    assert allowance.rest == 1
    with pytest.raises(SimulationTooLongError, match=f"takes more than {2 * alone.events + 1:,} events"):
        simulate(SMALL, 1, 1_000, allowance)
    # What was begun is spent: nothing shorter is tried after it.
    with pytest.raises(SimulationTooLongError, match="takes more than"):
        simulate(SMALL, 1, 1_000, allowance)


def test_threads_have_equal_parts_whichever_comes_first() -> None:
    allowance = Allowance(1_000)
    allowance.spent_on(lambda _: (None, 100))
    parts = allowance.divided(4)
    assert [part.left for part in parts] == [225] * 4
    parts[2].spent_on(lambda _: (None, 200))
    parts[3].spent_on(lambda _: (None, 25))
    allowance.give_back(parts)
    assert allowance.left == 675


def test_more_than_there_is_is_not_begun() -> None:
    allowance = Allowance(1_000)
    allowance.expect(1_000)
    with pytest.raises(SimulationTooLongError, match="takes more than 1,000 events"):
        allowance.expect(1_001)


def test_the_clock_is_the_last_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, clock = [0.0], [0.0]
    monkeypatch.setattr(time, "process_time", lambda: cpu[0])
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    allowance = Allowance(1_000, 5.0)
    cpu[0] = 4.9
    # Others have the CPUs.
    clock[0] = 14.9
    assert allowance.left == 1_000
    for of_cpu, passed in ((5.1, 14.9), (4.9, 15.1)):
        cpu[0], clock[0] = of_cpu, passed
        with pytest.raises(OutOfTimeError, match="after 5 s of CPU time"):
            simulate(SMALL, 1, 1_000, allowance)
    assert Allowance(1_000).left == 1_000
