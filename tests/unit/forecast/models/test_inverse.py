"""Questions the other way round: the answers bring what was wanted, and their neighbours do not."""

from __future__ import annotations

import pytest

from redolab.forecast.costs.costs import WAKE_SHARE, Scenario, parameters
from redolab.forecast.models import inverse
from redolab.forecast.models.quantities import SEED, simulation
from redolab.model.erlang import NoSteadyStateError
from redolab.model.group_commit import simulate
from tests.forecasts import POINT, make_calibrated

CALIBRATED = make_calibrated(replicates=4)


def throughput(scenario: Scenario) -> float:
    return simulation(POINT, scenario)["throughput_per_s"]


def test_the_elbow_gives_the_share_and_a_fifth_fewer_sessions_do_not() -> None:
    scenario = Scenario(8, rows_per_commit=32)
    answer = inverse.elbow(CALIBRATED, scenario)
    assert answer.value is not None
    assert answer.value.point is not None
    sessions = int(answer.value.point)
    goal = inverse.ELBOW * answer.brings["best_throughput_per_s"]
    assert throughput(Scenario(sessions, rows_per_commit=32)) >= goal
    # Far out the curve is so flat that one session fewer makes no difference that a simulation tells.
    assert throughput(Scenario(round(0.8 * sessions), rows_per_commit=32)) < goal
    assert answer.value.low is not None
    assert answer.value.high is not None
    assert answer.value.low <= sessions <= answer.value.high
    # No number of sessions brings more.
    most = max(throughput(Scenario(count, rows_per_commit=32)) for count in (8, 32, 64, 128, 256))
    assert most < 1.02 * answer.brings["best_throughput_per_s"]


def test_a_slow_log_has_an_elbow_far_out() -> None:
    slow = make_calibrated(1, flush_s=(0.0051, 0.0052))
    answer = inverse.elbow(slow, Scenario(8))
    assert answer.value is not None
    assert answer.value.point is not None
    # A flush serves at most half of the sessions, less where the CPUs are busy.
    elbow, throughput = answer.value.point, answer.brings["throughput_per_s"]
    assert elbow > 0.95 * 2 * 0.00515 * throughput
    goal = inverse.ELBOW * answer.brings["best_throughput_per_s"]
    fewer = simulation(slow.point, Scenario(round(0.8 * elbow)), 80_000)["throughput_per_s"]
    assert fewer < goal <= throughput


def test_the_elbow_of_the_bounds_is_that_of_the_formula() -> None:
    answer = inverse.elbow(CALIBRATED, Scenario(8, rows_per_commit=32, think_time_ms=2))
    cpu = POINT.transaction_with(8) + 31 * POINT.row_with(8)
    cpu += max(POINT.flush_cpu_s, WAKE_SHARE * POINT.wake_s)
    log = POINT.flush_mean_s + POINT.device_s_per_byte * (POINT.commit_bytes + 32 * POINT.row_bytes)
    assert answer.brings["bounds_elbow"] == pytest.approx((0.002 + cpu + log) / log)


def test_throughput_that_grows_beyond_what_is_forecast_has_no_elbow() -> None:
    answer = inverse.elbow(CALIBRATED, Scenario(8, think_time_ms=10_000))
    assert answer.value is None
    assert "still grows at 2,048 sessions" in answer.refused


def test_arrivals_do_not_hinder_the_elbow_of_sessions_that_loop() -> None:
    looping, arriving = Scenario(8, rows_per_commit=32), Scenario(8, 32, arrival_rate_per_s=10.0)
    assert inverse.elbow(CALIBRATED, arriving) == inverse.elbow(CALIBRATED, looping)


def p95_ms(rate: float) -> float:
    asked = parameters(POINT, Scenario(16, arrival_rate_per_s=rate))
    return 1e3 * simulate(asked, SEED, 10_000).response_time.p95_s.point


def test_the_largest_arrival_rate_keeps_the_limit_and_a_larger_one_does_not() -> None:
    answer = inverse.keep_p95_under(CALIBRATED, Scenario(16, think_time_ms=3), 3.0)
    assert answer.value is not None
    rate = answer.value.point
    assert rate is not None
    assert p95_ms(rate) <= 3.0 < p95_ms(1.05 * rate)
    assert answer.brings["response_time_ms_p95"] == p95_ms(rate)
    assert rate < answer.brings["looping_throughput_per_s"]
    assert [item["factor"] for item in answer.extrapolated] == ["sessions", "arrival_rate_per_s"]


def test_arrivals_may_come_faster_than_sessions_in_a_loop_commit() -> None:
    answer = inverse.keep_p95_under(CALIBRATED, Scenario(64), 1_000.0)
    assert answer.value is not None
    assert answer.value.point is not None
    assert answer.value.point > 1.05 * answer.brings["looping_throughput_per_s"]
    with pytest.raises(NoSteadyStateError):
        simulation(POINT, Scenario(64, arrival_rate_per_s=1.1 * answer.value.point))


def test_a_limit_below_the_time_without_load_cannot_be_kept() -> None:
    answer = inverse.keep_p95_under(CALIBRATED, Scenario(16), 1.0)
    assert answer.value is None
    assert "with hardly any load the 95th percentile of the response time is already 1.2" in answer.refused
    assert answer.as_json()["refused"] == answer.refused


def test_the_rows_of_a_lone_session_follow_from_its_costs() -> None:
    # A commit costs the same whatever it holds, so n rows save (1 - 1 / n) of what very many save.
    answer = inverse.rows_for(CALIBRATED, Scenario(1), 0.85)
    assert answer.value is not None
    assert (answer.value.low, answer.value.point, answer.value.high) == (7.0, 7.0, 7.0)
    many = 1 / answer.brings["rows_per_s_of_many"]
    one = 1 / answer.brings["rows_per_s_of_one"]
    saved = (one - 1 / answer.brings["rows_per_s"]) / (one - many)
    assert saved == pytest.approx((1 - 1 / 7) / (1 - 1 / 4096), rel=0.01)


def test_rows_that_save_nothing_have_no_answer() -> None:
    calibrated = make_calibrated(replicates=1, transaction_cpu_s=((1, 50e-6),), row_cpu_s=((1, 50e-6),))
    answer = inverse.rows_for(calibrated, Scenario(1, commit_wait="nowait"), 0.9)
    assert answer.value is None
    assert "save less than 1 %" in answer.refused


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        inverse.rows_for(CALIBRATED, Scenario(8), share)
