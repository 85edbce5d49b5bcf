"""Settings that are asked about, and what the model is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from redolab.dialect.postgres import COMMIT_SIBLINGS
from redolab.forecast.costs.costs import Scenario, parameters
from redolab.model.distribution import constant, exponential
from redolab.model.group_commit import Arrivals
from tests.forecasts import POINT


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sessions": 0}, "sessions is 0; it must be at least 1"),
        ({"sessions": -(2**70)}, f"sessions is -{2**70}; it must be 0 or more, and below 2\\^32"),
        ({"rows_per_commit": 2**70}, f"rows_per_commit is {2**70}; it must be 0 or more, and below 2\\^32"),
        ({"commit_delay_us": -1}, "commit_delay_us is -1; it must be at least 0"),
        ({"commit_wait": "it's"}, r"commit_wait is \"it's\"; it is wait or nowait"),
        ({"cpus": 0.0}, "cpus is 0; it must be greater than 0"),
        ({"arrival_rate_per_s": float("nan")}, "arrival_rate_per_s is nan; it must be greater than 0"),
        ({"think_time_ms": -1e-5}, "think_time_ms is -1e-05; it must be 0 or more"),
        ({"log_device_ms": float("inf")}, "log_device_ms is inf; it must be 0 or more"),
        ({"think_time_ms": 1.0, "arrival_rate_per_s": 1.0}, "exclude each other: arrivals do not think"),
    ],
)
def test_what_cannot_be_asked_is_named(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Scenario(**{"sessions": 8, **changes})


@pytest.mark.parametrize(
    ("scenario", "name"),
    [(Scenario(2**32), "sessions"), (Scenario(8, rows_per_commit=2**40), "rows")],
)
def test_numbers_that_the_simulator_cannot_hold_are_refused(scenario: Scenario, name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} is \d+; it must be 0 or more, and below 2\^32"):
        parameters(POINT, scenario)


def test_what_the_model_is_told_comes_from_costs_and_setting() -> None:
    needs = parameters(POINT, Scenario(8, commit_delay_us=100))
    assert (needs.think, needs.arrivals) == (constant(0.0), None)
    assert needs.commit_siblings == COMMIT_SIBLINGS
    assert needs.device.values == POINT.flush_s
    same, other = (parameters(POINT, Scenario(8, commit_delay_us=delay)) for delay in (100, 101))
    assert (needs == same, hash(needs) == hash(same), needs == other) == (True, True, False)
    assert parameters(POINT, Scenario(8, think_time_ms=2.0)).think == exponential(0.002)
    open_load = parameters(POINT, Scenario(8, arrival_rate_per_s=500.0))
    assert (open_load.think, open_load.arrivals) == (constant(0.0), Arrivals(exponential(0.002)))
