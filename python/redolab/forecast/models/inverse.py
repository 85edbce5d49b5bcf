"""Questions the other way round: which value of a factor brings what is wanted.

The model is simulated again and again while an interval of values is halved. The same is done with every
resampled calibration, and the middle 90 % of those answers are the answer's interval. It holds what the
calibration leaves open, and not the model's own error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from redolab.forecast.costs.calibrating import Calibrated
from redolab.forecast.costs.costs import Calibration, Scenario, parameters
from redolab.forecast.models.outlook import extrapolated, of_replicates
from redolab.forecast.models.quantities import SEED
from redolab.forecast.track_record import LEVEL
from redolab.model.closed import Station, sessions_at_elbow
from redolab.model.erlang import NoSteadyStateError
from redolab.model.group_commit import GroupCommitResult, simulate
from redolab.stats.estimates import Estimate

ELBOW = 0.95
"""The part of the best throughput that is enough."""
MOST_SESSIONS = 2048
MANY_ROWS = 4096
"""Rows per commit taken for very many."""
LEAST_SAVED = 0.01
"""The part of the time per row of one row per commit below which a benefit cannot be told from none."""
IDLE = 0.001
"""An arrival rate so low that hardly anything queues, over the throughput of as many sessions in a loop."""
_STEPS, _REPLICATE_STEPS = 11, 8
"""Halvings of the range of arrival rates: to a two-thousandth of it, and to a 250th."""
_HIGHER = 1.25
"""How much more is tried where the limit is kept even at the throughput of sessions in a loop. These can do
less than arrivals: the log divides them into groups that take turns."""
_COMMITS, _REPLICATE_COMMITS = 20_000, 4_000
_EACH, _REPLICATE_EACH = 150, 50
"""Commits of each session at least, where sessions are many: with 20 the start still shows, as 6 % more."""
_STEADY_COMMITS = 10_000
"""For what a shorter stretch does not tell: queues near saturation, and throughputs that hardly differ."""
_NEAR = 8
"""The first step from an answer to a replicate's, as a part of it."""


class NoAnswerError(ValueError):
    """No value of the factor brings what is wanted; the text says why."""


@dataclass(frozen=True)
class Answer:
    """A value of a factor, or why there is none."""

    question: str
    """`elbow`, `keep_p95_under` or `rows_for`."""
    wanted: float
    """The share of the best throughput or of the benefit, or the milliseconds."""
    factor: str
    value: Estimate | None
    refused: str = ""
    brings: Mapping[str, float] = field(default_factory=dict)
    """Figures that belong to the answer, by name."""
    extrapolated: Sequence[Mapping[str, Any]] = ()
    """Factors outside of what was measured, with the answer in force."""

    def as_json(self) -> dict[str, Any]:
        """The answer as the results object has it."""
        return {
            "question": self.question,
            "wanted": self.wanted,
            "factor": self.factor,
            "value": None if self.value is None else self.value.as_json(),
            "brings": dict(self.brings),
            "extrapolated": [dict(item) for item in self.extrapolated],
            "refused": self.refused or None,
        }


def elbow(calibrated: Calibrated, scenario: Scenario) -> Answer:
    """The fewest sessions that give 95 % of the best throughput that any number of them gives.

    They loop: arrivals are left out. Beside it stands `bounds_elbow`, where the asymptotic bounds of
    throughput meet when every commit has a flush of its own: group commit goes far beyond it.
    """
    looping = replace(scenario, arrival_rate_per_s=None)

    def throughput(calibration: Calibration, sessions: int, commits: int, each: int) -> float:
        asked = replace(looping, sessions=sessions)
        return _run(calibration, asked, max(commits, each * sessions)).throughput_per_s.point

    @cache
    def of_point(sessions: int) -> float:
        return throughput(calibrated.point, sessions, _COMMITS, _EACH)

    def of_replicate(calibration: Calibration) -> int:
        def mine(sessions: int) -> float:
            return throughput(calibration, sessions, _STEADY_COMMITS, _REPLICATE_EACH)

        goal = ELBOW * mine(best)
        return _first_near(point, lambda sessions: mine(sessions) >= goal, best)

    bounds = _bounds_elbow(calibrated.point, looping)
    try:
        best = _peak(of_point, MOST_SESSIONS)
    except NoAnswerError as error:
        return Answer("elbow", ELBOW, "sessions", None, str(error), {"bounds_elbow": bounds})
    point = _first(lambda sessions: of_point(sessions) >= ELBOW * of_point(best), 1, best)
    brings = {
        "throughput_per_s": of_point(point),
        "best_sessions": float(best),
        "best_throughput_per_s": of_point(best),
        "bounds_elbow": bounds,
    }
    again = of_replicates(calibrated, of_replicate)
    return Answer(
        "elbow", ELBOW, "sessions", _estimate(point, again), "", brings,
        extrapolated(calibrated, replace(looping, sessions=point)),
    )  # fmt: skip


