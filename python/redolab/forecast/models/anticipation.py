"""The published anticipation: one curve through what was seen, moved along and shifted.

S and R per commit and the arrival rate L are read from today's setting, and M solved from them, so that
R = S / (1 - (S L / M)^M) goes through that point. Q = R - S is all that is not CPU. A change of S (CPU time,
rows per commit), of L (sessions, arrivals) or of M (CPUs) is then read off the curve.

Source: Craig Shallahamer, OraPub, "batch" series parts 1 to 4 (2010), who solves M from the first setting
and reads the others off the curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from redolab.forecast.costs.costs import Costs, Scenario, parameters
from redolab.forecast.costs.run_costs import Measured
from redolab.forecast.models.textbook import fixed_point
from redolab.model.queueing import response_time_cpu, solve_servers

ANTICIPATION = "published curve, M solved"
_UNKNOWN = ("commit_wait", "commit_delay_us", "log_device_ms")


def anticipate(today: Measured, calibration: Costs, scenario: Scenario) -> Mapping[str, float]:
    """The forecast of another setting by the curve through today's.

    Rows per commit change S: by what a transaction of so many rows costs the CPUs. M stays, as it does in the
    published series.

    Args:
        today: the setting that was seen.
        calibration: costs, of which the CPU time of a transaction is taken.
        scenario: the setting that is asked about.

    Raises:
        ValueError: a change that the curve does not include, or no M fits today's point.
        NoSteadyStateError: more arrives than can be done.
    """
    for name in _UNKNOWN:
        if getattr(scenario, name) != getattr(today.scenario, name):
            raise ValueError(f"this model has one curve for all of the time and does not include {name}")
    rate = today.quantities["throughput_per_s"].point
    response_ms = today.quantities["response_time_ms"].point
    if not rate or not response_ms:
        raise ValueError("today's throughput or response time was not seen")
    service_s = _service_s(calibration, today.scenario)
    servers = solve_servers(service_s, rate, response_ms / 1e3)
    if servers is None:
        raise ValueError(
            "no number of servers (M) fits today's CPU time (S), arrival rate (L) and response time (R)"
        )
    if scenario.cpus is not None:
        servers *= scenario.cpus / (today.scenario.cpus or calibration.cpus)
    changed_s = _service_s(calibration, replace(scenario, cpus=today.scenario.cpus))
    throughput, response_s = fixed_point(
        scenario,
        scenario.think_time_ms / 1e3,
        servers / changed_s,
        lambda found: response_time_cpu(changed_s, found, servers),
    )
    return {"throughput_per_s": throughput, "response_time_ms": 1e3 * response_s}


def _service_s(calibration: Costs, scenario: Scenario) -> float:
    """CPU time of a transaction, server and client."""
    needs = parameters(calibration, scenario)
    flush_s = needs.flush_cpu_s if scenario.commit_wait != "nowait" else 0.0
    return needs.transaction_cpu_s + flush_s
