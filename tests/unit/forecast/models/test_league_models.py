"""The models of the league on paper: one session, many, and what each cannot say."""

from __future__ import annotations

import math

import pytest

from redolab.forecast.costs.costs import Scenario, parameters
from redolab.forecast.models.quantities import MODELS
from redolab.model.closed import Station, exact_mva
from redolab.model.erlang import NoSteadyStateError, open_queue
from tests.forecasts import POINT

LOG_S = POINT.flush_mean_s + POINT.device_s_per_byte * (POINT.commit_bytes + POINT.row_bytes)
OTHERS = [name for name in MODELS if not name.startswith("group commit")]


def cpu_s(asked: Scenario) -> tuple[float, float]:
    """CPU time of a transaction with a flush of its own, and that of the flush."""
    costs = parameters(POINT, asked)
    return costs.transaction_cpu_s + costs.flush_cpu_s, costs.flush_cpu_s


def test_a_lone_session_has_no_queue_in_closed_networks() -> None:
    all_s, flush_s = cpu_s(Scenario(1))
    for name in ("exact MVA", "approximate MVA"):
        found = MODELS[name](POINT, Scenario(1))
        assert found["response_time_ms"] == pytest.approx(1e3 * (all_s + LOG_S), rel=1e-9)
        assert found["throughput_per_s"] == pytest.approx(1 / (all_s + LOG_S), rel=1e-9)
        assert found["commit_time_ms"] == pytest.approx(1e3 * (flush_s + LOG_S), rel=1e-9)
        assert found["device_utilization"] == pytest.approx(LOG_S / (all_s + LOG_S), rel=1e-9)


def test_exact_mva_is_that_of_the_textbook_recursion() -> None:
    all_s, _ = cpu_s(Scenario(8))
    network = exact_mva([Station(all_s, 2), Station(LOG_S)], 8, 0.005)
    found = MODELS["exact MVA"](POINT, Scenario(8, think_time_ms=5.0))
    assert found["throughput_per_s"] == pytest.approx(network.throughput, rel=1e-12)
    assert found["commits_per_flush"] == 1.0


@pytest.mark.parametrize("name", OTHERS)
def test_without_group_commit_the_log_is_a_wall(name: str) -> None:
    found = MODELS[name](POINT, Scenario(64))
    assert found["throughput_per_s"] <= (1 + 1e-9) / LOG_S
    assert MODELS["group commit, simulated"](POINT, Scenario(64))["throughput_per_s"] > 5 / LOG_S


@pytest.mark.parametrize("name", list(MODELS))
def test_every_closed_loop_obeys_littles_law(name: str) -> None:
    found = MODELS[name](POINT, Scenario(12, think_time_ms=2.0))
    sessions = found["throughput_per_s"] * (found["response_time_ms"] / 1e3 + 2e-3)
    assert sessions == pytest.approx(12, rel=0.02 if "simulated" in name else 1e-6)


def test_open_formulas_with_arrivals_are_the_formulas() -> None:
    asked = Scenario(100, arrival_rate_per_s=600.0)
    all_s, _ = cpu_s(asked)
    erlang = MODELS["Erlang C"](POINT, asked)
    expected = open_queue(600, all_s, 2).response_time + LOG_S / (1 - 600 * LOG_S)
    assert erlang["response_time_ms"] == pytest.approx(1e3 * expected, rel=1e-12)
    published = MODELS["published curve"](POINT, asked)
    expected = all_s / (1 - (600 * all_s / 2) ** 2) + LOG_S / (1 - 600 * LOG_S)
    assert published["response_time_ms"] == pytest.approx(1e3 * expected, rel=1e-12)
    service = all_s / 2 + LOG_S
    single = MODELS["M/M/1"](POINT, asked)
    assert single["response_time_ms"] == pytest.approx(1e3 * service / (1 - 600 * service), rel=1e-12)
    assert single["throughput_per_s"] == 600.0


@pytest.mark.parametrize("name", ["M/M/1", "Erlang C", "published curve"])
def test_an_open_formula_has_no_steady_state_beyond_the_wall(name: str) -> None:
    with pytest.raises(NoSteadyStateError, match="no steady state"):
        MODELS[name](POINT, Scenario(100, arrival_rate_per_s=1_000.0))


@pytest.mark.parametrize("name", OTHERS)
def test_what_a_model_knows_nothing_of_it_refuses(name: str) -> None:
    with pytest.raises(ValueError, match="commit delay"):
        MODELS[name](POINT, Scenario(8, commit_delay_us=500))
    if "MVA" in name:
        with pytest.raises(ValueError, match="arrivals"):
            MODELS[name](POINT, Scenario(8, arrival_rate_per_s=10.0))
    if name == "M/M/1":
        with pytest.raises(ValueError, match="no commit waits"):
            MODELS[name](POINT, Scenario(8, commit_wait="nowait"))


def test_commits_that_wait_for_no_log_have_the_cpus_alone() -> None:
    asked = Scenario(32, commit_wait="nowait")
    found = MODELS["exact MVA"](POINT, asked)
    assert found["throughput_per_s"] == pytest.approx(
        2 / parameters(POINT, asked).transaction_cpu_s, rel=1e-6
    )
    assert "commits_per_flush" not in found
    assert "commit_time_ms" not in found


def test_what_is_said_is_finite_and_more_than_nothing() -> None:
    for name, model in MODELS.items():
        for asked in (Scenario(1), Scenario(8, rows_per_commit=32), Scenario(16, log_device_ms=5.0)):
            for quantity, value in model(POINT, asked).items():
                assert 0 < value < math.inf, (name, quantity)
