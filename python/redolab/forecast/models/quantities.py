"""Every model's forecast of a scenario, in the same quantities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from redolab.forecast.costs.costs import Calibration, Scenario, parameters
from redolab.forecast.models.textbook import (
    approximate_mean_values,
    erlang_queue,
    exact_mean_values,
    group_commit_approximated,
    published_curve,
    single_server,
)

if TYPE_CHECKING:
    from redolab.model.group_commit import GroupCommitResult

Quantities = Mapping[str, float]
"""Quantity (see `QUANTITIES`) to its value; a model leaves out what it cannot say."""
Model = Callable[[Calibration, Scenario], Quantities]

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
"""What is forecast, and in words."""
RATIOS: Mapping[str, str] = MappingProxyType(
    {
        "throughput_per_s": "throughput_ratio",
        "response_time_ms": "response_time_ratio",
        "commit_time_ms": "commit_time_ratio",
    }
)
"""Quantity to the name of its ratio to today's setting, which is what a change makes of it; no unit."""
SCORED = (*RATIOS.values(), *QUANTITIES)
"""What is scored of a forecast, the changes first."""
SEED = 1
LONG_STATEMENTS = 60


def simulation(calibration: Calibration, scenario: Scenario, commits: int = 20_000) -> Quantities:
    """The group-commit model, simulated.

    Raises:
        ValueError: the scenario cannot be, or its cost is not known.
        NoSteadyStateError: more arrives than can be done.
    """
    from redolab.model.group_commit import BATCHES, simulate

    needs = parameters(calibration, scenario)
    # A client's long transactions are simulated statement by statement: of them a quarter says enough.
    long = needs.statements > LONG_STATEMENTS
    result = simulate(needs, SEED, max(commits // 4, BATCHES * needs.sessions) if long else commits)
    commit = result.commit_time
    values = {
        "throughput_per_s": result.throughput_per_s.point,
        "response_time_ms": 1e3 * result.response_time.mean_s.point,
        "response_time_ms_p95": 1e3 * result.response_time.p95_s.point,
        "cpu_utilization": result.cpu_utilization.point,
        "device_utilization": _flushing(result),
    }
    # What a commit that does not wait spends inside the server is in the CPU time of its transaction.
    if calibration.loop == "client" or scenario.commit_wait == "wait":
        values |= {
            "commit_time_ms": 1e3 * commit.mean_s.point,
            "commit_time_ms_p50": 1e3 * commit.p50_s.point,
            "commit_time_ms_p95": 1e3 * commit.p95_s.point,
            "commit_time_ms_p99": 1e3 * commit.p99_s.point,
        }
    if result.commits_per_flush is not None:
        values["commits_per_flush"] = result.commits_per_flush.point
    return values


def _flushing(result: GroupCommitResult) -> float:
    # As it is measured: a server counts the time in its calls, in which it waits for a CPU too.
    if result.commits_per_flush is None or result.flush_time_s is None:
        return 0.0
    return result.flush_time_s.point * result.throughput_per_s.point / result.commits_per_flush.point


def ratios_to(today: Quantities, asked: Quantities) -> dict[str, float]:
    """What each quantity of `RATIOS` is in times today's, where both are known."""
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
"""The models of the league that need costs alone, the one that forecasts first. Those that need measured
points are beside them in `redolab.forecast.models.models.models_of`."""
