"""What calibrations found, as a prior of servers that were only seen."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import replace

import pytest

from redolab.forecast.asked import changed
from redolab.forecast.costs.costs import Scenario, parameters
from redolab.forecast.costs.inferred.priors import between, prior_costs, prior_of
from redolab.forecast.costs.logs import BINLOG, REDO, Logs
from redolab.forecast.models.quantities import simulation
from tests.forecasts import POINT


@pytest.mark.parametrize(
    ("engine", "logs", "found", "own"),
    [
        ("postgresql", 1, ("postgresql", 1), True),
        ("embedded", 1, ("postgresql", 1), True),
        ("mariadb", 2, ("mariadb", 2), True),
        ("mariadb", 1, ("mariadb", 1), True),
        ("mysql", 2, ("mysql", 2), True),
        ("oracle", 1, ("postgresql", 1), False),
        ("postgresql", 2, ("mariadb", 2), False),
    ],
)
def test_the_nearest_prior_is_taken(engine: str, logs: int, found: tuple[str, int], own: bool) -> None:
    nearest = prior_of(engine, logs)
    assert (nearest.prior.engine, nearest.prior.logs) == found
    assert (nearest.prior.loop, nearest.own) == ("client", own)


def test_the_priors_are_of_one_machine_and_say_so() -> None:
    prior = prior_of("postgresql", 1).prior
    assert prior.one_machine
    assert prior.spread == 2.0
    assert prior.calibrations >= 1


@pytest.mark.parametrize("engine", ["postgresql", "mariadb", "mysql"])
@pytest.mark.parametrize("cpus", [1, 2, 64])
def test_every_prior_can_be_simulated(engine: str, cpus: int) -> None:
    for logs in (Logs(), Logs((REDO, BINLOG))):
        costs = prior_of(engine, len(logs.columns)).prior.shape(logs, cpus)
        counts = [sessions for sessions, _ in costs.transaction_cpu_s]
        assert counts == sorted(set(counts))
        assert simulation(costs, Scenario(8), 1_000)["throughput_per_s"] > 0
        assert simulation(costs, Scenario(8, rows_per_commit=8, commit_wait="nowait"), 1_000)


def test_costs_on_another_machine_are_off_by_twice_or_half() -> None:
    prior, rng = prior_of("postgresql", 1).prior, random.Random(1)
    off = [math.log(prior.drawn(rng).wake_s / prior.wake_s) for _ in range(2_000)]
    assert statistics.fmean(off) == pytest.approx(0, abs=0.03)
    inside = sum(abs(one) < math.log(2) for one in off) / len(off)
    assert inside == pytest.approx(0.95, abs=0.02)


def test_what_a_calibration_has_comes_back() -> None:
    found = prior_costs(POINT)
    assert found["transaction_s"] == [[0.5, 45e-6], [4.0, 55e-6]]
    assert found["row_bytes"] == pytest.approx(110 / 210)
    assert math.fsum(found["flush"]) / len(found["flush"]) == pytest.approx(1)
    assert between([1.0, 4.0]) == pytest.approx(2)
    assert between([0.0, 4.0]) == 2
    assert between([[1.0, 1.0], [4.0, 9.0]]) == pytest.approx([2, 3])


def test_another_device_is_as_variable_as_the_one_that_was_only_seen() -> None:
    seen, asked = replace(POINT, only_seen=True), Scenario(8, log_device_ms=0.5)
    quicker, slower = (parameters(seen, one).device for one in (asked, Scenario(8, log_device_ms=5.0)))
    for device, asked_s in ((quicker, 0.5e-3), (slower, 5e-3)):
        assert device.mean_s + POINT.flush_cpu_s == pytest.approx(asked_s)
        spread = max(device.values) / min(device.values)
        assert spread == pytest.approx(max(POINT.flush_s) / min(POINT.flush_s))
    # What was measured stays: a quicker flush cannot be promised.
    assert parameters(POINT, asked).device.mean_s == min(POINT.flush_s)


def test_arrivals_do_not_think() -> None:
    thinking = Scenario(8, think_time_ms=20.0)
    assert changed(thinking, {"arrival_rate_per_s": 10.0}).think_time_ms == 0
    assert changed(thinking, {"sessions": 4}).think_time_ms == 20
