"""Forecasts from a made-up calibration: what must hold of them exactly, and what the laws of queues say."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import pytest

from redolab import _core
from redolab.forecast.costs.costs import Scenario, parameters
from redolab.forecast.models.quantities import QUANTITIES, SEED, simulation
from redolab.forecast.models.scenario_forecast import (
    MODEL,
    compare,
    extrapolated,
    forecast,
    forecast_with_replicates,
    predict,
)
from redolab.forecast.track_record import LEVEL
from redolab.model.erlang import NoSteadyStateError
from redolab.model.group_commit import simulate
from redolab.stats.estimates import Estimate
from tests.forecasts import BATCHES, TODAY, make_calibrated, make_scores

CALIBRATED = make_calibrated()
NONE = [0.0] * 9
"""Errors of so many verified forecasts that the calibration's scatter alone is left."""


def test_today_is_compared_with_itself() -> None:
    found = forecast(CALIBRATED, Scenario(8), ())
    assert found["today"]["setting"] == TODAY
    assert found["asked"]["levels"] == found["today"]["levels"] == asdict(Scenario(8))
    assert found["asked"]["forecast"] == found["today"]["forecast"]
    for ratio in found["asked"]["compared_with_today"].values():
        assert ratio == {"point": 1.0, "low": 1.0, "high": 1.0, "level": LEVEL}
    assert found["today"]["measured"]["throughput_per_s"]["point"] == 3_400.0
    assert found["extrapolated"] == []


def test_sessions_that_loop_obey_the_law_of_the_loop() -> None:
    for scenario in (Scenario(8), Scenario(64, rows_per_commit=32), Scenario(16, think_time_ms=5)):
        found = forecast_with_replicates(CALIBRATED, scenario).point
        cycle_ms = found["response_time_ms"] + scenario.think_time_ms
        assert found["throughput_per_s"] * cycle_ms / 1e3 == pytest.approx(scenario.sessions, rel=0.01)
        assert found["commit_time_ms"] < found["response_time_ms"]
        assert found["rows_per_s"] == found["throughput_per_s"] * scenario.rows_per_commit


def test_a_lone_session_takes_what_a_commit_and_a_flush_take() -> None:
    point = CALIBRATED.point
    expected_ms = 1e3 * (point.transaction_with(1) + point.flush_cpu_s + point.flush_mean_s)
    assert forecast_with_replicates(CALIBRATED, Scenario(1)).point["response_time_ms"] == pytest.approx(
        expected_ms, rel=0.03
    )


def test_of_long_transactions_fewer_are_simulated() -> None:
    client = replace(CALIBRATED.point, loop="client", client_s=((1, 5e-6),))
    scenarios = (Scenario(8, rows_per_commit=58), Scenario(8, rows_per_commit=1_024), Scenario(600, 64))
    asked = [_core.commits_simulated(parameters(client, scenario), 20_000) for scenario in scenarios]
    assert asked == [20_000, 5_000, 20 * 600]
    said = simulation(client, scenarios[1], 20_000)
    known = simulate(parameters(client, scenarios[1]), SEED, asked[1])
    assert said["throughput_per_s"] == known.throughput_per_s.point


def test_every_quantity_is_forecast() -> None:
    found = forecast(CALIBRATED, Scenario(64), ())["asked"]["forecast"]
    assert found.keys() == {*QUANTITIES, "rows_per_s"}
    for name, value in found.items():
        assert value.keys() == {"point", "low", "high", "level", "verified"}
        assert value["low"] <= value["point"] <= value["high"], name
        assert value["level"] == LEVEL


def test_a_ratio_is_forecast_by_forecast_with_each_replicate_against_itself() -> None:
    today, asked = (
        forecast_with_replicates(CALIBRATED, Scenario(8)),
        forecast_with_replicates(CALIBRATED, Scenario(8, rows_per_commit=4)),
    )
    scores = make_scores("batches", "throughput_per_s", tuple(NONE))
    ratio = compare(today, asked, scores)["throughput_per_s"]
    assert ratio.point == asked.point["throughput_per_s"] / today.point["throughput_per_s"]
    # The flush decides both, so what is not known of it cancels.
    own = predict(asked, scores)["throughput_per_s"]
    assert math.log(ratio.high / ratio.low) < 0.5 * math.log(own.high / own.low)


