"""The two models that are drawn through a run's measured points.

They include no cause. They cost nothing once a few settings are measured, so every
other model must beat them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redolab.forecast.costs.costs import FACTORS, Costs, Scenario
from redolab.forecast.costs.run_costs import Measured
from redolab.model.scalability import fit_scalability

LINE = "naive straight line"
USL = "USL"
_PLACES = ("sessions", "rows_per_commit", "commit_delay_us", "log_device_ms")
"""The factors that have numbers in measured settings."""


def law_through(
    points: Sequence[Measured],
    calibration: Costs,  # noqa: ARG001
    scenario: Scenario,
) -> Mapping[str, float]:
    """The Universal Scalability Law through the settings that differ from the scenario in sessions alone.

    Raises:
        ValueError: fewer than three of them.

    Source: Gunther (2007), `redolab.model.scalability`.
    """
    _closed_and_measured(scenario)
    alike = [point for point in points if _elsewhere(point.scenario, scenario) <= {"sessions"}]
    counts = sorted({point.scenario.sessions for point in alike})
    if len(counts) < 3:
        raise ValueError(
            f"the model needs three numbers of sessions with everything else the same; {len(counts)} were "
            "measured"
        )
    law = fit_scalability([point.scenario.sessions for point in alike], [_value(point) for point in alike])
    return _through(scenario, law.throughput(scenario.sessions))


def line_through(
    points: Sequence[Measured],
    calibration: Costs,  # noqa: ARG001
    scenario: Scenario,
) -> Mapping[str, float]:
    """A straight line in each factor: the time of a transaction as a sum of what sessions, rows per commit
    and the other numbers add to it, by least squares.

    Time and not throughput, because a straight line through throughputs soon falls below nothing. Where one
    station is busy all the time, the time of a transaction is a straight line in the number of sessions.

    Raises:
        ValueError: the measured settings give no slope for a factor in which the scenario differs from them,
            or the line falls to zero.

    Source: `numpy.linalg.lstsq`.
    """
    import numpy as np

    _closed_and_measured(scenario)
    alike = [point for point in points if point.scenario.commit_wait == scenario.commit_wait]
    if not alike:
        raise ValueError(f"no setting with {scenario.commit_wait} was measured")
    varied = [name for name in _PLACES if _is_varied(name, alike, scenario)]
    rows = np.array([[float(getattr(point.scenario, name)) for name in varied] for point in alike])
    matrix = np.column_stack([np.ones(len(alike)), rows])
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        raise ValueError("the measured settings cannot separate the slopes of several factors")
    times = np.array([point.scenario.sessions / _value(point) for point in alike])
    slopes = np.linalg.lstsq(matrix, times, rcond=None)[0]
    time_s = float(
        slopes[0]
        + sum(slope * getattr(scenario, name) for slope, name in zip(slopes[1:], varied, strict=True))
    )
    if time_s <= 0:
        raise ValueError("the straight line of this model has fallen to zero at that setting")
    return _through(scenario, scenario.sessions / (time_s + scenario.think_time_ms / 1e3))


def _through(scenario: Scenario, throughput: float) -> Mapping[str, float]:
    response_s = scenario.sessions / throughput - scenario.think_time_ms / 1e3
    values = {"throughput_per_s": throughput}
    return values | ({"response_time_ms": 1e3 * response_s} if response_s > 0 else {})


def _closed_and_measured(scenario: Scenario) -> None:
    if scenario.arrival_rate_per_s is not None:
        raise ValueError("the measured sessions ran in a loop, which shows nothing of arrivals")
    if scenario.cpus is not None:
        raise ValueError("every setting was measured with the same CPUs")
    if scenario.cpu_factor != 1:
        raise ValueError("every setting was measured with the same CPU time per transaction")


def _elsewhere(measured: Scenario, scenario: Scenario) -> set[str]:
    """The factors in which a measured setting differs from what is asked."""
    return {name for name in FACTORS if getattr(scenario, name) != getattr(measured, name)}


def _is_varied(name: str, points: Sequence[Measured], scenario: Scenario) -> bool:
    """Whether there is a line in a factor; it is not needed where the scenario is as all were measured.

    Raises:
        ValueError: there is no line, and it is needed.
    """
    levels, asked = {getattr(point.scenario, name) for point in points}, getattr(scenario, name)
    if levels == {asked}:
        return False
    if len(levels) == 1:
        raise ValueError(f"{name} was never varied, so it has no slope")
    if None in levels or asked is None:
        raise ValueError(f"{name} is not a number in every measured setting, so it has no slope")
    return True


def _value(point: Measured) -> float:
    value = point.quantities["throughput_per_s"].point
    assert value is not None
    return value
