from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats

from redolab.stats.plus_and_minus import (
    NORMAL_SHARE,
    group_means,
    normal_coverage,
    normal_inside,
    plus_and_minus,
    prediction_interval,
)


def test_groups_are_cut_in_order_without_reuse() -> None:
    means, size = group_means(np.arange(11.0))
    assert size == 3
    assert means.tolist() == [1, 4, 7]
    means, size = group_means(np.arange(11.0), 2)
    assert (means.tolist(), size) == ([2, 7], 5)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_too_few_values_give_no_means(count: int) -> None:
    assert group_means(np.arange(float(count)))[0].size == 0


def test_an_array_and_a_list_give_the_same() -> None:
    values = [3.0, 5.0, 4.0, 9.0]
    assert dataclasses.astuple(plus_and_minus(np.array(values))) == pytest.approx(
        dataclasses.astuple(plus_and_minus(values))
    )


def test_the_prediction_interval_is_students() -> None:
    found = prediction_interval([1.0, 2.0, 3.0, 4.0, 5.0], 0.9)
    reach = stats.t.ppf(0.95, 4) * np.sqrt(2.5) * np.sqrt(1.2)
    assert (found.low, found.high) == pytest.approx((3 - reach, 3 + reach))
    assert prediction_interval([1.0]).low is None
    assert prediction_interval([]).point is None


def test_two_deviations_of_few_means_hold_less_than_of_many() -> None:
    assert normal_coverage(5) == pytest.approx(0.858, abs=0.0005)
    assert normal_coverage(1_000_000) == pytest.approx(NORMAL_SHARE, abs=1e-5)
    assert pytest.approx(0.9545, abs=5e-5) == NORMAL_SHARE


@pytest.mark.parametrize("groups", [3, 5, 30])
def test_the_part_inside_of_their_own_mean(groups: int) -> None:
    means = np.random.default_rng(groups).normal(size=(40_000, groups))
    centre, spread = means.mean(axis=1, keepdims=True), means.std(axis=1, ddof=1, keepdims=True)
    share = float((np.abs(means - centre) <= 2 * spread).mean())
    assert normal_inside(groups) == pytest.approx(share, abs=0.002)