def test_earlier_errors_of_the_family_and_the_quantity_make_the_interval() -> None:
    asked = forecast_with_replicates(CALIBRATED, Scenario(4))
    errors = tuple(0.01 * place for place in range(10, 20))
    found = predict(asked, make_scores("single rows", "throughput_per_s", errors))["throughput_per_s"]
    # Of ten errors the ceil(11 x 0.9)th, the largest.
    assert found.verified == 10
    assert found.high == pytest.approx(found.point * 1.19)
    assert found.low == pytest.approx(found.point / 1.19)
    for elsewhere in (("nowait", "throughput_per_s"), ("single rows", "commit_time_ms")):
        assert predict(asked, make_scores(*elsewhere, errors))["throughput_per_s"].verified == 0


def test_earlier_errors_of_the_ratio_make_its_interval_from_nine_on() -> None:
    today, asked = (
        forecast_with_replicates(CALIBRATED, Scenario(8)),
        forecast_with_replicates(CALIBRATED, Scenario(8, rows_per_commit=4)),
    )
    of_throughput = make_scores("batches", "throughput_per_s", tuple(NONE))

    def width(ratios: int) -> float:
        known = (*of_throughput, *make_scores("batches", "throughput_ratio", (0.5,) * ratios))
        ratio = compare(today, asked, known)["throughput_per_s"]
        return ratio.high / ratio.point

    assert width(9) == pytest.approx(1.5)
    assert width(8) < 1.2


def test_more_cpu_time_per_transaction_does_what_it_must_and_was_never_verified() -> None:
    found = forecast(CALIBRATED, Scenario(8, commit_wait="nowait", cpu_factor=2.0), ())
    once = forecast_with_replicates(CALIBRATED, Scenario(8, commit_wait="nowait")).point["throughput_per_s"]
    assert found["asked"]["forecast"]["throughput_per_s"]["point"] == pytest.approx(once / 2, rel=0.1)
    assert found["family"] == "CPU factor"
    assert found["asked"]["forecast"]["throughput_per_s"]["verified"] == 0
    assert any("'CPU factor'" in text and "guess" in text for text in found["warnings"])
    assert [item["factor"] for item in found["extrapolated"]] == ["commit_wait", "cpu_factor"]
    assert "same CPU time" in found["models_refused"]["naive straight line"]
    for factor in (0.2, 2.1, math.nan):
        with pytest.raises(ValueError, match=r"cpu_factor .* must be 0\.25 to 2"):
            Scenario(8, cpu_factor=factor)


def test_work_takes_as_long_as_its_rows_at_the_rate_of_rows() -> None:
    found = forecast(CALIBRATED, Scenario(8, rows_per_commit=4), (), [Scenario(16)], work_rows=900_000)
    for one in (found["asked"], found["today"], *found["sweep"]):
        rate, elapsed = one["forecast"]["rows_per_s"], one["elapsed_s"]
        assert elapsed["point"] == 900_000 / rate["point"]
        assert (elapsed["low"], elapsed["high"]) == (900_000 / rate["high"], 900_000 / rate["low"])
    # Work times R by sessions, R per row.
    asked = found["asked"]["forecast"]
    row_s = asked["response_time_ms"]["point"] / 1e3 / 4
    assert found["asked"]["elapsed_s"]["point"] == pytest.approx(900_000 * row_s / 8, rel=0.01)
    assert forecast(CALIBRATED, Scenario(8), ())["asked"]["elapsed_s"] is None


