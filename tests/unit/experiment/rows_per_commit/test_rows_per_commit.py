"""Where the saving of many rows per commit is collected: exact curves, and simulated blocks."""

from __future__ import annotations

import numpy as np
import pytest

from redolab.experiment.rows_per_commit.saving import (
    collected,
    fit_decay,
    means,
    ratio_of_means,
    reached,
    saving,
    worst_misfit,
)
from redolab.stats.estimates import MISSING

ROWS = [2**power for power in range(16)]
# A row takes 2 us and a commit 60 us: n rows per commit bring 1 - 1/n of what can be saved.
EXACT = {rows: 2e-6 + 60e-6 / rows for rows in ROWS}
SHARE = {rows: (1 - 1 / rows) / (1 - 1 / 32768) for rows in ROWS}


def in_blocks(count: int, noise: float = 0.0, seed: int = 0) -> dict[int, dict[int, float]]:
    """The exact times with slow noise by block and quick noise by sample."""
    rng = np.random.default_rng(seed)
    slow = np.exp(rng.normal(0, 0.2, count))
    return {
        rows: {block: seconds * slow[block] * float(np.exp(rng.normal(0, noise))) for block in range(count)}
        for rows, seconds in EXACT.items()
    }


def test_a_curve_without_noise_is_read_exactly() -> None:
    times = in_blocks(7)
    for rows in ROWS:
        assert collected(times, rows).point == pytest.approx(SHARE[rows], rel=1e-12, abs=1e-12)
    assert saving(times).point == pytest.approx(60 * (1 - 1 / 32768) / 62)
    ninety, nearly_all = reached(times, 0.9), reached(times, 0.99)
    assert (ninety.low, ninety.point, ninety.high) == (16, 16, 16)
    assert (nearly_all.low, nearly_all.point, nearly_all.high) == (128, 128, 128)


def test_the_ends_are_the_whole_and_nothing() -> None:
    times = in_blocks(5, 0.1)
    whole, nothing = collected(times, 32768), collected(times, 1)
    assert (whole.low, whole.point, whole.high) == pytest.approx((1, 1, 1))
    assert (nothing.low, nothing.point, nothing.high) == pytest.approx((0, 0, 0))


def test_a_bump_is_smoothed() -> None:
    """One slow setting behind others that reach the share does not move the answer to its end."""
    times = {rows: dict.fromkeys((1, 2, 3), seconds) for rows, seconds in EXACT.items()}
    times[1024] = {1: 2.4e-6, 2: 3.0e-6, 3: 2.9e-6}
    share = collected(times, 1024).point
    assert share is not None
    assert share < 0.99
    assert reached(times, 0.99).point == 128


def test_without_a_saving_nothing_is_reached() -> None:
    level = {rows: {1: 1.0, 2: 1.1, 3: 0.9} for rows in ROWS}
    assert reached(level, 0.9) == MISSING
    assert collected(level, 32).point is None
    dearer = {1: {1: 1.0, 2: 1.1}, 32: {1: 1.2, 2: 1.3}}
    assert reached(dearer, 0.9) == MISSING


def test_one_block_gives_no_interval() -> None:
    times = in_blocks(1)
    share = collected(times, 32)
    assert share.point == pytest.approx(SHARE[32])
    assert (share.low, share.high) == (None, None)
    assert reached(times, 0.9) == MISSING


def test_blocks_that_lack_a_setting_are_left_out() -> None:
    times = in_blocks(6)
    del times[32][0]
    times[32][1] = EXACT[32] * 1000
    del times[1][1]
    assert collected(times, 32).point == pytest.approx(SHARE[32], rel=1e-12)


# 16 rows bring 93.753 % exactly: hardly enough for the one and hardly too little for the other.
@pytest.mark.parametrize("share", [0.9, 0.9375, 0.9376, 0.99])
def test_the_interval_of_where_a_share_is_reached_covers_it(share: float) -> None:
    truth = next(rows for rows in ROWS if SHARE[rows] >= share)
    trials = 400
    covered = 0
    for seed in range(trials):
        found = reached(in_blocks(7, 0.08, seed), share)
        assert found.low is not None
        assert found.point is not None
        assert found.high is not None
        assert found.low <= found.point <= found.high
        covered += found.low <= truth <= found.high
    assert covered >= 0.95 * trials


def test_the_interval_of_a_share_covers_it() -> None:
    trials, covered = 400, 0
    for seed in range(trials):
        found = collected(in_blocks(7, 0.08, seed), 32)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= SHARE[32] <= found.high
    # Two standard errors of 400 trials around 95 %.
    assert 0.925 * trials <= covered <= 0.975 * trials


def test_a_ratio_of_means_by_hand() -> None:
    found = ratio_of_means([2.0, 4.0], [1.0, 1.0])
    # With a fixed bottom Fieller's interval is that of the top's mean: 3 -+ t(0.975, 1) * 1.
    assert (found.low, found.point, found.high) == pytest.approx((3 - 12.706205, 3, 3 + 12.706205))


def test_a_bottom_that_may_be_zero_gives_no_interval() -> None:
    found = ratio_of_means([1.0, 1.0, 1.0], [1.0, -1.5, 2.0])
    assert found.point == pytest.approx(2.0)
    assert (found.low, found.high) == (None, None)


def test_the_fit_finds_the_curve_it_is_given() -> None:
    given = {rows: 3e-6 + 80e-6 / rows**0.8 for rows in ROWS}
    found = fit_decay(given)
    assert found is not None
    assert (found.floor, found.commit, found.power) == pytest.approx((3e-6, 80e-6, 0.8), rel=1e-5)
    assert worst_misfit(found, given) < 1e-6
    assert worst_misfit(found, given | {1: 2 * given[1]}) == pytest.approx(0.5, rel=1e-4)


def test_a_flat_series_is_fitted_without_a_warning() -> None:
    found = fit_decay(dict.fromkeys(ROWS, 5e-6))
    assert found is not None
    assert worst_misfit(found, dict.fromkeys(ROWS, 5e-6)) < 1e-3


def test_two_points_are_no_curve() -> None:
    assert fit_decay({1: 1.0, 2: 0.5}) is None


def test_means_leave_out_what_was_not_measured() -> None:
    found = means({4: {1: 2.0, 2: 8.0}, 1: {1: 5.0}, 2: {}})
    assert list(found) == [1, 4]
    assert list(found.values()) == pytest.approx([5.0, 4.0])


def test_one_slow_sample_does_not_decide() -> None:
    """A disk that stalls in one sample of seven moves 32 rows per commit by less than it does the mean."""
    times = in_blocks(7)
    times[32][3] *= 10
    share = collected(times, 32).point
    slow = sum(times[32].values()) / 7
    first, last = (sum(times[rows].values()) / 7 for rows in (1, 32768))
    assert share is not None
    assert (first - slow) / (first - last) < 0.9 < share
