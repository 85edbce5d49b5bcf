"""Costs from a watched run: what its stretches say of a server at work (`redolab watch`)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from redolab.forecast.costs.calibrating import Calibrated
from redolab.forecast.costs.costs import statements_of
from redolab.forecast.costs.logs import ONE_DEVICE, OWN_DEVICES, LogColumns, Logs, logs_of
from redolab.forecast.costs.priors import Prior, prior_of
from redolab.forecast.costs.seen import Seen
from redolab.forecast.costs.settings import NoCostsError
from redolab.forecast.costs.with_priors import calibrated_from, solve
from redolab.records.run import Run
from redolab.records.watched import LOG_WRITE, Watched
from redolab.stats.estimates import Estimate, mean_estimate, quotient_estimate

# The clients' CPU time is theirs from this share of the server's on: below, it is that of whatever runs
# there.
_CLIENTS = 0.05
# Shorter than this part of a flush's time, a commit's wait for the log is none.
_NO_WAIT = 0.2
# A flush serves no more commits than there are sessions that wait.
_MORE_THAN_ALL = 1.5
_QUANTILES = 41
_ENOUGH_FLUSHES = 20
# By so much sessions may vary over the stretches without a word.
_VARIES = 2.0
_ROWS = "Rows that transactions wrote were not counted: one in each is taken."
_VARIED = (
    "From {fewest} to {most} sessions worked in a stretch; the forecast is of {mean}, as if they had "
    "always been so many."
)


def calibrate_watched(run: Run) -> Calibrated:
    """Costs with which the setting that was watched gives what was seen.

    Args:
        run: of `redolab watch`.

    Raises:
        NoCostsError: it does not hold what they are solved from; the text names what is missing.
    """
    engine = run.manifest["engine"]
    logs = logs_of({**engine, "binlog": engine.get("binlog") and _flushes_binlog(run)})
    stretches = _counting(run)
    _check(run, stretches)
    found = prior_of(str(engine["name"]), len(logs.columns))
    shape = _flush_shape(run, {item.sample for item in stretches})
    eyes = _Eyes(logs, found.prior, shape, max(item.host_cpus or 1 for item in stretches), _without_redo(run))
    seen = eyes.see(stretches)

    if seen.beyond:
        raise NoCostsError(run, f"does not tell what a commit costs: {seen.beyond}")

    def drawn(rng: random.Random) -> Seen:
        other = replace(eyes, prior=found.prior.drawn(rng))
        return other.see(_drawn(stretches, rng))

    one_interrupt = (run.manifest.get("machine", {}).get("disk_queues") or 1) == 1
    seed = int(run.manifest["design"].get("seed") or 0)
    solved = solve(seen, drawn, found, logs, logs.product, one_interrupt, seed)
    return calibrated_from(
        solved,
        str(run.manifest["settings"][0]["name"]),
        _quantities(stretches, seen, solved.fitted.think_s),
        tuple(_cautions(stretches, seen, logs)),
    )


@dataclass(frozen=True)
class _Eyes:
    """What stretches are read with."""

    logs: Logs
    prior: Prior
    shape: tuple[float, ...]
    cpus: int
    """CPUs of the machine."""
    without_redo: bool
    """Whether the server's parameters say that commits do not wait for the redo log."""

    def see(self, stretches: Sequence[Watched]) -> Seen:
        """What stretches that all have the figures needed say together."""
        commits = _sum(stretches, "transactions")
        elapsed_s = _sum(stretches, "elapsed_s")
        rate = commits / elapsed_s
        sessions = _sessions(stretches)
        server_s, others_s = _cpu_s(stretches) / commits, _others_s(stretches, commits)
        rows = max(1, round(_per(stretches, commits, "rows_written") or 1))
        client_s, available, others = self._of_others(server_s, others_s, sessions, rows)
        first, *later = self.logs.columns
        flush_s = _flush_s(stretches, first)
        waiting_s = _per(stretches, commits, "log_sync_s")
        per_flush = _per_flush(stretches, commits, first)
        return Seen(
            sessions=sessions,
            cpus=self.cpus,
            commits_per_s=rate,
            rows_per_commit=rows,
            server_cpu_s=server_s,
            client_cpu_s=client_s,
            others=rate * others,
            available=available,
            # A session cannot be busy longer than it is there.
            busy_s=min(_sum(stretches, "busy_s") / commits, sessions / rate),
            flush_s=flush_s,
            second_flush_s=_flush_s(stretches, later[0]) if later else None,
            flush_shape=self.shape,
            waiting_s=waiting_s,
            commits_per_flush=per_flush,
            log_bytes=_per(stretches, commits, "log_bytes"),
            commit_wait=self._wait(sessions, flush_s, waiting_s, per_flush),
        )

    def _of_others(
        self, server_s: float, others_s: float | None, sessions: int, rows: int
    ) -> tuple[float | None, float | None, float]:
        """What of others' CPU time per commit is the clients'; the part of all that is the server's and
        theirs; and the CPU time of whatever else ran there.

        The kernel's work for flushes is to the clients' as in the prior. What is more than the clients may
        need by the prior is somebody else's.

        Args:
            server_s: CPU time of the sessions per commit.
            others_s: that of others and of the kernel; None where it is not known.
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
        mine_s = client_s / part
        return client_s, (server_s + client_s) / (server_s + mine_s), others_s - mine_s

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
    """Whether commits wait for the binary log; where that was not counted they are taken to."""
    return any(count is None or count > 0 for count in run.samples.column("binlog_flushes").to_pylist())


def _without_redo(run: Run) -> bool:
    """Whether InnoDB does not flush its log at commit."""
    parameters = run.manifest["settings"][0].get("parameters") or {}
    return str(parameters.get("innodb_flush_log_at_trx_commit", "1")) != "1"


def _counting(run: Run) -> list[Watched]:
    """The stretches that count and had transactions, in the order of time."""
    every = (Watched(**row) for row in run.samples.to_pylist())
    counting = (
        item for item in every if item.spoiled is None and item.elapsed_s > 0 and (item.transactions or 0) > 0
    )
    return sorted(counting, key=lambda item: item.sample)


def _check(run: Run, stretches: Sequence[Watched]) -> None:
    """Make sure that there is what costs are solved from.

    Raises:
        NoCostsError: there is not; the text names it.
    """
    if not stretches:
        raise NoCostsError(
            run, "saw no transaction that wrote, so it does not tell what a commit costs: watch it at work."
        )
    missing = [
        words
        for names, words in (
            (("session_cpu_s", "instance_cpu_s"), "the CPU time of the server's sessions"),
            (("busy_s",), "how long sessions were busy"),
            (("worked_sessions",), "how many sessions worked"),
            (("host_cpus",), "how many CPUs the machine has"),
        )
        if not any(all(getattr(item, name) is not None for item in stretches) for name in names)
    ]
    if missing or not _cpu_s(stretches) or not _sum(stretches, "busy_s"):
        named = ", ".join(missing) or "CPU time or busy time of sessions above nothing"
        raise NoCostsError(
            run,
            f"does not tell what a commit costs: it lacks {named}. Watch the server from its own machine, "
            "with a user that sees every session; or `redolab run calibrate` measures it",
        )


def _sessions(stretches: Sequence[Watched]) -> int:
    """Sessions that worked, a mean over time; at least one."""
    elapsed_s = _sum(stretches, "elapsed_s")
    worked = math.fsum((item.worked_sessions or 0) * item.elapsed_s for item in stretches) / elapsed_s
    if all(item.connected_s is not None for item in stretches):
        # Sessions that come and go work one after the other.
        worked = min(worked, math.ceil(_sum(stretches, "connected_s") / elapsed_s))
    return max(1, round(worked))


def _cpu_s(stretches: Sequence[Watched]) -> float:
    """CPU time of the sessions; of the whole server where that is not known."""
    if all(item.session_cpu_s is not None for item in stretches):
        return _sum(stretches, "session_cpu_s")
    return _sum(stretches, "instance_cpu_s")


def _others_s(stretches: Sequence[Watched], commits: float) -> float | None:
    """CPU time of other processes and of the kernel per commit; None where it is not known."""
    needed = ("host_busy_s", "instance_cpu_s")
    if any(getattr(item, name) is None for item in stretches for name in needed):
        return None
    others_s = _sum(stretches, "host_busy_s") - _sum(stretches, "instance_cpu_s", "sampler_cpu_s")
    return max(others_s, 0.0) / commits


def _flush_s(stretches: Sequence[Watched], log: LogColumns) -> float | None:
    """Mean time of a write and flush of a log; None where the server does not time them."""
    flushes = _sum(stretches, log.flushes)
    timed = all(getattr(item, log.times[-1]) is not None for item in stretches)
    flushing_s = _sum(stretches, *log.times)
    return flushing_s / flushes if timed and flushes and flushing_s > 0 else None


def _per_flush(stretches: Sequence[Watched], commits: float, log: LogColumns) -> float | None:
    flushes = _sum(stretches, log.flushes)
    return commits / flushes if flushes else None


def _flush_shape(run: Run, counting: set[int]) -> tuple[float, ...]:
    """Times of flushes as quantiles at equal steps, in seconds; nothing where too few were seen."""
    counts: dict[float, float] = {}
    for row in run.entries.to_pylist():
        if row["section"] == LOG_WRITE and row["sample"] in counting and (row["value"] or 0) > 0:
            upper_ms = _upper_ms(row["name"])
            counts[upper_ms] = counts.get(upper_ms, 0.0) + row["value"]
    total = math.fsum(counts.values())
    if total < _ENOUGH_FLUSHES:
        return ()
    return quantiles_of(counts)


def _upper_ms(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return math.inf


def quantiles_of(counts: Mapping[float, float]) -> tuple[float, ...]:
    """The quantiles at equal steps of times in buckets, in seconds; the times in one spread evenly.

    Args:
        counts: by the upper end of a bucket in milliseconds, the last of which may be infinite.
    """
    import numpy as np

    ends, reached, before = [0.0], [0.0], 0.0
    for upper_ms, count in sorted(counts.items()):
        if not before:
            # Nothing is known of the shortest: from half of it on.
            ends[0] = upper_ms / 2 if math.isfinite(upper_ms) else 1.0
        before = upper_ms if math.isfinite(upper_ms) else 2 * max(ends[-1], 1.0)
        ends.append(max(before, ends[-1]))
        reached.append(reached[-1] + count)
    shares = np.linspace(0, reached[-1], _QUANTILES)
    return tuple(float(value) / 1e3 for value in np.interp(shares, reached, ends))


def _drawn(stretches: Sequence[Watched], rng: random.Random) -> list[Watched]:
    """As many stretches, drawn anew in pieces of neighbours: load that drifts is alike in neighbours.

    Source: Politis and Romano, "A circular block-resampling procedure for stationary data" (1992), with
    pieces of about the cube root of their number.
    """
    number = len(stretches)
    piece = max(1, round(number ** (1 / 3)))
    found: list[Watched] = []
    while len(found) < number:
        first = rng.randrange(number)
        found += [stretches[(first + place) % number] for place in range(piece)]
    return found[:number]


def _quantities(stretches: Sequence[Watched], seen: Seen, think_s: float) -> dict[str, Estimate]:
    """What was seen, with Student's t interval over the stretches."""
    commits = [(item, item.transactions or 0) for item in stretches]
    client_s = seen.client_cpu_s or 0.0
    response = quotient_estimate((1e3 * seen.sessions * item.elapsed_s, count) for item, count in commits)
    found = {
        "throughput_per_s": mean_estimate(count / item.elapsed_s for item, count in commits),
        "response_time_ms": _less(response, 1e3 * think_s),
        "cpu_utilization": mean_estimate(
            None
            if item.instance_cpu_s is None or not item.host_cpus
            else (item.instance_cpu_s + client_s * count) / (item.elapsed_s * item.host_cpus)
            for item, count in commits
        ),
        "commits_per_flush": quotient_estimate((count, item.log_flushes or 0) for item, count in commits),
    }
    return {name: value for name, value in found.items() if value.point is not None}


def _less(value: Estimate, by: float) -> Estimate:
    """An estimate of what is left; nothing is less than nothing."""

    def left(end: float | None) -> float | None:
        return None if end is None else max(end - by, 0.0)

    return Estimate(left(value.point), left(value.low), left(value.high), value.level)


def _cautions(stretches: Sequence[Watched], seen: Seen, logs: Logs) -> list[str]:
    found = []
    if any(item.rows_written is None for item in stretches):
        found.append(_ROWS)
    worked = [item.worked_sessions or 0 for item in stretches]
    if max(worked) > _VARIES * max(1, min(worked)):
        found.append(_VARIED.format(fewest=min(worked), most=max(worked), mean=seen.sessions))
    return [
        *found,
        *(OWN_DEVICES if text == ONE_DEVICE and seen.apart else text for text in logs.cautions(())),
    ]


def _per(stretches: Sequence[Watched], commits: float, name: str) -> float | None:
    """A column per commit; None where it is not known of every stretch."""
    if any(getattr(item, name) is None for item in stretches):
        return None
    return _sum(stretches, name) / commits


def _sum(stretches: Sequence[Watched], *names: str) -> float:
    return math.fsum(getattr(item, name) or 0 for item in stretches for name in names)
