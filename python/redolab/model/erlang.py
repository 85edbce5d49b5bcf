"""Open queues with random arrivals: M/M/1 and M/M/m, exactly.

L is the arrival rate, S the mean service time, m the number of servers. Any unit of time will do if
all share it. Arrivals do not wait for answers: sessions that loop are a closed load
(`redolab.model.closed`). The crate redolab-forecast computes all of this, as it does for a page.
"""

from __future__ import annotations

from dataclasses import dataclass

from redolab import _core
from redolab._core import NoSteadyStateError

__all__ = ["NoSteadyStateError", "OpenQueue", "erlang_b", "erlang_c", "open_queue"]


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
        return _core.response_time_quantile(self, share)


def erlang_b(servers: int, offered: float) -> float:
    """Share of arrivals turned away by `servers` without a queue, for `offered` = L S.

    Raises:
        ValueError: no servers, or a negative load.

    Source: A. K. Erlang (1917); the recursion in the number of servers is the usual stable one.
    """
    return _core.erlang_b(servers, offered)


def erlang_c(servers: int, offered: float) -> float:
    """Share of arrivals that wait, with `servers` and one queue, for `offered` = L S.

    Raises:
        ValueError: no servers, or a negative load.
        NoSteadyStateError: the load reaches the number of servers.

    Source: A. K. Erlang (1917), by way of `erlang_b`.
    """
    return _core.erlang_c(servers, offered)


def open_queue(arrival_rate: float, service_time: float, servers: int = 1) -> OpenQueue:
    """The M/M/m queue; M/M/1 with one server.

    Raises:
        ValueError: a rate, time or number that cannot be.
        NoSteadyStateError: work arrives at least as fast as it can be done.

    Source: Kleinrock, Queueing Systems, volume 1 (1975), chapter 3.
    """
    found = _core.open_queue(arrival_rate, service_time, servers)
    return OpenQueue(arrival_rate, service_time, servers, *found)
