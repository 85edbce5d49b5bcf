"""Every figure of a watch: of one stretch, of many with its interval, and why it is not known.

Every figure but M is a sum over another sum, as CPU over commits: so a mean is over all the time there was.
Its error is the error of the sums, which allows for the correlation between successive stretches
(`redolab.stats.serial`).

Source: Cochran, Sampling Techniques, 3rd ed. 1977, 2.11 (the variance of a ratio).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from redolab.analysis.observed.figures import WATCH
from redolab.analysis.observed.watch.stretches import Floats, Stretches
from redolab.model.queueing import server_slopes, solve_servers
from redolab.stats.estimates import Estimate, skewed
from redolab.stats.serial import MeanError, mean_error


def sums(key: str, stretches: Stretches) -> tuple[Floats, Floats]:
    """The sum for a figure and its divisor, in every stretch."""
    return added(WATCH[key].upper, WATCH[key].lower, stretches)


def added(upper: str, lower: str, stretches: Stretches) -> tuple[Floats, Floats]:
    """The columns `upper` added up, and the column `lower`, in every stretch."""
    signed = [
        -stretches.columns[name[1:]] if name.startswith("-") else stretches.columns[name]
        for name in upper.split()
    ]
    return np.sum(signed, axis=0), stretches.columns[lower]


def over(upper: Floats, lower: Floats) -> float | None:
    """A sum over another, of the values that are known in both; None where no number comes of it."""
    known = np.isfinite(upper) & np.isfinite(lower)
    whole = float(lower[known].sum())
    if not whole > 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        point = float(upper[known].sum()) / whole
    return point if math.isfinite(point) else None


_WHY: Mapping[str, str] = {
    "transactions": "the server did not count its transactions",
    "session_transactions": (
        "replication commits on this server too, and its commits are not distinguished from those of sessions"
    ),
    "rows_written": "the server did not count its rows",
    "log_flushes": "the server did not count its flushes",
    "log_flush_time_s": "the server did not time its flushes",
    "log_writes": "the server did not count its writes to the log",
    "log_write_time_s": "the server did not time its writes to the log",
    "log_bytes": "the server did not report how much log it generated",
    "binlog_flushes": "there is no binary log, or its flushes were not counted",
    "binlog_flush_time_s": "there is no binary log, or its flushes were not timed",
    "core_s": "the number of cores is not known",
    "thread_s": "the number of CPUs is not known",
    "host_busy_s": "the machine's CPU time could not be read",
    "host_steal_s": "the machine's steal could not be read",
    "busy_s": "the sessions' busy time was not distinguished from waiting for clients",
    "connected_s": "the sessions' time was not read",
    "log_sync_s": "waits for the log were not distinguished from other waits",
    "elapsed_s": "no time was watched",
}
"""Why a column has no figure."""
_NOTHING = "no transaction that wrote was committed"
_NO_CPU = "the server's processes run on another machine or as another user, so their CPU could not be read"


@dataclass(frozen=True)
class Found:
    """A figure over several stretches."""

    point: float | None
    error: MeanError | None
    """Error of `point`; None where there are too few stretches."""
    stretches: int
    """Stretches in which it is known."""
    why: str | None
    """Why there is no point; None where there is one."""
    part: bool = False
    """Whether it is a part of a whole, and so at most 1."""

    def estimate(self, level: float = 0.95) -> Estimate:
        """The figure with its interval: by the logarithm where it is positive, of a part by the logit."""
        if self.point is None or self.error is None:
            return Estimate(self.point, None, None, level)
        half = self.error.half_width(level)
        if self.point < 0:
            return Estimate(self.point, self.point - half, self.point + half, level)
        return skewed(self.point, half, level, part=self.part)


def over_stretches(key: str, stretches: Stretches) -> Found:
    """A figure over stretches, each weighted by what it had."""
    return _servers(stretches) if key == _SERVERS else summed(key, stretches)


def figures(stretches: Stretches) -> dict[str, Found]:
    """Every figure, by its key."""
    return {key: over_stretches(key, stretches) for key in WATCH}


def known_response(stretches: Stretches) -> str:
    """The key of R: the R of sessions alone where CPU of the server's processes could not be read."""
    whole = over_stretches("response_time_s", stretches)
    return "session_response_time_s" if whole.point is None else "response_time_s"


