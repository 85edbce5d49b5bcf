"""Costs solved from what was seen: a made-up server is simulated, and its costs are found again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from redolab.forecast.costs.costs import Costs, Scenario, SecondCosts
from redolab.forecast.costs.inferred.fit import Fitted, Workload, fit, simulated_today
from redolab.forecast.costs.inferred.priors import Prior, prior_costs
from redolab.forecast.costs.logs import BINLOG, REDO, Logs
from redolab.forecast.models.quantities import simulation

COMMITS = 20_000
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "twice the sessions": {"sessions": 16},
    "half the sessions": {"sessions": 4},
    "8 rows": {"rows_per_commit": 8},
    "32 rows": {"rows_per_commit": 32},
    "nowait": {"commit_wait": "nowait"},
    "half the device": {"log_device_ms": 1.5},
    "three times the device": {"log_device_ms": 9.0},
}
POSTGRES = Costs(
    loop="client", cpus=2, transaction_cpu_s=((1, 60e-6), (2, 50e-6), (64, 66e-6)),
    row_cpu_s=((1, 40e-6), (2, 38e-6), (32, 44e-6)), flush_cpu_s=25e-6, wake_s=18e-6, commit_bytes=120.0,
    row_bytes=130.0, flush_s=tuple(3.05e-3 + 5e-6 * step for step in range(41)), device_s_per_byte=1e-9,
    client_s=((1, 22e-6), (2, 22e-6), (64, 25e-6)), client_wake_s=9e-6, hand_over_exit_s=12e-6,
    served_s=((1, 8e-6), (32, 16e-6)), available=0.94, available_waiting=0.92, cold_s=6e-6,
)  # fmt: skip
MARIADB = replace(
    POSTGRES, handed_on=True, transaction_cpu_s=((1, 120e-6), (2, 100e-6), (64, 130e-6)),
    second=SecondCosts(25e-6, tuple(3.05e-3 + 5e-6 * step for step in range(41)), False, 0.02e-3),
    device_s_per_byte=0.0,
)  # fmt: skip
SYSTEMS = {"postgresql": POSTGRES, "mariadb": MARIADB}
LOGS = {"postgresql": Logs(), "mariadb": Logs((REDO, BINLOG))}
TODAY = Scenario(8)


def prior_from(costs: Costs) -> Prior:
    """What a calibration of such a server would be learned as."""

    def fixed(value: Any) -> Any:
        return tuple(map(fixed, value)) if isinstance(value, list) else value

    ratios = {name: fixed(value) for name, value in prior_costs(costs).items()}
    return Prior("made up", 1, costs.loop, 1, 2.0, one_machine=True, **ratios)


def shape_of(name: str, prior: Prior | None = None) -> Costs:
    costs = SYSTEMS[name]
    shape = (prior or prior_from(costs)).shape(LOGS[name], costs.cpus)
    return replace(shape, handed_on=costs.handed_on)


def seen_of(costs: Costs, scenario: Scenario, timed: bool, local: bool = True) -> Workload:
    """What is seen of a server with such costs."""
    it = simulated_today(costs, scenario, COMMITS)
    return Workload(
        sessions=scenario.sessions,
        cpus=costs.cpus,
        commits_per_s=it.commits_per_s,
        rows_per_commit=scenario.rows_per_commit,
        server_cpu_s=it.server_cpu_s,
        client_cpu_s=it.client_cpu_s if local else None,
        busy_s=it.on_cpu_s + it.waiting_s,
        flush_s=it.flush_s if timed else None,
        # On one device a flush of either log waits for the other's, and takes as long by the clock.
        second_flush_s=it.flush_s if timed and costs.second else None,
        waiting_s=it.waiting_s,
        commits_per_flush=it.commits_per_flush,
        log_bytes=costs.commit_bytes + scenario.rows_per_commit * costs.row_bytes,
        commit_wait=scenario.commit_wait,
    )


def ratio(costs: Costs, scenario: Scenario, changed: Scenario) -> float:
    now, then = (simulation(costs, one)["throughput_per_s"] for one in (scenario, changed))
    return then / now


def scaled_device(costs: Costs, factors: Mapping[str, Any], scenario: Scenario) -> float:
    """The truth of a change: a quicker device is one whose flushes are shorter by as much."""
    if "log_device_ms" not in factors:
        return ratio(costs, scenario, replace(scenario, **factors))
    return ratio(replace(costs, only_seen=True), scenario, replace(scenario, **factors))


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("name", SYSTEMS)
def test_what_today_costs_is_found_again(name: str, timed: bool) -> None:
    costs = SYSTEMS[name]
    seen = seen_of(costs, TODAY, timed)
    found = fit(seen, shape_of(name))
    it = found.simulated
    assert it.commits_per_s == pytest.approx(seen.commits_per_s, rel=0.03)
    assert it.server_cpu_s == pytest.approx(seen.server_cpu_s, rel=0.04)
    assert it.client_cpu_s == pytest.approx(seen.client_cpu_s, rel=0.04)
    assert found.calibration.flush_mean_s == pytest.approx(costs.flush_mean_s, rel=0.05)
    assert found.calibration.transaction_with(8) == pytest.approx(costs.transaction_with(8), rel=0.05)
    assert (found.think_s, found.other_s) == (0.0, 0.0)


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("name", SYSTEMS)
def test_changes_are_forecast_as_with_the_true_costs(name: str, timed: bool) -> None:
    costs = SYSTEMS[name]
    found = fit(seen_of(costs, TODAY, timed), shape_of(name)).calibration
    off = {
        change: ratio(found, TODAY, replace(TODAY, **factors)) / scaled_device(costs, factors, TODAY)
        for change, factors in CHANGES.items()
    }
    assert max(abs(one - 1) for one in off.values()) < 0.06, off


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_prior_that_is_off_moves_a_forecast_by_less(name: str) -> None:
    costs = SYSTEMS[name]
    prior = prior_from(costs).drawn(random.Random(3))
    assert prior != prior_from(costs)
    found = fit(seen_of(costs, TODAY, timed=True), shape_of(name, prior)).calibration
    for change in ("twice the sessions", "half the sessions", "three times the device"):
        factors = CHANGES[change]
        truth = scaled_device(costs, factors, TODAY)
        assert ratio(found, TODAY, replace(TODAY, **factors)) == pytest.approx(truth, rel=0.15), change


def test_logs_on_devices_of_their_own_are_told_by_the_clock() -> None:
    second = SecondCosts(25e-6, tuple(10e-3 + 5e-6 * step for step in range(41)), own_device=True)
    costs = replace(MARIADB, second=second)
    seen = replace(seen_of(costs, TODAY, timed=True), second_flush_s=second.flush_mean_s + 25e-6)
    assert seen.apart
    found = fit(seen, shape_of("mariadb")).calibration
    assert found.second is not None
    assert found.second.own_device
    assert found.second.flush_mean_s == pytest.approx(second.flush_mean_s, rel=0.05)
    assert found.flush_mean_s == pytest.approx(costs.flush_mean_s, rel=0.05)


def test_where_commits_wait_for_the_second_log_alone_each_clock_is_its_own() -> None:
    scenario = replace(TODAY, commit_wait="binlog")
    seen = replace(seen_of(MARIADB, scenario, timed=True), flush_s=2e-3, second_flush_s=3.2e-3)
    assert not seen.apart
    found = fit(seen, shape_of("mariadb"))
    assert found.calibration.second is not None
    assert found.calibration.second.flush_mean_s == pytest.approx(3.2e-3 - 25e-6, rel=0.05)
    assert found.flush_s == pytest.approx(2e-3, rel=0.01)
    assert found.simulated.commits_per_s == pytest.approx(seen.commits_per_s, rel=0.05)


def test_a_change_of_unit_changes_nothing() -> None:
    seen = seen_of(POSTGRES, TODAY, timed=True)
    prior = prior_from(POSTGRES)
    other = replace(prior.shape(Logs(), 2), commit_bytes=1.0, row_bytes=13.0 / 12.0)
    one, two = fit(seen, prior.shape(Logs(), 2)), fit(seen, other)
    assert one.calibration.commit_bytes == pytest.approx(two.calibration.commit_bytes, rel=0.01)
    assert one.calibration.row_bytes == pytest.approx(130.0, rel=0.01)


def test_think_time_is_what_sessions_are_away_beside_their_clients_work() -> None:
    thinking = Scenario(8, think_time_ms=20.0)
    found = fit(seen_of(POSTGRES, thinking, timed=True), shape_of("postgresql"))
    assert found.think_s == pytest.approx(20e-3, rel=0.03)
    assert found.simulated.commits_per_s == pytest.approx(
        simulated_today(POSTGRES, thinking, COMMITS).commits_per_s, rel=0.03
    )


def test_clients_elsewhere_take_no_cpu_time_and_their_time_is_think_time() -> None:
    seen = replace(seen_of(POSTGRES, TODAY, timed=True), client_cpu_s=None)
    found = fit(seen, shape_of("postgresql"))
    assert found.simulated.client_cpu_s == 0
    assert found.simulated.commits_per_s == pytest.approx(seen.commits_per_s, rel=0.05)


def test_other_waits_stay_as_they_are() -> None:
    locked_s = 12e-3
    seen = seen_of(POSTGRES, replace(TODAY, think_time_ms=1e3 * locked_s), timed=True)
    found = fit(replace(seen, busy_s=seen.busy_s + locked_s), shape_of("postgresql"))
    assert found.other_s == pytest.approx(locked_s, rel=0.1)
    assert found.simulated.commits_per_s == pytest.approx(seen.commits_per_s, rel=0.05)


def test_what_was_seen_to_be_the_log_is_no_other_wait() -> None:
    seen = seen_of(POSTGRES, TODAY, timed=True)
    longer_s = seen.busy_s / 2
    slow = replace(seen, busy_s=seen.busy_s + longer_s, waiting_s=(seen.waiting_s or 0) + longer_s)
    assert fit(slow, shape_of("postgresql")).other_s == 0
    # Without such an account the rest is taken for something else.
    assert fit(replace(slow, waiting_s=None), shape_of("postgresql")).other_s > longer_s / 2


def test_the_time_of_flushes_may_have_a_shape() -> None:
    seen = seen_of(POSTGRES, TODAY, timed=True)
    shape = (1e-3, 2e-3, 9e-3)
    found: Fitted = fit(replace(seen, flush_shape=shape), shape_of("postgresql"))
    first, *_, last = found.calibration.flush_s
    assert last / first == pytest.approx(9.0)


def test_batches_are_found_again() -> None:
    batches = Scenario(8, rows_per_commit=8)
    found = fit(seen_of(POSTGRES, batches, timed=True), shape_of("postgresql")).calibration
    truth = ratio(POSTGRES, batches, Scenario(8, rows_per_commit=32))
    assert ratio(found, batches, Scenario(8, rows_per_commit=32)) == pytest.approx(truth, rel=0.06)


def test_commits_that_do_not_wait_are_found_again() -> None:
    nowait = Scenario(8, commit_wait="nowait")
    it = simulated_today(POSTGRES, nowait, COMMITS)
    seen = replace(seen_of(POSTGRES, nowait, timed=True), flush_s=3.2e-3)
    found = fit(seen, shape_of("postgresql"))
    assert found.simulated.commits_per_s == pytest.approx(it.commits_per_s, rel=0.05)


def test_the_same_is_found_again_and_again() -> None:
    seen = seen_of(POSTGRES, TODAY, timed=False)
    assert fit(seen, shape_of("postgresql")) == fit(seen, shape_of("postgresql"))
