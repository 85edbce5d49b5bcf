"""What changes give, with a model that can be worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from redolab._core import SimulationTooLongError
from redolab.forecast.advice.changes import candidates, not_forecast
from redolab.forecast.advice.gains import ORDER, Advised, Known, advise
from redolab.forecast.costs.costs import Costs, Scenario
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.quantities import simulation
from redolab.stats.estimates import skewed
from tests.forecasts import BATCHES, LONE, TODAY, make_calibrated, make_scores

NINE = (0.1,) * 9
SINGLE = make_scores("single rows", "throughput_per_s", NINE) + make_scores(
    "single rows", "response_time_ms", NINE
)


def made(cpu_s: float = 45e-6, **changes: Any) -> RunCosts:
    """A server on which a transaction of one row takes 45 us of CPU and each further row 5 us."""
    return make_calibrated(transaction_cpu_s=((1, cpu_s),), row_cpu_s=((1, 5e-6),), **changes)


def model(calibration: Costs, scenario: Scenario, commits: int) -> Mapping[str, float]:
    """Each session alone with its flush, all of them together with the CPUs."""
    assert commits >= 20 * scenario.sessions
    flush = 0.0 if scenario.commit_wait == "nowait" else calibration.flush_mean_s
    busy = calibration.transaction_with(scenario.sessions)
    busy += (scenario.rows_per_commit - 1) * calibration.row_with(scenario.sessions)
    alone = scenario.sessions / (busy + flush + scenario.commit_delay_us / 1e6)
    rate = min(alone, (scenario.cpus or calibration.cpus) / busy)
    return {"throughput_per_s": rate, "response_time_ms": 1e3 * scenario.sessions / rate}


def advised(calibrated: RunCosts, scores: tuple[object, ...] = ()) -> dict[tuple[str, str], Advised]:
    found = advise(calibrated, scores, model)  # type: ignore[arg-type]
    return {(item.change.factor, item.change.to): item for item in found}


def test_what_is_tried() -> None:
    # CPU 45 us, flush 1 ms, 2 CPUs: 8 sessions do 7,656/s, 44,444/s are the most, 32 sessions do 30,622.
    tried = [(item.factor, item.to) for item in candidates(made(), model)]
    assert tried == [
        ("rows_per_commit", "2"), ("rows_per_commit", "8"), ("rows_per_commit", "32"),
        ("sessions", "4"), ("sessions", "16"), ("sessions", "32"),
        ("commit_wait", "nowait"), ("commit_delay_us", "500"),
        ("log_device", "half"), ("log_device", "none"), ("cpus", "4"),
    ]  # fmt: skip


def test_sessions_go_to_the_elbow() -> None:
    # One CPU of 1/20 s of work: 4 sessions reach what it can do, 8 add nothing.
    calibrated = made(cpus=1, cpu_s=290e-6)
    names = {item.to: item.name for item in candidates(calibrated, model) if item.factor == "sessions"}
    # 1 / 290 us = 3,448/s; 4 sessions 4 / 1.29 ms = 3,101/s are 90 %, 8 sessions all of it.
    assert names == {"4": "4 sessions instead of 8", "16": "16 sessions instead of 8"}
    calibrated = made(cpus=1, cpu_s=400e-6)
    names = {item.to: item.name for item in candidates(calibrated, model) if item.factor == "sessions"}
    assert names["4"] == "4 sessions instead of 8 (the elbow)"


def test_the_gain_is_a_ratio_of_rows_where_rows_per_commit_change() -> None:
    found = advised(made())[("rows_per_commit", "8")]
    # 8 / (40 + 40 + 1000 us) transactions against 8 / (40 + 5 + 1000 us), each with 8 rows.
    assert found.throughput.point == pytest.approx(8 * 1045 / 1080)
    assert found.response_time.point == pytest.approx(1080 / 1045)


def test_with_a_record_the_interval_is_that_of_its_errors() -> None:
    found = advised(made(), SINGLE)[("sessions", "4")]
    # Nine errors of 10 %: the largest of them bounds nine in ten. The scatter of costs cancels.
    assert found.verified == 9
    assert found.gain.point == pytest.approx(0.5)
    assert (found.gain.low, found.gain.high) == pytest.approx((0.5 / 1.1, 0.5 * 1.1))
    assert found.gain.level == 0.9
    assert found.extrapolated == ""


def test_an_extrapolation_is_twice_as_wide_and_says_why() -> None:
    found = advised(made(), SINGLE)
    more, device = found["sessions", "16"], found["log_device", "half"]
    assert (more.gain.low, more.gain.high) == pytest.approx((2 / 1.21, 2 * 1.21))
    assert more.extrapolated == "sessions was measured from 1 to 8"
    # 8 / (45 + 500 us) against 8 / (45 + 1000 us).
    assert device.gain.point == pytest.approx(1045 / 545)
    assert device.extrapolated == "no other log device was measured"
    assert found["cpus", "4"].extrapolated == "cpus was measured at 2"


def test_a_family_that_was_never_verified_is_told() -> None:
    assert advised(made(), SINGLE)["commit_wait", "nowait"].extrapolated.endswith(
        "no forecast of nowait has been verified before"
    )


def test_what_the_run_measured_itself_is_the_gain() -> None:
    found = advised(made())["rows_per_commit", "32"]
    assert found.as_json()["basis"] == "measured"
    # 3,000 commits of 32 rows against 3,400 of one; each mean is known to 2 %.
    assert found.gain.point == pytest.approx(32 * 3000 / 3400)
    assert found.gain.high is not None
    assert math.log(found.gain.high / (32 * 3000 / 3400)) == pytest.approx(math.hypot(0.02, 0.02))
    assert found.gain.level == 0.95
    assert found.time.point == pytest.approx(2.6 / 2.3)
    assert found.throughput.point == pytest.approx(32 * 1045 / 1200)
    assert found.extrapolated == ""


def test_two_samples_far_apart_leave_the_measured_gain_open_and_no_more() -> None:
    # Two samples, of which one did next to nothing, are known to 12.7 times their mean: Student's t with
    # one degree of freedom. The ends of such an interval lie 1.6 x 10^5 points apart.
    calibrated = made()
    wide = {
        name: skewed(value.point, 12.7 * value.point, 0.95)
        for name, value in calibrated.measured[BATCHES].quantities.items()
        if value.point is not None
    }
    measured = {**calibrated.measured, BATCHES: replace(calibrated.measured[BATCHES], quantities=wide)}
    found = advised(replace(calibrated, measured=measured))["rows_per_commit", "32"]
    assert found.gain.low is not None
    assert found.gain.high is not None
    assert math.log(found.gain.high / found.gain.low) / 2 == pytest.approx(math.hypot(12.7, 0.02))
    assert found.outcome == "not shown to help"


def test_a_single_measured_value_without_an_interval_is_not_relied_on() -> None:
    calibrated = made()
    bare = {
        name: replace(value, low=None, high=None)
        for name, value in calibrated.measured[BATCHES].quantities.items()
    }
    measured = {**calibrated.measured, BATCHES: replace(calibrated.measured[BATCHES], quantities=bare)}
    found = advised(replace(calibrated, measured=measured))["rows_per_commit", "32"]
    assert found.as_json()["basis"] == "forecast"
    assert found.gain.point == pytest.approx(32 * 1045 / 1200)


def test_what_keeps_durability_comes_before_what_gives_it_up_and_limits_come_last() -> None:
    known = (
        SINGLE
        + make_scores("nowait", "throughput_per_s", NINE)
        + make_scores("batches", "throughput_per_s", NINE)
    )
    found = advise(made(), known, model)
    helping = [item for item in found if item.outcome == "more work"]
    assert [(item.change.kind, item.change.factor, item.change.to) for item in helping] == [
        ("kept", "rows_per_commit", "32"),
        ("kept", "rows_per_commit", "8"),
        ("kept", "sessions", "32"),
        ("kept", "sessions", "16"),
        ("kept", "rows_per_commit", "2"),
        ("kept", "log_device", "half"),
        ("lost", "commit_wait", "nowait"),
        ("limit", "log_device", "none"),
    ]
    # nowait is worth more than half the list above it, and stands below because it gives up durability.
    gains = [item.gain.point or 0.0 for item in helping]
    assert gains[6] > gains[2]
    assert [item.outcome for item in found[8:]] == ["not shown to help", "not shown to help", "less work"]
    assert "then changes that give it up" in ORDER


def test_a_change_whose_interval_holds_no_gain_is_not_shown_to_help() -> None:
    found = advised(made(), SINGLE)["cpus", "4"]
    assert found.gain.point == pytest.approx(1.0)
    assert found.outcome == "not shown to help"


def test_fewer_sessions_shorten_times_where_as_much_is_done() -> None:
    calibrated = made(cpus=1, cpu_s=400e-6)
    found = advised(calibrated, SINGLE)["sessions", "4"]
    # 4 sessions do the 2,500/s that one CPU allows; their transactions take half as long.
    assert (found.gain.point, found.time.point) == pytest.approx((1.0, 0.5))
    assert found.outcome == "shorter times"


def test_what_cannot_be_tried_is_told_with_the_reason() -> None:
    calibrated = replace(made(row_known=False), today=LONE)
    tried = {item.factor for item in candidates(calibrated, model)}
    assert {"rows_per_commit", "commit_delay_us"} & tried == set()
    assert not_forecast(calibrated) == [
        "Rows per commit: the run had one row in every commit, so what a further row costs is not known.",
        "Commit delay: a commit delay takes effect only with at least 5 other transactions, and today's "
        "setting has 1 session.",
    ]


def test_who_does_not_wait_is_not_told_to_stop_waiting() -> None:
    calibrated = made()
    today = replace(calibrated.measured[TODAY], scenario=Scenario(8, commit_wait="nowait"))
    calibrated = replace(calibrated, measured={**calibrated.measured, TODAY: today})
    assert {"commit_wait", "commit_delay_us"} & {
        item.factor for item in candidates(calibrated, model)
    } == set()


def test_a_commit_delay_is_tried_the_other_way_where_there_is_one() -> None:
    calibrated = made()
    today = replace(calibrated.measured[TODAY], scenario=Scenario(8, commit_delay_us=700))
    calibrated = replace(calibrated, measured={**calibrated.measured, TODAY: today})
    (delay,) = [item for item in candidates(calibrated, model) if item.factor == "commit_delay_us"]
    assert (delay.to, delay.name) == ("0", "no commit delay")


def test_the_simulation_says_the_same_each_time() -> None:
    calibrated = make_calibrated(replicates=2)
    first, again = (advise(calibrated, (), simulation) for _ in range(2))
    assert [item.as_json() for item in first] == [item.as_json() for item in again]
    gains = {(item.change.factor, item.change.to): item.throughput.point or 0.0 for item in first}
    # A log without any time is worth more than one twice as fast, and that more than today's.
    assert gains["log_device", "none"] > gains["log_device", "half"] > 1.2
    assert (
        gains["rows_per_commit", "32"] > gains["rows_per_commit", "8"] > gains["rows_per_commit", "2"] > 1.5
    )


def thinking(*, only_seen: bool) -> RunCosts:
    """Sessions that are away for 100 ms after each transaction."""
    found = made(only_seen=only_seen)
    today = found.measured[TODAY]
    away = replace(today, scenario=replace(today.scenario, think_time_ms=100.0))
    return replace(found, measured={TODAY: away})


def test_more_rows_in_a_commit_are_no_more_work_that_comes() -> None:
    rows = {
        seen: {
            item.to: item.scenario.think_time_ms
            for item in candidates(thinking(only_seen=seen), model)
            if item.factor == "rows_per_commit"
        }
        for seen in (True, False)
    }
    # A client that was seen is away as long for each row; a load that was made pauses after each commit.
    assert rows[True] == {"2": 200.0, "8": 800.0, "32": 3200.0}
    assert rows[False] == {"2": 100.0, "8": 100.0, "32": 100.0}


def test_waits_that_the_model_does_not_have_stay_in_the_time_of_a_transaction() -> None:
    # Of 1,045 us and 1,045 us of other waits, nowait leaves 45 + 1,045 us.
    found = advise(replace(made(), other_s=1045e-6), (), model)
    nowait = next(item for item in found if item.change.factor == "commit_wait")
    alone = next(item for item in advise(made(), (), model) if item.change.factor == "commit_wait")
    assert alone.response_time.point is not None
    assert nowait.response_time.point == pytest.approx((alone.response_time.point + 1) / 2)
    assert nowait.throughput == alone.throughput


def test_no_change_of_the_log_saves_more_than_was_waited_for_it() -> None:
    found = advise(made(), (), model, Known(log_share=0.2))
    for item in found:
        of_log = item.change.factor in ("commit_wait", "commit_delay_us", "log_device")
        assert of_log == ((item.response_time.low or 0) >= 0.8 and (item.throughput.high or 9) <= 1.25)


def test_what_takes_too_long_is_given_up_alone() -> None:
    def slow(calibration: Costs, scenario: Scenario, commits: int) -> Mapping[str, float]:
        if scenario.rows_per_commit == 32 or scenario.sessions > 16:
            raise SimulationTooLongError("too long")
        return model(calibration, scenario, commits)

    given_up: list[tuple[str, SimulationTooLongError]] = []
    found = advise(made(), (), slow, given_up=given_up)
    assert [name for name, _ in given_up] == ["32 rows per commit instead of 1", "sessions"]
    assert {item.change.factor for item in found} >= {"rows_per_commit", "commit_wait", "log_device", "cpus"}
    with pytest.raises(SimulationTooLongError):
        advise(made(), (), slow)
