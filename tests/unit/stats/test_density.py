from __future__ import annotations

import random

import numpy as np
import pytest

from redolab.stats.density import density, histogram, in_view


def test_a_density_integrates_to_one_and_peaks_at_the_middle() -> None:
    rng = random.Random(1)
    places, heights = density([rng.gauss(10, 1) for _ in range(400)])
    assert np.trapezoid(heights, places) == pytest.approx(1, abs=0.01)
    assert places[int(np.argmax(heights))] == pytest.approx(10, abs=0.5)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [3.0] * 9])
def test_nothing_to_smooth(values: list[float]) -> None:
    assert density(values) == ([], [])


def test_mostly_equal_values_still_have_a_width() -> None:
    places, heights = density([1.0] * 9 + [2.0])
    assert len(places) == len(heights) > 0
    assert all(np.isfinite(heights))


def test_times_have_no_density_below_zero() -> None:
    places, _ = density([0.1, 0.2, 5.0])
    assert min(places) > 0


def test_values_on_both_sides_of_zero_have_their_density_there() -> None:
    places, heights = density([rng / 10 for rng in range(-50, 51)])
    assert min(places) < -5
    assert np.trapezoid(heights, places) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("count", [2, 50, 5_000])
def test_the_bars_of_a_histogram_have_an_area_of_one(count: int) -> None:
    places, heights = histogram(np.random.default_rng(1).exponential(1, count))
    assert 5 <= len(places) == len(heights) <= 60
    assert sum(heights) * (places[1] - places[0]) == pytest.approx(1)


def test_equal_values_have_no_histogram() -> None:
    assert histogram(np.full(9, 3.0)) == ([], [])
    assert histogram(np.array([1.0])) == ([], [])


def test_a_far_value_is_left_out_of_the_view_and_near_ones_are_not() -> None:
    values = np.random.default_rng(1).normal(size=1_000)
    assert in_view(values).size == 1_000
    assert in_view(np.append(values, 1e6)).size == 1_000
    assert in_view(np.full(5, 2.0)).size == 5
