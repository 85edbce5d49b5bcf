"""Every figure of a watch: of one stretch, of many with its interval, and why it is not known.

The unit of work is a commit: a transaction that wrote. Every figure but M is a sum over another sum, as CPU
over commits: so a mean is over all the time there was. Its error is that of the sums, with what stretches
have from the ones before them (`redolab.stats.serial`).

Sources: Cochran, Sampling Techniques, 3rd ed. 1977, 2.11 (the variance of a ratio); for S, Q, R, L and M
Craig Shallahamer, OraPub, "unit of work time based analysis" (2010-2012).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from redolab.analysis.observed.watch.stretches import Floats, Stretches
from redolab.model.queueing import solve_servers
from redolab.stats.estimates import Estimate
from redolab.stats.serial import MeanError, mean_error

_MOST_LOG = 100.0
"""Of a half width: beyond it nothing is known."""
_STEP = 1e-4
"""Of S, L and R each, to see how M goes with it."""


@dataclass(frozen=True)
class Measure:
    """One figure: what is summed over what, and how it is told."""

    key: str
    name: str
    unit: str
    scale: float
    """From seconds and shares of 1 to the unit."""
    upper: Sequence[str]
    """Columns that are added up; one with a minus before it is taken off."""
    lower: str
    meaning: str

    @property
    def columns(self) -> list[str]:
        """All that it is made of."""
        return [*(name.lstrip("-") for name in self.upper), self.lower]

    def sums(self, stretches: Stretches) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """What is summed and what it is divided by, and in which stretches both are known."""
        signed = [
            -stretches.columns[name[1:]] if name.startswith("-") else stretches.columns[name]
            for name in self.upper
        ]
        upper: Floats = np.sum(signed, axis=0)
        lower = stretches.columns[self.lower]
        return upper, lower, np.isfinite(upper) & np.isfinite(lower)

    def point(self, stretches: Stretches) -> float | None:
        """One sum over the other, of the stretches in which both are known; None where there is none."""
        upper, lower, known = self.sums(stretches)
        return over(upper[known], lower[known])


def over(upper: Floats, lower: Floats) -> float | None:
    """A sum over another; None where what it is divided by is nothing, or no number comes of it."""
    whole = float(lower.sum())
    if not whole > 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        point = float(upper.sum()) / whole
    return point if math.isfinite(point) else None


def _one(key: str, name: str, unit: str, scale: float, upper: str, lower: str, meaning: str) -> Measure:
    return Measure(key, name, unit, scale, upper.split(), lower, meaning)


_R = "busy_s -session_cpu_s instance_cpu_s"
SUMMED: tuple[Measure, ...] = (
    _one("arrival_rate_per_s", "L: commits", "per s", 1, "transactions", "elapsed_s",
         "transactions that wrote over time"),
    _one("service_time_s", "S: CPU per commit", "ms", 1e3, "instance_cpu_s", "transactions",
         "CPU of all server processes"),
    _one("queue_time_s", "Q: other time per commit", "ms", 1e3, "busy_s -session_cpu_s", "transactions",
         "busy time of sessions that is not CPU: waits, and the queue for a CPU"),
    _one("response_time_s", "R = S + Q", "ms", 1e3, _R, "transactions",
         "busy time of sessions and CPU of the background, per commit"),
    _one("session_response_time_s", "Session R", "ms", 1e3, "busy_s", "transactions",
         "busy time of sessions alone, per commit"),
    _one("busy_sessions", "Sessions busy at a time", "sessions", 1, "busy_s", "elapsed_s",
         "not waiting for a client"),
    _one("connected_sessions", "Sessions connected", "sessions", 1, "connected_s", "elapsed_s",
         "mean over time"),
    _one("log_sync_share", "Log sync's share", "% of busy time", 100, "log_sync_s", "busy_s",
         "what better commits can save at the most"),
    _one("log_sync_per_commit_s", "Log sync per commit", "ms", 1e3, "log_sync_s", "transactions",
         "sessions' time waiting for a commit's flush, over commits"),
    _one("commits_per_flush", "Commits per flush", "commits", 1, "transactions", "log_flushes",
         "more than 1: commits share flushes"),
    _one("time_per_flush_s", "Time of a log flush", "ms", 1e3, "log_flush_time_s", "log_flushes",
         "mean, as the server timed them"),
    _one("time_per_write_s", "Time of a log write", "ms", 1e3, "log_write_time_s", "log_writes",
         "mean, as the server timed them"),
    _one("log_flushes_per_s", "Flushes of the log", "per s", 1, "log_flushes", "elapsed_s",
         "flush calls over time"),
    _one("log_utilization", "Log busy with flushes", "% of the time", 100, "log_flush_time_s",
         "elapsed_s", "flush time over time; more than 100 % where two flush at once"),
    _one("time_per_binlog_flush_s", "Time of a binlog flush", "ms", 1e3, "binlog_flush_time_s",
         "binlog_flushes", "mean, as the server timed them"),
    _one("commits_per_binlog_flush", "Commits per binlog flush", "commits", 1, "transactions",
         "binlog_flushes", "more than 1: commits share flushes"),
    _one("rows_per_commit", "Rows per commit", "rows", 1, "rows_written", "transactions",
         "rows inserted, updated and deleted, over commits"),
    _one("log_bytes_per_commit", "Log per commit", "kB", 1e-3, "log_bytes", "transactions",
         "log generated, over commits"),
    _one("run_queue_share", "Run queue's share", "% of busy time", 100, "session_run_queue_s", "busy_s",
         "sessions that were ready to run and had no CPU"),
    _one("cpu_utilization_cores", "Database's CPU, of cores", "%", 100, "instance_cpu_s", "core_s",
         "CPU of all server processes over cores; threads of a core count each, so it can exceed 100 %"),
    _one("cpu_utilization_threads", "Database's CPU, of threads", "%", 100, "instance_cpu_s", "thread_s",
         "the same over logical CPUs"),
    _one("host_utilization_cores", "Machine's CPU, of cores", "%", 100, "host_busy_s", "core_s",
         "CPU of every process by the kernel, over cores"),
    _one("host_utilization_threads", "Machine's CPU, of threads", "%", 100, "host_busy_s", "thread_s",
         "the same over logical CPUs"),
    _one("steal_share", "Taken by the hypervisor", "% of threads' time", 100, "host_steal_s", "thread_s",
         "CPU time that others had while this machine had work"),
)  # fmt: skip
"""Every figure that is a sum over a sum; times in seconds, sizes in bytes, shares of 1."""
_PARTS = frozenset(
    {
        "log_sync_share",
        "run_queue_share",
        "cpu_utilization_threads",
        "host_utilization_threads",
        "steal_share",
    }
)
"""Those that are parts of a whole."""
SERVERS = Measure(
    "servers", "M of the published curve", "servers", 1,
    ("transactions", *_R.split(), "elapsed_s"), "transactions", "solved from L, S and R",
)  # fmt: skip
FIGURES: Mapping[str, Measure] = {item.key: item for item in (*SUMMED[:5], SERVERS, *SUMMED[5:])}
_WHY: Mapping[str, str] = {
    "transactions": "the server did not count its transactions",
    "rows_written": "the server did not count its rows",
    "log_flushes": "the server did not count its flushes",
    "log_flush_time_s": "the server did not time its flushes",
    "log_writes": "the server did not count its writes to the log",
    "log_write_time_s": "the server did not time its writes to the log",
    "log_bytes": "the server did not tell how much log it made",
    "binlog_flushes": "there is no binary log, or its flushes were not counted",
    "binlog_flush_time_s": "there is no binary log, or its flushes were not timed",
    "core_s": "the number of cores is not known",
    "thread_s": "the number of CPUs is not known",
    "host_busy_s": "the machine's CPU time could not be read",
    "host_steal_s": "the machine's steal could not be read",
    "busy_s": "the sessions' time was not told apart",
    "connected_s": "the sessions' time was not read",
    "log_sync_s": "waits for the log were not told apart",
    "elapsed_s": "no time was watched",
}
"""Why a column has no figure."""
_NO_CPU = "CPU could not be read of the server's processes: they are on another machine, or another user's"


@dataclass(frozen=True)
class Found:
    """A figure over several stretches."""

    point: float | None
    error: MeanError | None
    """Of `point`; None where there are too few stretches."""
    stretches: int
    """In which it is known."""
    why: str | None
    """Why there is no point; None where there is one."""
    part: bool = False
    """Whether it is a part of a whole, and so at most 1."""

    def estimate(self, level: float = 0.95) -> Estimate:
        """The figure with its interval: by the logarithm where it is positive, of a part by the logit."""
        if self.point is None or self.error is None:
            return Estimate(self.point, None, None, level)
        half = self.error.half_width(level)
        if self.point <= 0:
            return Estimate(self.point, self.point - half, self.point + half, level)
        if self.part and self.point < 1:
            odds = self.point / (1 - self.point)
            times = math.exp(min(half / (self.point * (1 - self.point)), _MOST_LOG))
            return Estimate(self.point, odds / (odds + times), odds * times / (1 + odds * times), level)
        times = math.exp(min(half / self.point, _MOST_LOG))
        return Estimate(self.point, self.point / times, self.point * times, level)


def figure(key: str, stretches: Stretches) -> Found:
    """A figure over stretches, each weighted by what it had."""
    if key == SERVERS.key:
        return _servers(stretches)
    return summed(FIGURES[key], stretches)


def figures(stretches: Stretches) -> dict[str, Found]:
    """Every figure, by the keys of `FIGURES`."""
    return {key: figure(key, stretches) for key in FIGURES}


def known_response(stretches: Stretches) -> str:
    """The key of R: that of sessions alone where CPU of the server's processes could not be read."""
    whole = figure("response_time_s", stretches)
    return "session_response_time_s" if whole.point is None else "response_time_s"