def keep_p95_under(calibrated: Calibrated, scenario: Scenario, limit_ms: float) -> Answer:
    """The largest arrival rate at which 95 % of the transactions end within `limit_ms` of their arrival.

    Arrivals are random (Poisson); the scenario's sessions are there for them, and do not think.
    """
    open_load = replace(scenario, think_time_ms=0.0, arrival_rate_per_s=None)

    def p95_ms(calibration: Calibration, rate: float) -> float:
        try:
            result = _run(calibration, replace(open_load, arrival_rate_per_s=rate), _enough(open_load))
        except NoSteadyStateError:
            return math.inf
        return 1e3 * result.response_time.p95_s.point

    def looping(calibration: Calibration) -> float:
        return _run(calibration, open_load, _enough(open_load)).throughput_per_s.point

    def largest(calibration: Calibration, steps: int) -> float:
        high = looping(calibration)
        low = IDLE * high
        idle = p95_ms(calibration, low)
        if idle > limit_ms:
            raise NoAnswerError(
                f"with hardly any load the 95th percentile of the response time is already {idle:.3g} ms, so "
                f"no arrival rate keeps it under {limit_ms:g} ms"
            )
        while p95_ms(calibration, high) <= limit_ms:
            low, high = high, _HIGHER * high
        for _ in range(steps):
            middle = (low + high) / 2
            low, high = (middle, high) if p95_ms(calibration, middle) <= limit_ms else (low, middle)
        return low

    question, factor = "keep_p95_under", "arrival_rate_per_s"
    try:
        point = largest(calibrated.point, _STEPS)
    except NoAnswerError as error:
        return Answer(question, limit_ms, factor, None, str(error))
    brings = {
        "response_time_ms_p95": p95_ms(calibrated.point, point),
        "looping_throughput_per_s": looping(calibrated.point),
    }
    again = of_replicates(calibrated, _or_none(lambda item: largest(item, _REPLICATE_STEPS)))
    return Answer(
        question, limit_ms, factor, _estimate(point, again), "", brings,
        extrapolated(calibrated, replace(open_load, arrival_rate_per_s=point)),
    )  # fmt: skip


