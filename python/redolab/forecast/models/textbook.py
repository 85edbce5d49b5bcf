"""The models that the simulation is compared with, each as others use it: quick, exact of something simpler,
or published.

Only the approximation includes group commit: in the others the log is a station at which every commit has
a flush of its own, whose CPU time it spends itself. Two logs are one station with both flushes. The open
formulas (M/M/1, Erlang C, the published curves) are applied to sessions that loop as is often done. The
arrival rate is the throughput X at which N = X (R(X) + Z). That pretends that arrivals come at
random whatever the sessions do. A model refuses scenarios that it cannot forecast with `ValueError` and the
reason.

Sources: with each model's own module (`closed`, `erlang`, `queueing`, `group_commit_approximation`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from redolab._core import GroupCommitParameters
from redolab.forecast.costs.costs import Costs, Scenario, parameters
from redolab.model.closed import ClosedNetwork, Station, approximate_mva, exact_mva
from redolab.model.erlang import NoSteadyStateError, open_queue
from redolab.model.group_commit_approximation import approximate
from redolab.model.queueing import response_time_cpu, response_time_io, response_time_single

_FIXED_POINT = 200


@dataclass(frozen=True)
class _Demands:
    """A transaction's demands on CPU and log where every commit has a flush of its own, in seconds."""

    cpu_s: float
    """On a CPU at full speed, in the session."""
    flush_cpu_s: float
    """The part of `cpu_s` that the flush takes."""
    log_s: float
    """At the log device; 0 where nobody waits for it."""
    think_s: float
    cpus: float


def group_commit_approximated(calibration: Costs, scenario: Scenario) -> Mapping[str, float]:
    """The group-commit model by its fixed point.

    Raises:
        ValueError: the scenario cannot be, its cost is not known, or there is no fixed point.
        NoSteadyStateError: more arrives than can be done.

    Source: `redolab.model.group_commit_approximation`.
    """
    try:
        result = approximate(parameters(calibration, scenario))
    except ArithmeticError as error:
        raise ValueError(str(error)) from error
    commit_s = result.response_time_s if _lone(calibration, scenario) else result.commit_time_s
    return _said(
        throughput_per_s=result.throughput_per_s,
        response_time_ms=1e3 * result.response_time_s,
        commit_time_ms=1e3 * commit_s,
        cpu_utilization=result.cpu_utilization,
        device_utilization=result.device_utilization,
        commits_per_flush=result.commits_per_flush,
    )


def exact_mean_values(calibration: Costs, scenario: Scenario) -> Mapping[str, float]:
    """A closed network of the CPUs and a log that serves one commit per flush, exactly.

    Raises:
        ValueError: the scenario cannot be, its cost is not known, or the network cannot represent it.

    Source: Reiser and Lavenberg (1980), `redolab.model.closed`.
    """
    return _network(calibration, scenario, exact_mva)


def approximate_mean_values(calibration: Costs, scenario: Scenario) -> Mapping[str, float]:
    """The same network by a fixed point.

    Raises:
        ValueError: the scenario cannot be, its cost is not known, or the network cannot represent it.

    Source: Schweitzer (1979), Bard (1979), Seidmann et al. (1987), `redolab.model.closed`.
    """
    return _network(calibration, scenario, approximate_mva)


def single_server(calibration: Costs, scenario: Scenario) -> Mapping[str, float]:
    """M/M/1: one server that does all the work of a transaction, CPU and flush, R = S / (1 - S X).

    Raises:
        ValueError: the scenario cannot be, its cost is not known, or commits do not wait for the log, which
            one server for both cannot say.
        NoSteadyStateError: more arrives than can be done.

    Source: A. K. Erlang (1917), `redolab.model.queueing`.
    """
    if scenario.commit_wait == "nowait":
        raise ValueError(
            "this model has one server for CPU and log, so it cannot leave out a log that no commit waits for"
        )
    demands = _demands(calibration, scenario)
    service_s = demands.cpu_s / demands.cpus + demands.log_s
    throughput, response_s = fixed_point(
        scenario, demands.think_s, 1 / service_s, lambda rate: response_time_single(service_s, rate)
    )
    return _said(throughput_per_s=throughput, response_time_ms=1e3 * response_s)


def erlang_queue(calibration: Costs, scenario: Scenario) -> Mapping[str, float]:
    """Erlang C: random arrivals at one queue before all CPUs (M/M/m), then at the log (M/M/1).

    Raises:
        ValueError: the scenario cannot be, its cost is not known, or the queues cannot represent it.
        NoSteadyStateError: more arrives than can be done.

    Source: A. K. Erlang (1917), `redolab.model.erlang`.
    """
    demands = _demands(calibration, scenario)
    servers, service_s = _whole_servers(demands)
    return _open(
        calibration,
        scenario,
        demands,
        lambda rate: open_queue(rate, service_s, servers).response_time,
    )


