"""Open queues with random arrivals: M/M/1 and M/M/m, exactly.

L is the arrival rate, S the mean service time, m the number of servers. Any unit of time will do if
all share it. Arrivals do not wait for answers: sessions that loop are a closed load
(`redolab.model.closed`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


class NoSteadyStateError(ValueError):
    """Work arrives as fast as the servers can do it, or faster: the queue grows without end."""


@dataclass(frozen=True)
class OpenQueue:
    """The steady state of an M/M/m queue; times in the unit of the service time."""

    arrival_rate: float
    service_time: float
    servers: int
    utilization: float
    """Share of each server's time that it is busy, 0 to 1."""
    waiting_probability: float
    """Share of arrivals that find every server busy."""
    queue_time: float
    """Mean time before service begins."""
    response_time: float
    """Mean time in all."""

    def response_time_quantile(self, share: float) -> float:
        """The time within which `share` (0 to 1) of the units of work are done, first come first served.

        Raises:
            ValueError: `share` is not between 0 and 1.

        Source: Kleinrock, Queueing Systems, volume 1 (1975), section 5.12, for the waiting time;
        the response time is its sum with an exponential service time, inverted by bisection.
        """
        if not 0 < share < 1:
            raise ValueError(f"the share is {share:g}; it must lie between 0 and 1")
        low, high = 0.0, self.response_time
        while self._longer_than(high) > 1 - share:
            low, high = high, 2 * high
        for _ in range(200):
            middle = (low + high) / 2
            if self._longer_than(middle) > 1 - share:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def _longer_than(self, time: float) -> float:
        """Probability of a response time above `time`."""
        rate = 1 / self.service_time
        drain = rate * (self.servers - self.arrival_rate * self.service_time)
        waits = self.waiting_probability
        if math.isclose(drain, rate, rel_tol=1e-9):
            return math.exp(-rate * time) * (1 + waits * rate * time)
        # Waiting is exponential with rate `drain` where it happens; service with `rate`.
        both = (drain * math.exp(-rate * time) - rate * math.exp(-drain * time)) / (drain - rate)
        return (1 - waits) * math.exp(-rate * time) + waits * both


def erlang_b(servers: int, offered: float) -> float:
    """Share of arrivals turned away by `servers` without a queue, for `offered` = L S.

    Raises:
        ValueError: no servers, or a negative load.

    Source: A. K. Erlang (1917); the recursion in the number of servers is the usual stable one.
    """
    _checked(servers, offered)
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return blocked


def erlang_c(servers: int, offered: float) -> float:
    """Share of arrivals that wait, with `servers` and one queue, for `offered` = L S.

    Raises:
        ValueError: no servers, or a negative load.
        NoSteadyStateError: the load reaches the number of servers.

    Source: A. K. Erlang (1917), by way of `erlang_b`.
    """
    blocked = erlang_b(servers, offered)
    if offered >= servers:
        raise NoSteadyStateError(f"no steady state: the load L S = {offered:g} reaches the {servers} servers")
    return servers * blocked / (servers - offered * (1 - blocked))


def open_queue(arrival_rate: float, service_time: float, servers: int = 1) -> OpenQueue:
    """The M/M/m queue; M/M/1 with one server.

    Raises:
        ValueError: a rate, time or number that cannot be.
        NoSteadyStateError: work arrives at least as fast as it can be done.

    Source: Kleinrock, Queueing Systems, volume 1 (1975), chapter 3.
    """
    if not (service_time > 0 and math.isfinite(service_time)):
        raise ValueError(f"the service time is {service_time:g}; it must be greater than 0")
    if not (arrival_rate >= 0 and math.isfinite(arrival_rate)):
        raise ValueError(f"the arrival rate is {arrival_rate:g}; it must be 0 or more")
    offered = arrival_rate * service_time
    waits = erlang_c(servers, offered)
    queue_time = waits * service_time / (servers - offered)
    return OpenQueue(
        arrival_rate, service_time, servers, offered / servers, waits, queue_time, queue_time + service_time
    )


def _checked(servers: int, offered: float) -> None:
    if servers < 1:
        raise ValueError(f"there are {servers} servers; there must be at least one")
    if not (offered >= 0 and math.isfinite(offered)):
        raise ValueError(f"the load L S is {offered:g}; it must be 0 or more")
