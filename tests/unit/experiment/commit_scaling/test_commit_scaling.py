"""The published report's columns, and where throughput stops to grow."""

from __future__ import annotations

import numpy as np
import pytest

from redolab.experiment.commit_scaling import answer
from redolab.experiment.commit_scaling.growth import PublishedWait, enough, greatest, ratio, single_server
from redolab.stats.estimates import MISSING, Estimate

RATES = {1: 1000.0, 2: 1900.0, 5: 4000.0, 10: 5800.0, 20: 5900.0}


def in_blocks(count: int, noise: float, seed: int = 0) -> dict[int, dict[int, float]]:
    rng = np.random.default_rng(seed)
    slow = np.exp(rng.normal(0, 0.2, count))
    return {
        sessions: {block: rate * slow[block] * float(np.exp(rng.normal(0, noise))) for block in range(count)}
        for sessions, rate in RATES.items()
    }


def test_an_event_by_hand() -> None:
    event = PublishedWait("log write", elapsed_s=20.0, waits=5000, time_s=4.0)
    assert event.per_second == 250
    assert event.per_hour == 900_000
    assert event.average_ms == pytest.approx(0.8)
    assert event.busy == pytest.approx(0.2)


def test_an_event_of_unknown_length() -> None:
    event = PublishedWait("log write", elapsed_s=20.0, waits=5000, time_s=None)
    assert (event.average_ms, event.busy) == (None, None)
    assert PublishedWait("log write", 20.0, 0, 0.0).average_ms is None


def test_throughput_without_noise_is_read_exactly() -> None:
    rates = in_blocks(6, 0.0)
    assert greatest(rates) == 20
    assert ratio(rates, 10, 1).point == pytest.approx(5.8)
    found = enough(rates, margin=0.05)
    assert (found.low, found.point, found.high) == (10, 10, 10)
    assert enough(rates, margin=0.01).point == 20


def test_past_the_greatest_nothing_is_enough() -> None:
    rates = {1: {1: 10.0, 2: 10.0}, 2: {1: 20.0, 2: 20.0}, 4: {1: 19.5, 2: 19.5}}
    assert greatest(rates) == 2
    assert enough(rates, 0.05).point == 2


def test_one_block_gives_a_point_alone() -> None:
    found = enough(in_blocks(1, 0.0), 0.05)
    assert (found.low, found.point, found.high) == (None, 10, None)


def test_nothing_measured_is_nothing_found() -> None:
    assert greatest({}) is None
    assert enough({1: {}, 2: {}}, 0.05) == MISSING
    assert enough({1: {1: 5.0}, 2: {2: 9.0}}, 0.05) == MISSING


def test_the_interval_covers_the_sessions_that_are_enough() -> None:
    """A setting half a margin inside or outside the line is told by 10 blocks, or the interval has both."""
    trials = 400
    covered = 0
    for seed in range(trials):
        found = enough(in_blocks(10, 0.04, seed), 0.05)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 10 <= found.high
    assert covered >= 0.94 * trials


def test_the_single_server_curve_ends_before_its_wall() -> None:
    rates, times = single_server(0.001, 5000.0)
    assert rates[-1] == pytest.approx(980)
    assert times[0] == pytest.approx(0.001 / (1 - 0.001 * rates[0]))
    assert times[-1] == pytest.approx(0.05)
    assert times == sorted(times)
    low, _ = single_server(0.001, 500.0)
    assert low[-1] == pytest.approx(500)


def test_a_ratio_that_is_not_known_is_not_nought() -> None:
    assert answer._times(MISSING) == "an unknown number of times"
    assert answer._times(Estimate(3.0, 2.5, 3.5)) == "3.00 times (2.50 to 3.50)"