def published_curve(calibration: Costs, scenario: Scenario) -> Mapping[str, float]:
    """The published curves: R = S / (1 - (S X / M)^M) at the CPUs and R = S / (1 - S X) at the log.

    M is the measured number of effective CPUs. For sessions that loop the curves have no arrival rate; the
    X at which N = X (R(X) + Z) is used instead. That fails where it matters. The curves see random
    arrivals, and so a queue at the log with a few sessions already. They see a wall at one commit per
    flush, which group commit passes.

    Raises:
        ValueError: the scenario cannot be, its cost is not known, or the curves cannot represent it.
        NoSteadyStateError: more arrives than can be done.

    Source: Craig Shallahamer, "Forecasting Oracle Performance" and OraPub (2010-2012),
    `redolab.model.queueing`.
    """
    demands = _demands(calibration, scenario)
    return _open(
        calibration,
        scenario,
        demands,
        lambda rate: response_time_cpu(demands.cpu_s, rate, demands.cpus),
    )


def _network(
    calibration: Costs,
    scenario: Scenario,
    solve: Callable[[tuple[Station, ...], int, float], ClosedNetwork],
) -> Mapping[str, float]:
    if scenario.arrival_rate_per_s is not None:
        raise ValueError("a closed network has no arrivals from outside")
    demands = _demands(calibration, scenario)
    servers, service_s = _whole_servers(demands)
    stations = (Station(service_s, servers), Station(demands.log_s))
    solution = solve(stations, scenario.sessions, demands.think_s)
    return _two_stations(calibration, scenario, demands, solution.throughput, solution.residence_times)


def _open(
    calibration: Costs, scenario: Scenario, demands: _Demands, cpu_time: Callable[[float], float]
) -> Mapping[str, float]:
    def times(rate: float) -> tuple[float, float]:
        return cpu_time(rate), response_time_io(demands.log_s, rate, 1.0)

    most = demands.cpus / demands.cpu_s
    most = min(most, 1 / demands.log_s) if demands.log_s > 0 else most
    throughput, _ = fixed_point(scenario, demands.think_s, most, lambda rate: math.fsum(times(rate)))
    return _two_stations(calibration, scenario, demands, throughput, times(throughput))


def _two_stations(
    calibration: Costs,
    scenario: Scenario,
    demands: _Demands,
    throughput: float,
    times: tuple[float, ...],
) -> Mapping[str, float]:
    cpu_s, log_s = times
    response_s = cpu_s + log_s
    # The flush's part of the CPU queue is in the commit.
    commit_s = log_s + cpu_s * demands.flush_cpu_s / demands.cpu_s
    waits = scenario.commit_wait != "nowait"
    return _said(
        throughput_per_s=throughput,
        response_time_ms=1e3 * response_s,
        commit_time_ms=1e3 * (response_s if _lone(calibration, scenario) else commit_s),
        cpu_utilization=throughput * demands.cpu_s / demands.cpus,
        device_utilization=throughput * demands.log_s,
        commits_per_flush=1.0 if waits else 0.0,
    )


def fixed_point(
    scenario: Scenario, think_s: float, most: float, response: Callable[[float], float]
) -> tuple[float, float]:
    """Throughput and response time: of the arrivals, or where N = X (R(X) + Z) below `most`.

    Raises:
        NoSteadyStateError: more arrives than can be done.
    """
    if scenario.arrival_rate_per_s is not None:
        if scenario.arrival_rate_per_s >= most:
            raise NoSteadyStateError(
                f"no steady state: {scenario.arrival_rate_per_s:g} transactions arrive per second, and only "
                f"{most:.4g} can be done"
            )
        return scenario.arrival_rate_per_s, response(scenario.arrival_rate_per_s)
    low, high = 0.0, most
    for _ in range(_FIXED_POINT):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        try:
            enough = middle * (response(middle) + think_s) >= scenario.sessions
        except (ValueError, ZeroDivisionError):
            # Rounding next to the wall.
            enough = True
        low, high = (low, middle) if enough else (middle, high)
    return low, scenario.sessions / low - think_s


def _demands(calibration: Costs, scenario: Scenario) -> _Demands:
    asked = parameters(calibration, scenario)
    if scenario.commit_delay_us > 0:
        raise ValueError("without group commit a commit delay has no meaning")
    waits = not asked.asynchronous
    second = asked.second
    flush_cpu_s = asked.flush_cpu_s + (second.flush_cpu_s if second else 0.0) if waits else 0.0
    return _Demands(
        cpu_s=asked.transaction_cpu_s + flush_cpu_s,
        flush_cpu_s=flush_cpu_s,
        log_s=_device_s(asked) if waits else 0.0,
        think_s=asked.think.mean_s,
        cpus=asked.cpus,
    )


def _device_s(asked: GroupCommitParameters) -> float:
    other_s = float(asked.second.device.mean_s) if asked.second else 0.0
    return float(asked.device.mean_s) + float(asked.device_s_per_byte) * asked.transaction_bytes + other_s


def _whole_servers(demands: _Demands) -> tuple[int, float]:
    """Whole CPUs and the service time on them: 1.9 are two at 0.95 of their speed."""
    servers = math.ceil(demands.cpus)
    return servers, demands.cpu_s * servers / demands.cpus


def _lone(calibration: Costs, scenario: Scenario) -> bool:
    """Whether the commit is the whole transaction: a lone INSERT from a client is its own commit."""
    return calibration.loop == "client" and scenario.rows_per_commit == 1


def _said(**quantities: float) -> Mapping[str, float]:
    """Quantities that are finite and greater than zero: a log that nobody waits for does not have a time."""
    return {name: value for name, value in quantities.items() if 0 < value < math.inf}
