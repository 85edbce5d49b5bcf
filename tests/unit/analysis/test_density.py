from __future__ import annotations

import random

import numpy as np
import pytest

from redolab.analysis.density import density


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
