"""Costs from a watched run: its stretches of a server at work (`redolab watch`).

Figures are read as its page reads them: each is a sum over another, of the stretches in which both are
known.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from redolab.analysis.observed.watch.measures import added, over, over_stretches, quotient, sums
from redolab.analysis.observed.watch.stretches import Stretches, read_stretches
from redolab.analysis.observed.watch.waits import buckets
from redolab.dialect.innodb import flushes_redo_at_commit
from redolab.forecast.costs.costs import statements_of
from redolab.forecast.costs.inferred.fit import Workload
from redolab.forecast.costs.inferred.priors import Prior, prior_of, quantiles_of
from redolab.forecast.costs.inferred.uncertainty import inferred
from redolab.forecast.costs.logs import ONE_DEVICE, OWN_DEVICES, LogColumns, Logs, logs_of
from redolab.forecast.costs.run_costs import WHOLE, Effort, NoCostsError, RunCosts
from redolab.records.run import Run
from redolab.records.watched import LOG_WRITE
from redolab.stats.estimates import Estimate

# The clients' CPU time is theirs from this share of the server's on: below, it is that of whatever runs
# there.
_CLIENTS = 0.05
# A commit's wait for the log below this part of a flush's time counts as no wait.
_NO_WAIT = 0.2
# A flush serves no more commits than there are sessions that wait.
_MORE_THAN_ALL = 1.5
_ENOUGH_FLUSHES = 20
# By so much sessions may vary over the stretches without a word.
_VARIES = 2.0
_ROWS = "The rows that transactions wrote were not counted; one row in each transaction is assumed."
_VARIED = (
    "Between {fewest} and {most} sessions worked in a stretch of the watch. The forecast assumes {mean} "
    "sessions all the time."
)


def calibrate_watched(run: Run, effort: Effort = WHOLE) -> RunCosts:
    """Costs with which the setting that was watched gives what was seen.

    Args:
        run: of `redolab watch`.
        effort: how many replicates there are, and the limits of the simulations.

    Raises:
        NoCostsError: it lacks a figure that they are solved from; the text names it.
        SimulationTooLongError: the simulations take more.
    """
    engine = run.manifest["engine"]
    logs = logs_of({**engine, "binlog": engine.get("binlog") and _flushes_binlog(run)})
    stretches = _counting(run)
    _check(run, stretches)
    found = prior_of(str(engine["name"]), len(logs.columns))
    shape = _flush_shape(run, stretches)
    cpus = int(np.nanmax(stretches.columns["host_cpus"]))
    eyes = _WatchReader(logs, found.prior, shape, cpus, _without_redo(run), _timed_apart(logs, stretches))
    seen = eyes.see(stretches)

    def drawn(rng: random.Random) -> Workload:
        other = replace(eyes, prior=found.prior.drawn(rng))
        return other.see(_drawn(stretches, rng))

    one_interrupt = (run.manifest.get("machine", {}).get("disk_queues") or 1) == 1
    seed = int(run.manifest["design"].get("seed") or 0)
    quantities = partial(_quantities, stretches, seen)
    cautions = _cautions(stretches, seen, logs)
    return inferred(run, seen, drawn, found, logs, quantities, cautions, one_interrupt, seed, effort)


@dataclass(frozen=True)
class _WatchReader:
    """The settings with which stretches are read."""

    logs: Logs
    prior: Prior
    shape: tuple[float, ...]
    cpus: int
    """CPUs of the machine."""
    without_redo: bool
    """Whether the server's parameters say that commits do not wait for the redo log."""
    apart: frozenset[str]
    """The columns of times that this server has apart from its flushes': of writes."""

    def see(self, stretches: Stretches) -> Workload:
        """The workload of stretches together."""
        rate, sessions = _known("arrival_rate_per_s", stretches), _sessions(stretches)
        server_s, busy_s = _server_s(stretches), _known("session_response_time_s", stretches)
        assert server_s is not None, "it was looked at before"
        others_s = over(*added("host_busy_s -instance_cpu_s -sampler_cpu_s", "transactions", stretches))
        counted_rows = _point("rows_per_commit", stretches)
        rows = max(1, round(counted_rows or 1))
        client_s, available, others = self._of_others(
            server_s, None if others_s is None else max(others_s, 0.0), sessions, rows
        )
        first, *later = self.logs.columns
        flush_s = _flush_s(stretches, first, self.apart)
        waiting_s = _point("log_sync_per_commit_s", stretches)
        per_flush = _point("commits_per_flush", stretches)
        return Workload(
            sessions=sessions,
            cpus=self.cpus,
            commits_per_s=rate,
            rows_per_commit=rows,
            server_cpu_s=server_s,
            client_cpu_s=client_s,
            others=rate * others,
            available=available,
            # A session cannot be busy longer than it is there.
            busy_s=min(busy_s, sessions / rate),
            flush_s=flush_s,
            second_flush_s=_flush_s(stretches, later[0], self.apart) if later else None,
            flush_shape=self.shape,
            waiting_s=waiting_s,
            commits_per_flush=per_flush,
            log_bytes=_point("log_bytes_per_commit", stretches),
            commit_wait=self._wait(sessions, flush_s, waiting_s, per_flush),
            rows_counted=counted_rows is not None,
        )

    def _of_others(
        self, server_s: float, others_s: float | None, sessions: int, rows: int
    ) -> tuple[float | None, float | None, float]:
        """The clients' part of others' CPU time per commit; the part of all that is the server's and
        theirs; and the CPU time of everything else that ran there.

        The kernel's work for flushes is to the clients' as in the prior. What is more than the clients may
        need by the prior is somebody else's.

        Args:
            server_s: CPU time of the sessions per commit.
            others_s: CPU time of others and of the kernel per commit; None where it is not known.
            sessions: that worked.
            rows: per commit.
        """
        if others_s is None:
            return None, None, 0.0
        usual_s = statements_of(rows) * self.prior.shape(self.logs, self.cpus).client_with(sessions)
        part = self.prior.client_part
        client_s = min(part * others_s, self.prior.spread * usual_s)
        if client_s < max(_CLIENTS * server_s, usual_s / self.prior.spread**2):
            return None, None, others_s
        ours_s = client_s / part
        return client_s, (server_s + client_s) / (server_s + ours_s), others_s - ours_s

    def _wait(
        self, sessions: int, flush_s: float | None, waiting_s: float | None, per_flush: float | None
    ) -> str:
        """Whether commits wait: each that does is served by a flush, which serves a session once at the
        most.
        """
        if self.without_redo:
            return "binlog" if len(self.logs.columns) > 1 else "nowait"
        if per_flush is not None and per_flush > _MORE_THAN_ALL * sessions:
            return "nowait"
        if flush_s is not None and waiting_s is not None and waiting_s < _NO_WAIT * flush_s:
            return "nowait"
        return "wait"


