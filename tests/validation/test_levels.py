"""A sweep that may end after every block: how often does the interval of its level miss the right one?

Curves of every shape, under drift, autocorrelation, stalls and heavy tails. An interval after a block lies
inside those after the blocks before, so a run whose last interval holds the right level never missed it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from redolab.records.design import Design
from redolab.stats.blocks import BlockValues
from redolab.stats.levels import NumbersSoFar
from tests.validation.test_sequential import Floats

BLOCKS, RUNS = 20, 2
NUMBERS = (1, 2, 4, 8)
NAMES = {number: str(number) for number in NUMBERS}
RNG = np.random.default_rng(4181)
EDGE = 3 * 0.9499
CURVES = {
    "flat": (1, 1, 1, 1),
    "steep": (1, 2, 4, 8),
    "plateau": (1, 3, 3, 3),
    # A number that is short by 0.01 %, and one that is enough by 0.01 %: each is the easiest to miss.
    "just short": (1, EDGE, 3, 3),
    "just enough": (1, 3 * 0.9501, 3, 3),
    "falling": (3, 2.5, 2, 1),
    "rising and falling": (1, 3, 2.9, 1),
}
"""Rates by number."""


def white(samples: int) -> Floats:
    return RNG.normal(0, 1, samples)


def autocorrelated(samples: int) -> Floats:
    steps = RNG.normal(0, 1, samples)
    for place in range(1, samples):
        steps[place] += 0.8 * steps[place - 1]
    return steps


def drifting(samples: int) -> Floats:
    return RNG.normal(0, 1, samples) + np.linspace(0, 4, samples)


def stalls(samples: int) -> Floats:
    return -np.asarray(3 * RNG.exponential(1, samples) * (RNG.random(samples) < 0.2))


def heavy(samples: int) -> Floats:
    return np.asarray(RNG.standard_t(2, samples))


NOISES = (white, autocorrelated, drifting, stalls, heavy)


def drawn(rates: tuple[float, ...], noise: Callable[[int], Floats], seed: int, size: float) -> BlockValues:
    """A run of such rates, in an order that the design's own code draws."""
    order = Design(tuple(NAMES.values()), "1", BLOCKS, seconds=1, warmup_s=0, seed=seed).order()
    found: dict[int, dict[tuple[str, str], float]] = {}
    for trial, error in zip(order, size * noise(len(order)), strict=True):
        rate = rates[NUMBERS.index(int(trial.setting))]
        found.setdefault(trial.block, {})[trial.setting, trial.role] = math.log(rate) + float(error)
    return found


def enough(rates: tuple[float, ...]) -> int:
    return next(n for n, rate in zip(NUMBERS, rates, strict=True) if rate >= 0.95 * max(rates))


@pytest.mark.parametrize("size", [0.01, 0.05])
def test_the_right_level_is_never_ruled_out_in_95_of_100_runs(size: float) -> None:
    missed = []
    for rates in CURVES.values():
        for noise in NOISES:
            for seed in range(RUNS):
                found = NumbersSoFar(drawn(rates, noise, seed, size), NAMES).near_best(0.05)
                assert found.low is not None
                missed.append(not found.low <= enough(rates) <= (found.high or 0))
    assert np.mean(missed) <= 0.05


def test_the_fewest_of_a_saving_are_never_ruled_out_in_95_of_100_runs() -> None:
    missed = []
    for commit in (0.9, 20.0):
        times = [1 + commit / rows for rows in NUMBERS]
        for noise in NOISES:
            for seed in range(RUNS):
                blocks = drawn(tuple(1 / time for time in times), noise, seed, 0.05)
                for share, found in NumbersSoFar(blocks, NAMES).of_saving({0.5: 2.0, 0.9: 4.0}).items():
                    line = share * times[-1] + (1 - share) * times[0]
                    right = next(n for n, time in zip(NUMBERS, times, strict=True) if time <= line)
                    known = found.low is not None and found.high is not None
                    missed.append(known and not (found.low or 0) <= right <= (found.high or 0))
    assert np.mean(missed) <= 0.05


def test_later_intervals_lie_inside_earlier_ones() -> None:
    blocks = drawn(CURVES["plateau"], white, 1, 0.05)
    ends = []
    for last in range(4, BLOCKS + 1, 4):
        so_far = {block: values for block, values in blocks.items() if block <= last}
        found = NumbersSoFar(so_far, NAMES).near_best(0.05)
        ends.append((found.low or 0, found.high or 0))
    lows, highs = zip(*ends, strict=True)
    assert list(lows) == sorted(lows)
    assert list(highs) == sorted(highs, reverse=True)
    assert ends[0] == (1, 8)
    assert ends[-1] != ends[0]
