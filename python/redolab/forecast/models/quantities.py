"""Every model's forecast of a scenario, in the same quantities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from redolab import _core
from redolab.forecast.costs.costs import Costs, Scenario, parameters
from redolab.forecast.models.textbook import (
    approximate_mean_values,
    erlang_queue,
    exact_mean_values,
    group_commit_approximated,
    published_curve,
    single_server,
)

if TYPE_CHECKING:
    from redolab.model.allowance import Allowance

Quantities = Mapping[str, float]
"""Quantity (see `QUANTITIES`) to its value; a model leaves out what it cannot forecast."""
Model = Callable[[Costs, Scenario], Quantities]

QUANTITIES: Mapping[str, str] = MappingProxyType(
    {
        "throughput_per_s": "commits per second",
        "response_time_ms": "mean time from the beginning of a transaction, or its arrival, to its end",
        "response_time_ms_p95": "its 95th percentile",
        "commit_time_ms": "mean time from the request to commit to its acknowledgement",
        "commit_time_ms_p50": "its median",
        "commit_time_ms_p95": "its 95th percentile",
        "commit_time_ms_p99": "its 99th percentile",
        "cpu_utilization": "share of the CPUs' time that they are busy",
        "device_utilization": "share of the time that the log device is busy: that a flush is under way",
        "commits_per_flush": "commits that one flush of the log serves",
    }
)
"""The quantities that are forecast, with their meaning."""
RATIOS: Mapping[str, str] = MappingProxyType(
    {
        "throughput_per_s": "throughput_ratio",
        "response_time_ms": "response_time_ratio",
        "commit_time_ms": "commit_time_ratio",
    }
)
"""Quantity to the name of its ratio to today's setting, which is what a change makes of it; no unit."""
SCORED = (*RATIOS.values(), *QUANTITIES)
"""The quantities of a forecast that are scored, the changes first."""
SEED = _core.SEED


def simulation(
    calibration: Costs, scenario: Scenario, commits: int = 20_000, allowance: Allowance | None = None
) -> Quantities:
    """The group-commit model, simulated.

    Raises:
        ValueError: the scenario cannot be, or its cost is not known.
        NoSteadyStateError: more arrives than can be done.
        SimulationTooLongError: it takes more than `allowance` has.
    """
    needs = parameters(calibration, scenario)
    if allowance is None:
        return _core.forecast(needs, commits)[0]
    return allowance.spent_on(lambda most: _core.forecast(needs, commits, most))


def ratios_to(today: Quantities, asked: Quantities) -> dict[str, float]:
    """Each quantity of `RATIOS` as a multiple of today's, where both are known."""
    return {
        ratio: asked[name] / today[name]
        for name, ratio in RATIOS.items()
        if name in asked and today.get(name)
    }


MODELS: Mapping[str, Model] = MappingProxyType(
    {
        "group commit, simulated": simulation,
        "group commit, approximated": group_commit_approximated,
        "exact MVA": exact_mean_values,
        "approximate MVA": approximate_mean_values,
        "M/M/1": single_server,
        "Erlang C": erlang_queue,
        "published curve": published_curve,
    }
)
"""The models of the league that need costs alone, the one that forecasts first.
`redolab.forecast.ask.models_of` also has those that need measured points."""