def _flushes_binlog(run: Run) -> bool:
    """Whether commits wait for the binary log; where that was not counted, they are assumed to."""
    return any(count is None or count > 0 for count in run.samples.column("binlog_flushes").to_pylist())


def _without_redo(run: Run) -> bool:
    """Whether InnoDB does not flush its log at commit."""
    parameters = run.manifest["settings"][0].get("parameters") or {}
    return not flushes_redo_at_commit(parameters)


def _counting(run: Run) -> Stretches:
    """The stretches that count and had transactions, in the order of time."""
    counting = read_stretches(run).counting
    return counting.only(counting.columns["transactions"] > 0)


def _check(run: Run, stretches: Stretches) -> None:
    """Make sure that the figures are there from which costs are solved.

    Raises:
        NoCostsError: a figure is missing; the text names it.
    """
    if not len(stretches):
        raise NoCostsError(
            run,
            "The watch saw no transaction that wrote, so the costs of a commit are not known. Watch the "
            "server while it has work.",
        )
    if not np.isfinite(stretches.columns["session_transactions"]).any():
        raise NoCostsError(
            run,
            "The costs of a commit are not known, because replication commits on this server too and cannot "
            "be distinguished from the sessions. Watch the server that this server replicates from.",
        )
    cpu_s, busy_s = _server_s(stretches), _point("session_response_time_s", stretches)
    missing = [
        words
        for there, words in (
            (cpu_s is not None, "the CPU time of the server's sessions"),
            (busy_s is not None, "the busy time of sessions"),
            (np.isfinite(stretches.columns["worked_sessions"]).any(), "the number of working sessions"),
            (np.isfinite(stretches.columns["host_cpus"]).any(), "the number of CPUs of the machine"),
        )
        if not there
    ]
    if missing or not cpu_s or not busy_s:
        named = ", ".join(missing) or "CPU time and busy time of sessions above zero"
        raise NoCostsError(
            run,
            f"The costs of a commit cannot be inferred without {named}. Watch the server from its own "
            "machine, with a user that sees every session, or measure the costs with `redolab run "
            "calibrate`.",
        )


