"""Closed networks: N sessions that go round a few stations and think in between, by mean value analysis.

Throughput X, response time R and think time Z obey N = X (R + Z) whatever the stations are. Demand is
the mean service time that one round asks of a station. Service is exponential and first come first
served, or of any shape and shared.

Source: Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks", JACM 27
(1980); Lazowska, Zahorjan, Graham and Sevcik, Quantitative System Performance (1984), chapters 6 to 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from redolab import _core


@dataclass(frozen=True)
class Station:
    """One place where sessions queue."""

    demand: float
    """Mean service time per round, in the unit of all times."""
    servers: int = 1


@dataclass(frozen=True)
class ClosedNetwork:
    """The steady state with one number of sessions."""

    sessions: int
    throughput: float
    """Rounds per unit of time, all sessions."""
    response_time: float
    """Mean time of a round without its think time."""
    residence_times: tuple[float, ...]
    """Mean time per round at each station, queue and service."""
    utilizations: tuple[float, ...]
    """Share of each station's servers that is busy, 0 to 1."""


def exact_mva(stations: Sequence[Station], sessions: int, think_time: float = 0.0) -> ClosedNetwork:
    """The exact steady state of `sessions` sessions.

    A station with several servers is followed with the probabilities of its queue lengths.

    Raises:
        ValueError: no station, no session, or a demand or time that cannot be.

    Source: Reiser and Lavenberg (1980); for several servers the load-dependent form, Lazowska et al.
    (1984), section 8.2.
    """
    _check(stations, sessions, think_time)
    mean = [0.0] * len(stations)
    # Probability of 0, 1, ... sessions at each station with one session fewer.
    lengths = [[1.0] for _ in stations]
    throughput, residence = 0.0, [0.0] * len(stations)
    for count in range(1, sessions + 1):
        residence = [
            _residence(station, mean[place], lengths[place]) for place, station in enumerate(stations)
        ]
        throughput = count / (think_time + sum(residence))
        mean = [throughput * time for time in residence]
        lengths = [
            _lengths(station, throughput, lengths[place], count) for place, station in enumerate(stations)
        ]
    return _network(stations, sessions, throughput, residence)


def approximate_mva(
    stations: Sequence[Station], sessions: float, think_time: float = 0.0, tolerance: float = 1e-10
) -> ClosedNetwork:
    """The steady state by a fixed point, for numbers of sessions where the exact recursion is long.

    A station with m servers is modelled as one that is m times as fast, and a delay for the rest of its
    demand. Within a few percent of `exact_mva`, worst in the middle of the range.

    Raises:
        ValueError: no station, no session, or a demand or time that cannot be.

    Source: Schweitzer (1979) and Bard (1979), in Lazowska et al. (1984), section 6.4.2; the split of
    several servers: Seidmann, Schweitzer and Shalev-Oren (1987).
    """
    _check(stations, math.ceil(sessions), think_time)
    queueing = [station.demand / station.servers for station in stations]
    delays = [station.demand * (station.servers - 1) / station.servers for station in stations]
    mean = [sessions / len(stations)] * len(stations)
    while True:
        others = [length * (sessions - 1) / sessions for length in mean]
        residence = [demand * (1 + length) for demand, length in zip(queueing, others, strict=True)]
        throughput = sessions / (think_time + sum(residence) + sum(delays))
        following = [throughput * time for time in residence]
        moved = max(abs(one - two) for one, two in zip(following, mean, strict=True))
        mean = following
        if moved <= tolerance * sessions:
            times = [time + delay for time, delay in zip(residence, delays, strict=True)]
            return _network(stations, math.ceil(sessions), throughput, times)


def sessions_at_elbow(stations: Sequence[Station], think_time: float = 0.0) -> float:
    """The number of sessions at which the two asymptotic bounds of throughput meet.

    Raises:
        ValueError: no station with a demand.

    Source: Lazowska et al. (1984), chapter 5 (N*).
    """
    _check(stations, 1, think_time)
    return _core.sessions_at_elbow([(one.demand, one.servers) for one in stations], think_time)


def _residence(station: Station, mean: float, lengths: Sequence[float]) -> float:
    if station.servers == 1:
        return station.demand * (1 + mean)
    # An arrival that finds j others is served at the pace of min(j + 1, servers).
    return station.demand * sum(
        (ahead + 1) / min(ahead + 1, station.servers) * share for ahead, share in enumerate(lengths)
    )


def _lengths(station: Station, throughput: float, before: Sequence[float], count: int) -> list[float]:
    if station.servers == 1:
        return [1.0]
    busy = [
        station.demand * throughput / min(there, station.servers) * before[there - 1]
        for there in range(1, count + 1)
    ]
    return [max(0.0, 1 - math.fsum(busy)), *busy]


def _network(
    stations: Sequence[Station], sessions: int, throughput: float, residence: Sequence[float]
) -> ClosedNetwork:
    return ClosedNetwork(
        sessions,
        throughput,
        math.fsum(residence),
        tuple(residence),
        tuple(throughput * station.demand / station.servers for station in stations),
    )


def _check(stations: Sequence[Station], sessions: int, think_time: float) -> None:
    if not stations:
        raise ValueError("there is no station")
    if sessions < 1:
        raise ValueError(f"there are {sessions} sessions; there must be at least one")
    if not (think_time >= 0 and math.isfinite(think_time)):
        raise ValueError(f"the think time is {think_time:g}; it must be 0 or more")
    for station in stations:
        if not (station.demand >= 0 and math.isfinite(station.demand)) or station.servers < 1:
            raise ValueError(f"{station} needs a demand of 0 or more and at least one server")
    if think_time + sum(station.demand for station in stations) == 0:
        raise ValueError("a round asks for no time at all")
