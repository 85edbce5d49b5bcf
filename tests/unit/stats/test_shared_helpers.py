"""Holm, and the fewest that are enough: one helper each."""

from __future__ import annotations

import pytest

from redolab.stats.enough import fewest_enough, fewest_enough_interval
from redolab.stats.estimates import MISSING, Estimate
from redolab.stats.families import holm


def test_holm_by_hand() -> None:
    # The smallest times 3, the next times 2, the largest as it is; never below one before it.
    assert holm([0.03, None, 0.01, 0.04]) == pytest.approx([0.06, None, 0.03, 0.06])
    assert holm([None, None]) == [None, None]
    assert holm([]) == []


def test_the_fewest_that_are_enough() -> None:
    assert fewest_enough({1: 50.0, 2: 94.9, 4: 95.0, 8: 100.0}, 0.95) == 4
    with pytest.raises(ValueError, match="empty"):
        fewest_enough({}, 0.95)


def test_the_interval_holds_all_that_cannot_be_ruled_out() -> None:
    beyond = [
        Estimate(-3.0, -4.0, -2.0),
        Estimate(-1.0, -2.0, 0.5),
        Estimate(1.0, -0.5, 2.0),
        Estimate(2.0, 1.0, 3.0),
    ]
    assert fewest_enough_interval(4, (1, 2, 4, 8), beyond) == Estimate(4.0, 2.0, 8.0)
    assert fewest_enough_interval(4, (4, 8), [*beyond[2:3], MISSING]) == Estimate(4.0, None, None)
    assert fewest_enough_interval(1, (1, 2), [Estimate(1.0, 0.5, 2.0)] * 2) == Estimate(1.0, 1.0, 1.0)