def rows_for(calibrated: Calibrated, scenario: Scenario, share: float) -> Answer:
    """The fewest rows per commit that save `share` (0 to 1) of the time per row that very many save.

    Very many are 4,096, compared with one. Sessions loop: arrivals are left out.

    Raises:
        ValueError: the share is not between 0 and 1, or the run does not know the cost of a row.
    """
    if not 0 < share < 1:
        raise ValueError(f"the share of the benefit is {share:g}; it must lie between 0 and 1")
    looping = replace(scenario, arrival_rate_per_s=None)

    @cache
    def row_s(calibration: Calibration, rows: int, commits: int) -> float:
        asked = replace(looping, rows_per_commit=rows)
        return 1 / (
            rows * _run(calibration, asked, max(commits, 20 * looping.sessions)).throughput_per_s.point
        )

    def fewest(calibration: Calibration, commits: int) -> int:
        one, many = (row_s(calibration, rows, commits) for rows in (1, MANY_ROWS))
        if many > (1 - LEAST_SAVED) * one:
            raise NoAnswerError("very many rows per commit save less than 1 % of the time per row of one")
        goal = one - share * (one - many)
        high = 2
        while high < MANY_ROWS and row_s(calibration, high, commits) > goal:
            high *= 2
        return _first(lambda rows: row_s(calibration, rows, commits) <= goal, high // 2 + 1, high)

    question, factor = "rows_for", "rows_per_commit"
    try:
        point = fewest(calibrated.point, _COMMITS)
    except NoAnswerError as error:
        return Answer(question, share, factor, None, str(error))
    brings = {
        name: 1 / row_s(calibrated.point, rows, _COMMITS)
        for name, rows in (("rows_per_s", point), ("rows_per_s_of_one", 1), ("rows_per_s_of_many", MANY_ROWS))
    }
    again = of_replicates(calibrated, _or_none(lambda item: fewest(item, _REPLICATE_COMMITS)))
    return Answer(
        question, share, factor, _estimate(point, again), "", brings,
        extrapolated(calibrated, replace(looping, rows_per_commit=point)),
    )  # fmt: skip


def _run(calibration: Calibration, scenario: Scenario, commits: int) -> GroupCommitResult:
    return simulate(parameters(calibration, scenario), SEED, commits)


def _enough(scenario: Scenario) -> int:
    return max(_STEADY_COMMITS, 40 * scenario.sessions)


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least number from `low` to `high` from which on it holds; `high` is taken to."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _first_near(near: int, holds: Callable[[int], bool], high: int) -> int:
    """The least number from 1 to `high` from which on it holds; `high` is taken to. Looked for from `near` on
    in steps that double.
    """
    step = max(1, near // _NEAR)
    if holds(near):
        while near > 1:
            below = max(1, near - step)
            if not holds(below):
                return _first(holds, below + 1, near)
            near, step = below, 2 * step
        return near
    while near + step < high and not holds(near + step):
        near, step = near + step, 2 * step
    return _first(holds, near + 1, min(near + step, high))


def _peak(value: Callable[[int], float], most: int) -> int:
    """Where a value that rises and then stays or falls is greatest, from 1 to `most`.

    Doubles until two steps in a row bring no 1 %, then narrows by thirds around the best.

    Raises:
        NoAnswerError: it still rises at `most`, so that the elbow may lie beyond.
    """
    tried = {1: value(1)}
    best, last, idle = 1, 1, 0
    while idle < 2 and last < most:
        last *= 2
        tried[last] = value(last)
        best, idle = (last, 0) if tried[last] > 1.01 * tried[best] else (best, idle + 1)
    if best == most and tried[most // 2] < ELBOW * tried[most]:
        raise NoAnswerError(
            f"throughput still grows at {most:,} sessions, so the elbow lies beyond what is forecast"
        )
    low, high = max(1, best // 2), min(most, 2 * best)
    while high - low > max(2, best // 8):
        third = (high - low) // 3
        one, two = low + third, high - third
        tried[one], tried[two] = value(one), value(two)
        low, high = (one, high) if tried[one] < tried[two] else (low, two)
    return max(tried, key=lambda number: tried[number])


def _bounds_elbow(calibration: Calibration, scenario: Scenario) -> float:
    """Source: asymptotic bounds, `redolab.model.closed.sessions_at_elbow`."""
    needs = parameters(calibration, scenario)
    servers = math.ceil(needs.cpus)
    cpu = needs.transaction_cpu_s + (0.0 if needs.asynchronous else needs.flush_cpu_s + needs.wake_s)
    log = (
        0.0 if needs.asynchronous else needs.device.mean_s + needs.device_s_per_byte * needs.transaction_bytes
    )
    stations = (Station(cpu * servers / needs.cpus, servers), Station(log))
    return sessions_at_elbow(stations, needs.think.mean_s)


def _or_none(answer: Callable[[Calibration], float]) -> Callable[[Calibration], float | None]:
    """The same, with None for what has no answer."""

    def asked(calibration: Calibration) -> float | None:
        try:
            return answer(calibration)
        except NoAnswerError:
            return None

    return asked


def _estimate(point: float, replicates: Sequence[float | None]) -> Estimate:
    """The middle of the answers that there are; what a replicate could not answer is left out."""
    known = [value for value in replicates if value is not None]
    if not known:
        return Estimate(float(point), None, None, LEVEL)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(known, (tail, 1 - tail), method="inverted_cdf")
    return Estimate(float(point), min(float(low), point), max(float(high), point), LEVEL)
