"""The two models drawn through measured points."""

from __future__ import annotations

from dataclasses import replace

import pytest

from redolab.forecast.ask import models_of
from redolab.forecast.costs.costs import Scenario
from redolab.forecast.costs.run_costs import Measured, RunCosts
from redolab.forecast.models.points import LINE, USL
from redolab.forecast.models.quantities import MODELS
from redolab.stats.estimates import Estimate
from tests.forecasts import POINT, make_calibrated


def with_points(points: dict[Scenario, float], loop: str = "server") -> RunCosts:
    measured = {
        str(number): Measured(scenario, loop, {"throughput_per_s": Estimate(rate, rate, rate)})
        for number, (scenario, rate) in enumerate(points.items())
    }
    return replace(make_calibrated(0), measured=measured, today="0")


def test_every_model_of_the_league_is_there() -> None:
    assert [*models_of(make_calibrated(0))] == [*MODELS, USL, LINE]


def test_the_line_adds_what_sessions_and_rows_cost() -> None:
    # The time of a transaction is 1 ms, 0.25 ms more for each further session, 0.1 ms for each further row.
    def rate(sessions: int, rows: int) -> float:
        return sessions / (1e-3 + 0.25e-3 * (sessions - 1) + 0.1e-3 * (rows - 1))

    grid = [(1, 1), (8, 1), (8, 32)]
    run = with_points({Scenario(n, rows_per_commit=r): rate(n, r) for n, r in grid})
    found = models_of(run)[LINE](POINT, Scenario(24, rows_per_commit=64))
    assert found["throughput_per_s"] == pytest.approx(rate(24, 64), rel=1e-9)
    assert found["response_time_ms"] == pytest.approx(1 + 0.25 * 23 + 0.1 * 63, rel=1e-9)
    thinking = models_of(run)[LINE](POINT, Scenario(8, think_time_ms=10.0))
    assert thinking["throughput_per_s"] == pytest.approx(8 / (2.75e-3 + 10e-3), rel=1e-9)
    assert thinking["response_time_ms"] == pytest.approx(2.75, rel=1e-9)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (Scenario(8, commit_delay_us=100), "commit_delay_us was never varied"),
        (Scenario(8, log_device_ms=1.0), "log_device_ms was never varied"),
        (Scenario(8, commit_wait="nowait"), "no setting with nowait"),
        (Scenario(8, cpus=4.0), "same CPUs"),
        (Scenario(8, arrival_rate_per_s=4.0), "arrivals"),
    ],
)
def test_the_line_is_silent_where_it_has_no_points(asked: Scenario, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        models_of(make_calibrated(0))[LINE](POINT, asked)


def test_points_that_do_not_tell_factors_apart_give_no_line() -> None:
    run = with_points({Scenario(1): 100.0, Scenario(8, rows_per_commit=32): 50.0})
    with pytest.raises(ValueError, match="cannot separate the slopes"):
        models_of(run)[LINE](POINT, Scenario(4))


def test_the_law_goes_through_sessions_that_differ_in_nothing_else() -> None:
    def rate(sessions: int) -> float:
        return 1000 * sessions / (1 + 0.1 * (sessions - 1) + 0.002 * sessions * (sessions - 1))

    points = {Scenario(n): rate(n) for n in (1, 4, 16)} | {Scenario(4, rows_per_commit=8): 7.0}
    found = models_of(with_points(points))[USL](POINT, Scenario(32))
    assert found["throughput_per_s"] == pytest.approx(rate(32), rel=1e-4)
    with pytest.raises(ValueError, match="three numbers of sessions"):
        models_of(with_points(points))[USL](POINT, Scenario(32, rows_per_commit=8))


def test_points_of_another_loop_are_not_used() -> None:
    run = with_points({Scenario(n): 100.0 * n for n in (1, 2, 4)}, loop="client")
    for name in (USL, LINE):
        with pytest.raises(ValueError, match="measured"):
            models_of(run)[name](POINT, Scenario(8))