def _sessions(stretches: Stretches) -> int:
    """Sessions that worked, a mean over time; at least one."""
    elapsed_s, worked = stretches.columns["elapsed_s"], stretches.columns["worked_sessions"]
    mean = over(worked * elapsed_s, elapsed_s) or 0.0
    connected = _point("connected_sessions", stretches)
    if connected is not None:
        # Sessions that come and go work one after the other.
        mean = min(mean, math.ceil(connected))
    return max(1, round(mean))


def _server_s(stretches: Stretches) -> float | None:
    """CPU time of the sessions per commit; of the whole server where that is not known."""
    of_sessions = over(*added("session_cpu_s", "transactions", stretches))
    return _point("service_time_s", stretches) if of_sessions is None else of_sessions


def _timed_apart(logs: Logs, stretches: Stretches) -> frozenset[str]:
    """The times of writes that the server ever had. One that never has them counts them with the flushes."""
    names = [name for log in logs.columns for name in log.times[:-1]]
    return frozenset(name for name in names if np.isfinite(stretches.columns[name]).any())


def _flush_s(stretches: Stretches, log: LogColumns, apart: frozenset[str]) -> float | None:
    """Mean time of a write and flush of a log, over the stretches in which all of it is known; None where the
    server does not time them.
    """
    *writes, timed = log.times
    times = stretches.columns[timed] + sum(stretches.columns[name] for name in writes if name in apart)
    return over(times, stretches.columns[log.flushes]) or None


def _point(key: str, stretches: Stretches) -> float | None:
    """A figure of the page's."""
    return over(*sums(key, stretches))


def _known(key: str, stretches: Stretches) -> float:
    found = _point(key, stretches)
    assert found is not None, "it was looked at before"
    return found


def _flush_shape(run: Run, counting: Stretches) -> tuple[float, ...]:
    """Times of flushes as quantiles at equal steps, in seconds; nothing where too few were seen."""
    counts = {upper_ms: count for upper_ms, count in buckets(run, LOG_WRITE, counting).items() if count > 0}
    return quantiles_of(counts, _ENOUGH_FLUSHES)


def _drawn(stretches: Stretches, rng: random.Random) -> Stretches:
    """As many stretches, drawn anew in pieces of neighbours: load that drifts is alike in neighbours.

    Source: Politis and Romano, "A circular block-resampling procedure for stationary data" (1992), with
    pieces of about the cube root of their number.
    """
    number = len(stretches)
    piece = max(1, round(number ** (1 / 3)))
    places: list[int] = []
    while len(places) < number:
        first = rng.randrange(number)
        places += [(first + place) % number for place in range(piece)]
    return stretches.at(places[:number])


def _quantities(stretches: Stretches, seen: Workload, think_s: float) -> dict[str, Estimate]:
    """Figures of the watch, with the intervals that the page shows."""
    columns = stretches.columns
    elapsed_s, commits = columns["elapsed_s"], columns["transactions"]
    used_s = columns["instance_cpu_s"] + (seen.client_cpu_s or 0.0) * commits
    found = {
        "throughput_per_s": over_stretches("arrival_rate_per_s", stretches).estimate(),
        "response_time_ms": _less(
            quotient(1e3 * seen.sessions * elapsed_s, commits, elapsed_s).estimate(), 1e3 * think_s
        ),
        "cpu_utilization": quotient(used_s, columns["thread_s"], elapsed_s).estimate(),
        "commits_per_flush": over_stretches("commits_per_flush", stretches).estimate(),
    }
    return {name: value for name, value in found.items() if value.point is not None}


def _less(value: Estimate, by: float) -> Estimate:
    """An estimate of what is left; nothing is less than nothing."""

    def left(end: float | None) -> float | None:
        return None if end is None else max(end - by, 0.0)

    return Estimate(left(value.point), left(value.low), left(value.high), value.level)


def _cautions(stretches: Stretches, seen: Workload, logs: Logs) -> list[str]:
    found = []
    if _point("rows_per_commit", stretches) is None:
        found.append(_ROWS)
    worked = stretches.columns["worked_sessions"]
    fewest, most = int(np.nanmin(worked)), int(np.nanmax(worked))
    if most > _VARIES * max(1, fewest):
        found.append(_VARIED.format(fewest=fewest, most=most, mean=seen.sessions))
    return [
        *found,
        *(OWN_DEVICES if text == ONE_DEVICE and seen.apart else text for text in logs.cautions(())),
    ]