def test_a_model_that_misses_todays_own_setting_says_so() -> None:
    scores = make_scores("single rows", "throughput_per_s", tuple(NONE))
    today = CALIBRATED.measured[TODAY]
    wrong = {**today.quantities, "throughput_per_s": Estimate(1_000.0, 990.0, 1_010.0)}
    calibrated = replace(
        CALIBRATED, measured={**CALIBRATED.measured, TODAY: replace(today, quantities=wrong)}
    )
    (text,) = [text for text in forecast(calibrated, Scenario(16), scores)["warnings"] if "not fit" in text]
    assert "commits per second: 1,000 measured" in text
    assert not [text for text in forecast(CALIBRATED, Scenario(16), ())["warnings"] if "not fit" in text]


def test_rows_are_as_sure_as_commits() -> None:
    asked = forecast_with_replicates(CALIBRATED, Scenario(8, rows_per_commit=16))
    found = predict(asked, make_scores("batches", "throughput_per_s", tuple(NONE)))
    commits, rows = found["throughput_per_s"], found["rows_per_s"]
    assert (rows.low, rows.high) == pytest.approx((16 * commits.low, 16 * commits.high))
    assert rows.verified == commits.verified == 9


def test_a_share_of_time_is_no_more_than_all_of_it() -> None:
    found = predict(forecast_with_replicates(CALIBRATED, Scenario(64, rows_per_commit=32)), ())
    assert found["cpu_utilization"].high == 1.0
    assert found["throughput_per_s"].high > found["throughput_per_s"].point


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (Scenario(4, rows_per_commit=16), []),
        (Scenario(64), [("sessions", 64, 1, 8)]),
        (Scenario(8, rows_per_commit=33), []),
        (Scenario(8, rows_per_commit=34), [("rows_per_commit", 34, 1, 32)]),
        (Scenario(8, commit_wait="nowait"), [("commit_wait", "nowait", "wait", "wait")]),
        (Scenario(8, commit_delay_us=500), [("commit_delay_us", 500, 0, 0)]),
        (Scenario(8, think_time_ms=1.5), [("think_time_ms", 1.5, 0.0, 0.0)]),
        (Scenario(8, arrival_rate_per_s=9.0), [("arrival_rate_per_s", 9.0, None, None)]),
        (Scenario(8, cpus=1.95), []),
        (Scenario(8, cpus=8), [("cpus", 8, 2, 2)]),
    ],
)
def test_what_was_not_measured_is_said(scenario: Scenario, expected: list[tuple[object, ...]]) -> None:
    assert [tuple(item.values()) for item in extrapolated(CALIBRATED, scenario)] == expected


def test_another_log_device_was_not_measured() -> None:
    (found,) = extrapolated(CALIBRATED, Scenario(8, log_device_ms=5.0))
    assert found["factor"] == "log_device_ms"
    assert found["measured_from"] == pytest.approx(1.015) == found["measured_to"]
    assert extrapolated(CALIBRATED, Scenario(8, log_device_ms=1.02)) == []


def test_what_was_not_measured_is_less_sure() -> None:
    inside, outside = (
        predict(forecast_with_replicates(CALIBRATED, Scenario(sessions)), ())["response_time_ms"]
        for sessions in (8, 9)
    )
    assert math.log(outside.high / outside.point) > 1.5 * math.log(inside.high / inside.point)


def test_what_the_run_measured_of_the_asked_levels_stands_beside_them() -> None:
    found = forecast(CALIBRATED, CALIBRATED.measured[BATCHES].scenario, ())["asked"]["measured"]
    assert found["throughput_per_s"]["point"] == 3_000.0
    assert found["rows_per_s"]["point"] == 96_000.0
    assert forecast(CALIBRATED, Scenario(8, rows_per_commit=31), ())["asked"]["measured"] == {}


def test_a_slower_log_and_more_cpus_do_what_they_must() -> None:
    def throughput(scenario: Scenario) -> float:
        return forecast_with_replicates(CALIBRATED, scenario).point["throughput_per_s"]

    # Two groups of sessions take turns at the log: about N / 2 commits per flush.
    assert throughput(Scenario(8, log_device_ms=5)) == pytest.approx(8 / 2 / 0.005, rel=0.1)
    assert throughput(Scenario(256, cpus=4)) > 1.5 * throughput(Scenario(256))


