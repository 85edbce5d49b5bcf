from __future__ import annotations

import math

import pytest

from redolab.stats.estimates import (
    MISSING,
    Estimate,
    mean_estimate,
    median_estimate,
    quotient_estimate,
    ratio_estimate,
    relative_half_width,
    skewed,
)


def test_mean_and_students_t_interval() -> None:
    found = mean_estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    # t(0.975, 4) = 2.776445, standard error sqrt(2.5/5) = 0.707107
    assert found.point == 3.0
    assert found.low == pytest.approx(3 - 2.776445 * 0.7071068, abs=1e-6)
    assert found.high == pytest.approx(3 + 2.776445 * 0.7071068, abs=1e-6)


def test_values_not_available_are_left_out() -> None:
    assert mean_estimate([None, 2.0, None]) == Estimate(2.0, None, None)
    assert mean_estimate([None]).as_json() == {
        "point": None,
        "low": None,
        "high": None,
        "level": 0.95,
    }


def test_equal_values_have_an_interval_of_no_width() -> None:
    found = mean_estimate([0.1] * 7)
    assert found.low == found.point == found.high == pytest.approx(0.1)
    assert mean_estimate([0.0, 0.0]) == Estimate(0.0, 0.0, 0.0)


def test_a_quotient_is_of_the_sums() -> None:
    found = quotient_estimate([(2, 1), (4, 3), (6, 5)])
    assert found.point == pytest.approx(4 / 3)
    assert found.low is not None
    assert found.high is not None
    # The residuals are 2/3, 0 and -2/3; t(0.975, 2) = 4.302653.
    assert found.high - found.low == pytest.approx(2 * 4.302653 * math.sqrt(8 / 9 / 2 * 3) / 9, abs=1e-6)


def test_a_quotient_over_equal_parts_is_the_mean() -> None:
    times = [1.0, 2.0, 3.0, 5.0]
    found, mean = quotient_estimate((10 * time, 10) for time in times), mean_estimate(times)
    assert [found.point, found.low, found.high] == pytest.approx([mean.point, mean.low, mean.high])


def test_a_quotient_needs_something_to_divide_by_and_two_samples_for_an_interval() -> None:
    assert quotient_estimate([]) == quotient_estimate([(1, 0), (2, 0)]) == MISSING
    assert quotient_estimate([(3, 2), (0, 0)]).point == 1.5
    assert quotient_estimate([(3, 2)]) == Estimate(1.5, None, None)


def test_ratio_is_the_geometric_mean() -> None:
    found = ratio_estimate([math.log(2), math.log(8)])
    assert found.point == pytest.approx(4)
    assert found.low is not None
    assert found.high is not None
    assert found.low * found.high == pytest.approx(16)


def test_an_interval_too_wide_for_a_float_has_no_end() -> None:
    found = ratio_estimate([0.0, 400.0])
    assert found.high is None
    assert found.as_json()["high"] is None


def test_scaled() -> None:
    assert Estimate(1.0, 0.5, None).scaled(1e3) == Estimate(1000.0, 500.0, None)


def test_a_median_is_not_carried_by_one_odd_value() -> None:
    found = median_estimate([8.0, 9.0, 10.0, 180.0, 8.5], seed=1)
    assert found.point == 9.0
    assert found.low is not None
    assert found.high is not None
    # Its ends are values that were measured.
    assert found.low in (8.0, 8.5)
    assert found.high in (10.0, 180.0)
    assert found == median_estimate([8.0, 9.0, 10.0, 180.0, 8.5], seed=1)
    assert median_estimate([3.0, 3.0, 3.0], seed=1) == Estimate(3.0, 3.0, 3.0)


def test_a_median_of_little() -> None:
    assert median_estimate([], seed=1) == MISSING
    assert median_estimate([7.0], seed=1) == Estimate(7.0, None, None)


def test_the_width_of_a_skewed_interval_is_the_one_that_it_was_made_from() -> None:
    for half in (0.001, 0.3, 0.999, 1.5, 12.7):
        assert relative_half_width(skewed(40.0, 40.0 * half, 0.95)) == pytest.approx(half)
    for half in (0.001, 0.3, 0.999):
        assert relative_half_width(Estimate(40.0, 40 * (1 - half), 40 * (1 + half))) == pytest.approx(half)
    assert relative_half_width(Estimate(40.0, None, None)) is None
    assert relative_half_width(MISSING) is None