def each(key: str, stretches: Stretches) -> Floats:
    """The figure of every stretch by itself; NaN where it is not known."""
    if key == SERVERS.key:
        parts = [each(name, stretches) for name in _OF_SERVERS]
        found = [
            solve_servers(*map(float, one)) if np.all(np.isfinite(one)) else None
            for one in zip(*parts, strict=True)
        ]
        return np.array([np.nan if value is None else value for value in found], dtype=float)
    upper, lower, known = FIGURES[key].sums(stretches)
    with np.errstate(all="ignore"):
        values = upper / lower
    return np.where(known & (lower > 0) & np.isfinite(values), values, np.nan)


_OF_SERVERS = ("service_time_s", "arrival_rate_per_s", "response_time_s")


def summed(measure: Measure, stretches: Stretches) -> Found:
    """A sum over another, over the stretches in which both are known."""
    upper, lower, known = measure.sums(stretches)
    found = quotient(
        upper[known], lower[known], stretches.columns["elapsed_s"][known], part=measure.key in _PARTS
    )
    return found if found.point is not None else replace(found, why=_why(measure, stretches))


def quotient(upper: Floats, lower: Floats, lengths: Floats, part: bool = False) -> Found:
    """A sum over another, with what each stretch of some length has of both; or a `part` of the other."""
    whole, point = float(lower.sum()), over(upper, lower)
    if not whole > 0:
        return Found(None, None, len(upper), "what it is divided by is nothing")
    if point is None:
        return Found(None, None, len(upper), "its figures are no numbers that can be divided")
    with np.errstate(over="ignore", invalid="ignore"):
        influence = (upper - point * lower) * (len(upper) / whole)
    return Found(point, _error(influence, lengths), len(upper), None, part)


