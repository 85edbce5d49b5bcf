"""The published response-time curves, and the single-server queue.

L is the arrival rate (units of work per time), S the service time and R the response time (time per
unit of work), M the number of servers. Any unit of time will do if all three share it.

All are open curves: arrivals do not wait for answers. Sessions that loop are a closed load, where
L R = sessions whatever M is; read the fitted M as a description of one point, no more.

Source: Craig Shallahamer, "Forecasting Oracle Performance" and OraPub (2010-2012). Against exact
Erlang C the CPU curve gives too little queue time, by up to 77 % at M = 8.

The curves are computed by the crate redolab-forecast, as they are for a page.
"""

from __future__ import annotations

from collections.abc import Sequence

from redolab import _core
from redolab.model import published
from redolab.parts import why_not_compiled

_CURVES = _core if why_not_compiled() is None else published


def response_time_cpu(service_time: float, arrival_rate: float, servers: float) -> float:
    """R = S / (1 - (S L / M)^M): one queue before M servers, the published curve for CPU.

    Raises:
        ValueError: S L reaches M, where the curve has no finite value.
    """
    found: float = _CURVES.response_time_cpu(service_time, arrival_rate, servers)
    return found


def response_time_io(service_time: float, arrival_rate: float, servers: float) -> float:
    """R = S / (1 - S L / M): a queue before each of M servers, the published curve for I/O.

    Raises:
        ValueError: S L reaches M, where the curve has no finite value.
    """
    found: float = _CURVES.response_time_io(service_time, arrival_rate, servers)
    return found


def response_time_single(service_time: float, arrival_rate: float) -> float:
    """R = S / (1 - S L): one server with random arrivals and random service times (M/M/1).

    Raises:
        ValueError: S L reaches 1, where the queue has no steady state.

    Source: A. K. Erlang (1917); any text on queueing theory.
    """
    return response_time_io(service_time, arrival_rate, 1.0)


def solve_servers(service_time: float, arrival_rate: float, response_time: float) -> float | None:
    """The M at which the published CPU curve passes through a measured (L, R).

    With q = 1 - S / R the curve says (S L / M)^M = q, so M = -ln q / W(-ln q / (S L)), W being Lambert's
    function. None when no M does: R not above S, or nothing arrives.

    Source: Corless et al., "On the Lambert W function" (1996).
    """
    found: float | None = _CURVES.solve_servers(service_time, arrival_rate, response_time)
    return found


def server_slopes(point: Sequence[float]) -> list[float] | None:
    """Slopes of M, as `solve_servers` gives it, over each of S, L and R; None where no M fits nearby.

    Args:
        point: S, L and R.
    """
    slopes = []
    for place, value in enumerate(point):
        step = _STEP * value
        ends = [
            solve_servers(*(other + sign * step * (at == place) for at, other in enumerate(point)))
            for sign in (1, -1)
        ]
        if ends[0] is None or ends[1] is None:
            return None
        slopes.append((ends[0] - ends[1]) / (2 * step))
    return slopes


_STEP = 1e-4
"""Relative step of S, L and R each, to see how M changes with it."""


def utilization(busy: float, interval: float, units: float) -> float:
    """U = R/C: busy time over the time of `units` (cores or threads, never mixed) in `interval`.

    Busy time counted in threads over units counted in cores can exceed 1; it is not clamped.

    Source: Craig Shallahamer, OraPub, "Cores vs Threads" (2011).
    """
    return busy / (interval * units)
