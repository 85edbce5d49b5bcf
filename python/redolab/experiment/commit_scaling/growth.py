"""Commits over sessions: how busy the log and the CPUs are, and where throughput stops to grow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redolab.model.queueing import response_time_single
from redolab.stats.enough import fewest_enough_interval
from redolab.stats.estimates import MISSING, Estimate, mean_estimate, ratio_estimate

Rates = Mapping[int, Mapping[int, float]]
"""Sessions to block to commits per second."""

_STEPS, _FULLEST = 60, 0.98


@dataclass(frozen=True)
class PublishedWait:
    """One row of the published report: how often something was waited for, and how long."""

    event: str
    elapsed_s: float
    waits: float
    time_s: float | None
    """Time in all waits together; None where it was not measured."""

    @property
    def per_hour(self) -> float:
        """Waits per hour of elapsed time."""
        return 3600 * self.per_second

    @property
    def per_second(self) -> float:
        """Waits per second of elapsed time."""
        return self.waits / self.elapsed_s

    @property
    def average_ms(self) -> float | None:
        """Mean length of a wait, milliseconds."""
        return None if self.time_s is None or not self.waits else 1e3 * self.time_s / self.waits

    @property
    def busy(self) -> float | None:
        """Time in it over elapsed time: utilization where one waits at a time, else how many wait."""
        return None if self.time_s is None else self.time_s / self.elapsed_s


def greatest(rates: Rates) -> int | None:
    """The sessions with the greatest throughput (geometric mean over the blocks)."""
    known = {sessions: mean_estimate(_logs(values)).point for sessions, values in rates.items() if values}
    return max(known, key=lambda sessions: known[sessions] or -math.inf, default=None)


def ratio(rates: Rates, sessions: int, against: int) -> Estimate:
    """Throughput of `sessions` over that of `against` sessions, paired by block."""
    return ratio_estimate(_log_ratios(rates, sessions, against))


def enough(rates: Rates, margin: float) -> Estimate:
    """The fewest sessions that bring all but `margin` of the greatest throughput.

    The point is the first measured number whose throughput is so near. The interval holds every
    measured number that cannot be ruled out at 2.5 % on its side: its low end is the first that is not
    surely short of that, its high end the first from which on none may be short, up to the greatest.
    """
    best = greatest(rates)
    if best is None:
        return MISSING
    numbers = [sessions for sessions in sorted(rates) if rates[sessions] and sessions <= best]
    over = [ratio(rates, sessions, best) for sessions in numbers]
    if any(item.point is None for item in over):
        return MISSING
    line = 1 - margin
    point = next(n for n, item in zip(numbers, over, strict=True) if (item.point or 0) >= line)
    return fewest_enough_interval(point, numbers, over, line)


def single_server(service_s: float, most_per_s: float) -> tuple[list[float], list[float]]:
    """Commits per second and response time (seconds) of one server that serves a commit at a time.

    The curve ends short of the wall at 1/service_s, where there is no steady state, or at `most_per_s`.
    """
    end = min(_FULLEST / service_s, most_per_s)
    rates = [end * step / _STEPS for step in range(1, _STEPS + 1)]
    return rates, [response_time_single(service_s, rate) for rate in rates]


def _log_ratios(rates: Rates, sessions: int, against: int) -> list[float]:
    mine, theirs = rates.get(sessions, {}), rates.get(against, {})
    return [math.log(mine[block] / theirs[block]) for block in sorted(mine.keys() & theirs.keys())]


def _logs(values: Mapping[int, float]) -> Sequence[float]:
    return [math.log(value) for value in values.values()]