def each(key: str, stretches: Stretches) -> Floats:
    """The figure of every stretch by itself; NaN where it is not known."""
    if key == _SERVERS:
        parts = [each(name, stretches) for name in _OF_SERVERS]
        found = [
            solve_servers(*map(float, one)) if np.all(np.isfinite(one)) else None
            for one in zip(*parts, strict=True)
        ]
        return np.array([np.nan if value is None else value for value in found], dtype=float)
    upper, lower = sums(key, stretches)
    with np.errstate(all="ignore"):
        values = upper / lower
    return np.where((lower > 0) & np.isfinite(values), values, np.nan)


_SERVERS = "servers"
_OF_SERVERS = ("service_time_s", "arrival_rate_per_s", "response_time_s")


def summed(key: str, stretches: Stretches) -> Found:
    """A sum over another, over the stretches in which both are known."""
    found = quotient(*sums(key, stretches), stretches.columns["elapsed_s"], WATCH[key].part)
    return found if found.point is not None else replace(found, why=_why(key, stretches))


def quotient(upper: Floats, lower: Floats, lengths: Floats, part: bool = False) -> Found:
    """A sum over another, of stretches of some length in which both are known; or a `part` of the other."""
    known = np.isfinite(upper) & np.isfinite(lower)
    upper, lower, lengths = upper[known], lower[known], lengths[known]
    whole, point = float(lower.sum()), over(upper, lower)
    if not whole > 0:
        return Found(None, None, len(upper), "the figure that it is divided by is zero")
    if point is None:
        return Found(None, None, len(upper), "its figures cannot be divided")
    with np.errstate(over="ignore", invalid="ignore"):
        influence = (upper - point * lower) * (len(upper) / whole)
    return Found(point, _error(influence, lengths), len(upper), None, part)


def _error(influence: Floats, lengths: Floats) -> MeanError | None:
    return mean_error(influence, lengths) if np.all(np.isfinite(influence)) else None


def _why(key: str, stretches: Stretches) -> str:
    if not len(stretches):
        return "no stretch counts"
    for name in dict.fromkeys(WATCH[key].columns):
        if not np.isfinite(stretches.columns[name]).any():
            return _WHY.get(name, _NO_CPU)
    nothing = {
        "transactions": _NOTHING,
        "session_transactions": _NOTHING,
        "log_flushes": "the log was not flushed",
        "log_writes": "nothing was written to the log",
        "binlog_flushes": "the binary log was not flushed",
        "busy_s": "no session was busy",
    }
    return nothing.get(WATCH[key].lower, "its parts were never known at the same time")


def _servers(stretches: Stretches) -> Found:
    """M from the means; its error allows for S, L and R moving together from stretch to stretch."""
    known = np.isfinite(sums(_SERVERS, stretches)[0])
    if not known.any():
        return Found(None, None, 0, _why(_SERVERS, stretches))
    mine = stretches.only(known)
    parts = [summed(key, mine) for key in _OF_SERVERS]
    points = [part.point for part in parts]
    if None in points:
        return Found(None, None, int(known.sum()), next(part.why for part in parts if part.point is None))
    values = [float(point) for point in points if point is not None]
    servers = solve_servers(*values)
    if servers is None:
        return Found(None, None, len(mine), "no M fits S, L and R: R is not above S")
    slopes = server_slopes(values)
    if slopes is None:
        return Found(servers, None, len(mine), None)
    influence = np.zeros(len(mine))
    for place, (key, slope) in enumerate(zip(_OF_SERVERS, slopes, strict=True)):
        upper, lower = sums(key, mine)
        influence += slope * (upper - values[place] * lower) * (len(mine) / float(lower.sum()))
    return Found(servers, _error(influence, mine.columns["elapsed_s"]), len(mine), None)
