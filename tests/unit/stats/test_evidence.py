"""Evidence after every block: its definition, what it may never do, and the interval that belongs to it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from redolab.stats.evidence import BETS, log_evidence, pvalue, shift_interval

Floats = npt.NDArray[np.float64]
RNG = np.random.default_rng(41)


def test_equal_differences_are_a_coin_tossed() -> None:
    """Of equal size, differences count by their sign: a likelihood ratio of two coins."""
    signs = RNG.choice([-1.0, 1.0], 30)
    heads = int((signs > 0).sum())
    ratios = [
        stats.binom.pmf(heads, 30, math.exp(bet) / (2 * math.cosh(bet))) / stats.binom.pmf(heads, 30, 0.5)
        for bet in (*BETS, *(-bet for bet in BETS))
    ]
    assert math.exp(log_evidence(signs[None])[-1]) == pytest.approx(np.mean(ratios))


@pytest.mark.parametrize("sizes", [RNG.uniform(0.1, 5, 9), RNG.standard_cauchy(9), np.arange(1, 10.0)])
def test_its_mean_over_all_signs_is_one(sizes: Floats) -> None:
    """Under no difference each sign is as likely as the other, whatever the sizes are."""
    flipped = [sizes * signs for signs in itertools.product((-1.0, 1.0), repeat=sizes.size)]
    for blocks in (1, 4, 9):
        evidence = [math.exp(log_evidence(each[None])[blocks - 1]) for each in flipped]
        assert np.mean(evidence) == pytest.approx(1)


def test_the_unit_does_not_matter_and_no_later_block_changes_an_earlier_one() -> None:
    differences = RNG.normal(0.3, 1, (2, 20))
    whole = log_evidence(differences)
    assert whole.shape == (20,)
    assert log_evidence(1_000 * differences) == pytest.approx(whole)
    assert log_evidence(differences[:, :7]) == pytest.approx(whole[:7])
    assert log_evidence(differences, [[0.0, 0.3], [0.1, 9.0]]).shape == (20, 2, 2)
    assert log_evidence(differences, 0.3) == pytest.approx(log_evidence(differences - 0.3))


def test_two_samples_of_the_baseline_have_the_mean_of_their_evidence() -> None:
    differences = RNG.normal(0.5, 1, (2, 12))
    alone = [np.exp(log_evidence(row[None])) for row in differences]
    assert np.exp(log_evidence(differences)) == pytest.approx(np.mean(alone, axis=0))


def test_a_block_at_most_doubles_it_and_eight_are_enough_for_a_great_difference() -> None:
    differences = np.full((2, 30), 3.0) + RNG.normal(0, 0.1, (2, 30))
    steps = np.diff(log_evidence(differences))
    assert (steps <= math.log(2) + 1e-12).all()
    assert pvalue(differences[:, :8]) < 0.05 / 3 <= pvalue(differences[:, :7])


def test_what_was_once_known_stays_known() -> None:
    differences = np.concatenate([np.full(9, 1.0), np.full(40, 0.0)])[None]
    assert pvalue(differences) == pvalue(differences[:, :9])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_interval_leaves_out_zero_exactly_where_the_pvalue_is_small(seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    differences = rng.normal(rng.choice([0, 0.5, 1.0]), 1, (2, int(rng.integers(10, 50))))
    interval = shift_interval(differences, level)
    if interval.low is None or interval.high is None:
        pytest.fail("ten blocks rule out far shifts")
    assert interval.point is not None
    assert interval.low <= interval.point <= interval.high
    assert interval.level == level
    assert (not interval.low <= 0 <= interval.high) == (pvalue(differences) <= 1 - level)


def test_an_interval_moves_with_its_differences_and_is_as_wide_on_either_side() -> None:
    differences = RNG.normal(0, 0.1, (2, 25))
    here, there = shift_interval(differences, 0.95), shift_interval(differences + 3, 0.95)
    mirrored = shift_interval(-differences, 0.95)
    for end, moved, other in ((here.low, there.low, mirrored.high), (here.high, there.high, mirrored.low)):
        assert end is not None
        assert moved == pytest.approx(end + 3, abs=1e-6)
        assert other == pytest.approx(-end, abs=1e-6)


def test_few_blocks_rule_nothing_out() -> None:
    for blocks in (1, 2, 4):
        interval = shift_interval(np.full((2, blocks), 2.0), 0.95)
        assert (interval.point, interval.low, interval.high) == (2.0, None, None)
        assert pvalue(np.full((2, blocks), 2.0)) > 0.05


def test_equal_blocks_have_an_interval_without_width() -> None:
    interval = shift_interval(np.full((2, 12), 0.5), 0.95)
    assert (interval.point, interval.low, interval.high) == pytest.approx((0.5, 0.5, 0.5))
    assert pvalue(np.zeros((1, 12))) == 1.0


def test_a_difference_that_changes_has_no_interval() -> None:
    """No single shift explains both halves."""
    halves = np.concatenate([np.full(20, -1.0), np.full(20, 1.0)]) + RNG.normal(0, 0.01, 40)
    interval = shift_interval(halves[None], 0.95)
    assert interval.low is None
    assert interval.high is None
