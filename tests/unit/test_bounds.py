"""What may come from outside has an end: in bytes, and in time for the whole."""

from __future__ import annotations

import pytest

from redolab.bounds import Budget, OutOfBoundsError


def test_bytes_count_over_the_whole() -> None:
    budget = Budget(10, None)
    budget.take(4)
    budget.take(6)
    with pytest.raises(OutOfBoundsError, match="more than 10 bytes"):
        budget.take(1)


def test_a_drip_has_an_end() -> None:
    now = 0.0
    budget = Budget(1 << 20, 5.0, clock=lambda: now)
    for _ in range(4):
        now += 1.0
        budget.take(1)
    assert budget.left_s() == 1.0
    now += 1.0
    with pytest.raises(OutOfBoundsError, match="not done within 5 s"):
        budget.take(1)


def test_without_a_limit_of_time_there_is_none() -> None:
    now = 0.0
    budget = Budget(1 << 20, None, clock=lambda: now)
    now = 1e6
    budget.take(1)
    assert budget.left_s() is None