def test_a_sweep_goes_on_where_a_level_has_no_steady_state() -> None:
    rates = (1_000.0, 1_000_000.0)
    sweep = [Scenario(8, arrival_rate_per_s=rate) for rate in rates]
    fine, refused = forecast(CALIBRATED, Scenario(8), (), sweep)["sweep"]
    assert fine["refused"] is None
    assert fine["forecast"]["throughput_per_s"]["point"] == pytest.approx(1_000, rel=0.05)
    assert "no steady state" in refused["refused"]
    assert refused["forecast"] == refused["compared_with_today"] == {}
    assert fine["family"] == refused["family"] == "open arrivals"
    assert refused["extrapolated"][0]["asked"] == rates[1]


def test_more_than_can_be_done_has_no_forecast() -> None:
    with pytest.raises(NoSteadyStateError, match="no steady state"):
        forecast(CALIBRATED, Scenario(8, arrival_rate_per_s=1e6), ())


# As many as were measured: of more each costs the others more, and arrivals keep few at work.
CAPACITY = forecast_with_replicates(CALIBRATED, Scenario(8)).point["throughput_per_s"]


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95])
def test_up_to_saturation_times_are_those_of_a_steady_state(share: float) -> None:
    found = forecast_with_replicates(CALIBRATED, Scenario(8, arrival_rate_per_s=share * CAPACITY)).point
    assert 0 < found["commit_time_ms"] <= found["response_time_ms"]
    assert found["throughput_per_s"] == pytest.approx(share * CAPACITY, rel=0.05)


@pytest.mark.parametrize("share", [1.5, 2.0, 20.0])
def test_past_saturation_there_is_no_steady_state(share: float) -> None:
    # Sessions in a loop do somewhat less than arrivals can: the log divides them into groups.
    with pytest.raises(NoSteadyStateError, match="no steady state"):
        forecast_with_replicates(CALIBRATED, Scenario(8, arrival_rate_per_s=share * CAPACITY))


def test_rows_whose_cost_is_not_known_have_no_forecast() -> None:
    calibrated = make_calibrated(row_known=False)
    with pytest.raises(ValueError, match="the cost of a row is not known"):
        forecast(calibrated, Scenario(8, rows_per_commit=2), ())


def test_every_model_is_heard() -> None:
    found = forecast(CALIBRATED, Scenario(64), ())
    points = {name: value["point"] for name, value in found["asked"]["forecast"].items()}
    assert found["model"] == MODEL
    assert found["models"][MODEL] == points
    assert len(found["models"]) > 3
    open_load = forecast(CALIBRATED, Scenario(8, arrival_rate_per_s=500.0), ())
    assert open_load["models_refused"]
    assert not open_load["models_refused"].keys() & open_load["models"].keys()
    assert all(open_load["models_refused"].values())


def test_a_device_quicker_than_the_measured_one_is_not_promised() -> None:
    said = " ".join(forecast(CALIBRATED, Scenario(8, log_device_ms=0.1), ())["warnings"])
    assert "The quickest flush of the measured device took 0.815 ms. log_device_ms=0.1" in said
    assert "quickest" not in " ".join(forecast(CALIBRATED, Scenario(8, log_device_ms=2), ())["warnings"])


def test_a_family_is_unverified_until_it_was_verified() -> None:
    scores = make_scores("single rows", "throughput_per_s", (0.1,))
    assert any("was verified before" in text for text in forecast(CALIBRATED, Scenario(4), ())["warnings"])
    assert forecast(CALIBRATED, Scenario(4), scores)["warnings"] == []


def test_replicates_without_a_steady_state_are_counted() -> None:
    slow = replace(CALIBRATED.replicates[0], transaction_cpu_s=((1, 4e-3),))
    calibrated = replace(CALIBRATED, replicates=(slow, *CALIBRATED.replicates[1:]))
    found = forecast(calibrated, Scenario(64, arrival_rate_per_s=1_000.0), ())
    assert any(
        "With 1 of 8 resampled calibrations the queue grows without end" in text for text in found["warnings"]
    )
