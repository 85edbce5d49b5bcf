"""Sessions that commit through a log, or two, with group commit: the assumptions, and the simulation.

A commit that finds no flush under way leads: it flushes everything inserted so far. A session that commits
meanwhile waits for the next flush, which serves all of them. So a slow log divides the sessions into two
groups that take turns, and throughput is not bounded by one commit per flush. With a second log all this
happens there again, for commits that the first log has.

The simulation is the crate redolab-sim, and redolab-forecast makes means of its results;
`redolab.model.group_commit_approximation` is quick and inexact. The parameters are those of the crate, by its
names (described in `src/parameters.rs` there).

Source of the mechanism: PostgreSQL, `XLogFlush` in src/backend/access/transam/xlog.c, and its manual,
"WAL Configuration". With logs that are handed on: MariaDB, `group_commit_lock` in
storage/innobase/log/log0sync.cc and `MYSQL_BIN_LOG::trx_group_commit_leader` in sql/log.cc; in groups that
stay together: MySQL, `MYSQL_BIN_LOG::ordered_commit` in sql/binlog.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redolab import _core
from redolab._core import GroupCommitParameters
from redolab.model.allowance import Allowance
from redolab.model.distribution import Distribution

BATCHES = _core.BATCHES
LEVEL = _core.INTERVAL_LEVEL
STATES = ("idle", "on_cpu", "run_queue", "log_wait", "device", "delay", "client")


@dataclass(frozen=True)
class Arrivals:
    """Work that comes whatever becomes of it. Exponential gaps and bursts of one are Poisson arrivals."""

    gap: Distribution
    """From one burst to the next."""
    burst: int = 1
    """Units of work in a burst."""

    @property
    def rate_per_s(self) -> float:
        """Units of work per second."""
        return self.burst / self.gap.mean_s


@dataclass(frozen=True)
class SecondLog:
    """A log that a commit waits for once the first has it. Durations in seconds."""

    device: Distribution
    """Time of its device for one flush, whatever its volume."""
    flush_cpu_s: float = 0.0
    """CPU time of one flush, spent by the session that flushes."""
    own_device: bool = False
    """Whether it lies on a device of its own. Both on one device flush one after the other."""
    late_s: float = 0.0
    """Part of a flush's time after the device is done, until its process is there. On one device
    for both logs the other's flush, if it waits, has begun by then."""
    in_groups: bool = False
    """Whether sessions that one flush of the first log served wait for this log as one group, and their
    leader goes on for all. Otherwise each goes on by itself."""
    pause_s: float = 0.0
    """How long a leader sleeps before its flush."""
    enough: int = 0
    """Commits that end that sleep early, the leader's with them; 0: none do."""


@dataclass(frozen=True)
class Interval:
    """A mean over the simulated stretch, with its interval."""

    point: float
    low: float
    high: float
    level: float = LEVEL
    """The confidence level of the interval, 0 to 1."""


@dataclass(frozen=True)
class TimesResult:
    """A duration, in seconds."""

    mean_s: Interval
    p50_s: Interval
    p95_s: Interval
    p99_s: Interval


@dataclass(frozen=True)
class GroupCommitResult:
    """The simulated steady state."""

    throughput_per_s: Interval
    """Commits per second."""
    commit_time: TimesResult
    """From the request to commit to its acknowledgement."""
    response_time: TimesResult
    """From the arrival, or the end of the think time, to the acknowledgement."""
    cpu_utilization: Interval
    """Share of the CPUs' time that they are busy, 0 to 1."""
    device_utilization: Interval
    """Share of the time that the log device is busy, 0 to 1; the mean of two where there are two."""
    commits_per_flush: Interval | None
    """By one flush of the first log; None where nothing was flushed."""
    flush_time_s: Interval | None
    """From the beginning of a flush of the first log to its release; None where nothing was flushed."""
    log_waits_per_commit: Interval
    """How often a commit waits for the log, in vain too."""
    client_wakes_per_commit: Interval
    """How often a thread of the client wakes up."""
    sessions_by_state: dict[str, Interval]
    """Mean number of sessions that are idle (think, or have no work), on_cpu, in the run_queue, in
    log_wait for another session's flush or write, at the device with their own, in their commit delay, or in
    the client, whose thread works for them or for others first."""
    backlog: Interval
    """Mean number of arrivals that have no session yet."""
    elapsed_s: float
    """Simulated time that counted."""
    commits: int
    """Commits that counted."""
    events: int
    """Events simulated, those of the warm-up too."""


def simulate(
    parameters: GroupCommitParameters, seed: int, commits: int = 200_000, allowance: Allowance | None = None
) -> GroupCommitResult:
    """Simulate until `commits` commits were counted, after a tenth as many that were not.

    The counted stretch is cut into 20 batches of equal numbers of commits. A mean is the ratio of two
    sums over all batches; its interval comes from the batches' deviations from it, by Student's t. It shows
    how well the simulation knows its own steady state, and not how true the parameters are. The same
    parameters, seed and number give the same result on every machine.

    Args:
        parameters: what is simulated.
        seed: the seed of its random numbers.
        commits: the number that is counted.
        allowance: events that simulations may take together; None for a billion events.

    Raises:
        ValueError: fewer commits than 1,000 or than 20 per session, or a seed that is not a 64-bit number.
        NoSteadyStateError: more arrives than can be done.
        SimulationTooLongError: so many events did not bring that many commits.

    Source: ratio estimator over batch means, Law and Kelton, Simulation Modeling and Analysis, chapter 9.
    """
    if not 0 <= seed < 2**64:
        raise ValueError(f"the seed is {seed}; it must be 0 or more, and below 2^64")
    if allowance is None:
        means = _core.simulate(parameters, seed, commits)
    else:
        means = allowance.spent_on(lambda most: _counted(_core.simulate(parameters, seed, commits, most)))

    def mean(name: str) -> Interval:
        return Interval(*means[name])

    def mean_or_none(name: str) -> Interval | None:
        return None if means[name] is None else mean(name)

    def times(name: str) -> TimesResult:
        return TimesResult(*(Interval(*ends) for ends in means[name]))

    return GroupCommitResult(
        throughput_per_s=mean("throughput_per_s"),
        commit_time=times("commit_time"),
        response_time=times("response_time"),
        cpu_utilization=mean("cpu_utilization"),
        device_utilization=mean("device_utilization"),
        commits_per_flush=mean_or_none("commits_per_flush"),
        flush_time_s=mean_or_none("flush_time_s"),
        log_waits_per_commit=mean("log_waits_per_commit"),
        client_wakes_per_commit=mean("client_wakes_per_commit"),
        sessions_by_state={
            name: Interval(*ends) for name, ends in zip(STATES, means["sessions_by_state"], strict=True)
        },
        backlog=mean("backlog"),
        elapsed_s=means["elapsed_s"],
        commits=means["commits"],
        events=means["events"],
    )


def _counted(means: dict[str, Any]) -> tuple[dict[str, Any], int]:
    return means, means["events"]


def ratio_of_sums(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The sum of `above` by the sum of `below`, with the interval that the pairs' scatter gives.

    Raises:
        ZeroDivisionError: the sum below is 0.

    Source: ratio estimator, Cochran, Sampling Techniques (1977), section 2.11.
    """
    return Interval(*_core.ratio_of_sums(above, below))
