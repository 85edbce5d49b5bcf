"""The error of a mean of values that follow each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from redolab.stats.serial import MeanError, difference, evened, mean_error, neighbours, worth


def noise(count: int, alike: float, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = np.zeros(count + 200)
    for place in range(1, len(values)):
        values[place] = alike * values[place - 1] + rng.normal()
    return values[200:]


def test_independent_values_have_about_the_error_of_independent_values() -> None:
    errors = [mean_error(noise(400, 0.0, seed)) for seed in range(200)]
    mean_square = np.mean([error.standard**2 for error in errors if error is not None])
    assert math.sqrt(mean_square) == pytest.approx(1 / math.sqrt(400), rel=0.1)


def test_values_that_take_after_the_one_before_have_the_error_of_theory() -> None:
    # Of an autoregression of 0.8 the mean varies as 1 / (1 - 0.8) independent ones would.
    errors = [mean_error(noise(400, 0.8, seed)) for seed in range(200)]
    mean_square = np.mean([error.standard**2 for error in errors if error is not None])
    assert math.sqrt(mean_square) == pytest.approx(5 / math.sqrt(400), rel=0.15)


def test_an_interval_holds_the_mean_as_often_as_it_says() -> None:
    held = 0
    for seed in range(1000):
        values = noise(100, 0.6, seed)
        error = mean_error(values)
        assert error is not None
        held += abs(values.mean()) <= error.half_width()
    assert 0.93 <= held / 1000 <= 0.97


def test_neighbours_are_told_without_the_bias_of_few() -> None:
    assert np.mean([neighbours(noise(30, 0.5, seed)) for seed in range(400)]) == pytest.approx(0.5, abs=0.04)


def test_worth_is_at_most_the_count_and_falls_with_likeness() -> None:
    assert worth(noise(500, 0.0)) == pytest.approx(500, rel=0.6)
    alike = worth(noise(500, 0.9))
    assert alike is not None
    assert alike < 80


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0, 3.0]])
def test_too_few_values_have_no_error(values: list[float]) -> None:
    assert mean_error(np.array(values)) is None
    assert worth(np.array(values)) is None
    assert neighbours(np.array(values)) is None


def test_equal_values_have_an_error_of_nothing_and_no_likeness() -> None:
    error = mean_error(np.full(20, 3.7))
    assert error is not None
    assert error.standard == pytest.approx(0, abs=1e-12)
    assert neighbours(np.full(20, 3.7)) is None


def test_a_difference_is_welchs() -> None:
    # Two errors of 3 and 4 with 10 degrees each: 5 together, with 25² / ((9² + 16²) / 10) degrees.
    found = difference(10.0, MeanError(3.0, 10.0), 0.0, MeanError(4.0, 10.0))
    assert found is not None
    error, pvalue = found
    assert error.standard == pytest.approx(5)
    assert error.degrees == pytest.approx(625 / 33.7)
    assert 0.05 < pvalue < 0.07
    assert difference(1.0, None, 2.0, MeanError(1.0, 5.0)) is None
    assert difference(1.0, MeanError(0.0, 5.0), 2.0, MeanError(0.0, 5.0)) is None


def test_short_pieces_are_put_together_so_that_neighbours_are_as_far_apart() -> None:
    values, lengths = evened(np.arange(15.0), np.array([10.0] * 12 + [60.0] * 3))
    assert lengths.tolist() == [50, 50, 80, 60, 60]
    assert values.mean() == pytest.approx(np.arange(15.0).mean())
    alike, same = evened(np.arange(5.0), np.array([10.0, 11.0, 9.0, 10.0, 10.0]))
    assert (alike.tolist(), same.tolist()) == ([0, 1, 2, 3, 4], [10, 11, 9, 10, 10])


def test_an_interval_holds_the_mean_of_pieces_of_two_lengths() -> None:
    held = 0
    for seed in range(1000):
        whole = noise(400, 0.8, seed)
        lengths = np.repeat([1.0, 10.0], [200, 20])
        sums = np.concatenate([whole[:200], whole[200:].reshape(20, 10).sum(axis=1)])
        error = mean_error(sums - whole.mean() * lengths, lengths)
        assert error is not None
        held += abs(sums.sum() / lengths.size) <= error.half_width()
    assert 0.93 <= held / 1000 <= 0.97