def _error(influence: Floats, lengths: Floats) -> MeanError | None:
    return mean_error(influence, lengths) if np.all(np.isfinite(influence)) else None


def _why(measure: Measure, stretches: Stretches) -> str:
    if not len(stretches):
        return "no stretch counts"
    for name in dict.fromkeys(measure.columns):
        if not np.isfinite(stretches.columns[name]).any():
            return _WHY.get(name, _NO_CPU)
    nothing = {
        "transactions": "nothing was committed that wrote",
        "log_flushes": "the log was not flushed",
        "log_writes": "nothing was written to the log",
        "binlog_flushes": "the binary log was not flushed",
        "busy_s": "no session was busy",
    }
    return nothing.get(measure.lower, "what it is made of was never known at the same time")


def _servers(stretches: Stretches) -> Found:
    """M from the means; its error as S, L and R move together from stretch to stretch."""
    _, _, known = SERVERS.sums(stretches)
    if not known.any():
        return Found(None, None, 0, _why(SERVERS, stretches))
    mine = stretches.only(known)
    parts = [summed(FIGURES[key], mine) for key in _OF_SERVERS]
    points = [part.point for part in parts]
    if None in points:
        return Found(None, None, int(known.sum()), next(part.why for part in parts if part.point is None))
    values = [float(point) for point in points if point is not None]
    servers = solve_servers(*values)
    if servers is None:
        return Found(None, None, len(mine), "no M fits S, L and R: R is not above S")
    influence = np.zeros(len(mine))
    for place, key in enumerate(_OF_SERVERS):
        slope = _slope(values, place)
        if slope is None:
            return Found(servers, None, len(mine), None)
        upper, lower, _ = FIGURES[key].sums(mine)
        influence += slope * (upper - values[place] * lower) * (len(mine) / float(lower.sum()))
    return Found(servers, _error(influence, mine.columns["elapsed_s"]), len(mine), None)


def _slope(values: Sequence[float], place: int) -> float | None:
    """How M goes with one of S, L and R."""
    step = _STEP * values[place]
    ends = [
        solve_servers(*(value + sign * step * (at == place) for at, value in enumerate(values)))
        for sign in (1, -1)
    ]
    if ends[0] is None or ends[1] is None:
        return None
    return (ends[0] - ends[1]) / (2 * step)
