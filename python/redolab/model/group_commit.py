"""Sessions that commit through a log, or two, with group commit: what is assumed, and the simulation.

A commit that finds no flush under way leads: it flushes everything inserted so far. Who commits
meanwhile waits for the next flush, which serves all of them. So a slow log divides the sessions into two
groups that take turns, and throughput is not bounded by one commit per flush. With a second log all this
happens there again, for commits that the first log has.

The simulation is the crate redolab-sim, and redolab-forecast makes means of what it gives;
`redolab.model.group_commit_approximation` is quick and inexact.

Source of the mechanism: PostgreSQL, `XLogFlush` in src/backend/access/transam/xlog.c, and its manual,
"WAL Configuration". With logs that are handed on: MariaDB, `group_commit_lock` in
storage/innobase/log/log0sync.cc and `MYSQL_BIN_LOG::trx_group_commit_leader` in sql/log.cc; in groups that
stay together: MySQL, `MYSQL_BIN_LOG::ordered_commit` in sql/binlog.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

from redolab import _core
from redolab._core import (
    SimulationTooLongError,
    check_group_commit,
    simulate_group_commit,
    transaction_demand,
)
from redolab.dialect.postgres import COMMIT_SIBLINGS
from redolab.model.distribution import Distribution, constant
from redolab.model.patience import Patience

NOTHING = constant(0.0)
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
    """CPU time of one flush, spent by whoever flushes."""
    own_device: bool = False
    """Whether it lies on a device of its own. Both on one device flush one after the other."""
    late_s: float = 0.0
    """How much of a flush's time passes once the device is done, until its process is there. On one device
    for both logs the other's flush, if it waits, has begun by then."""
    in_groups: bool = False
    """Those whom one flush of the first log served wait for this one as one group, and who led there goes on
    for all. Without it each goes on by itself."""
    pause_s: float = 0.0
    """How long a leader sleeps before its flush."""
    enough: int = 0
    """Commits that end that sleep early, the leader's with them; 0: none do."""


@dataclass(frozen=True)
class GroupCommitParameters:
    """Sessions, CPUs and one or two logs. Durations in seconds, volumes in bytes.

    Raises:
        ValueError: something that cannot be, named.
    """

    sessions: int
    """Sessions: those that loop, or the pool from which arrivals take one."""
    cpus: float
    """Effective CPUs. What is not whole slows all of them: 1.9 are two at 0.95 of their speed."""
    commit_cpu: Distribution = NOTHING
    """CPU time per transaction beside its rows."""
    row_cpu: Distribution = NOTHING
    """CPU time per row: constant, exponential or gamma."""
    rows: int = 1
    """Rows per transaction."""
    device: Distribution = NOTHING
    """Time of the log device for one flush."""
    device_write_s: float = 0.0
    """How much of a flush's device time, at most half, is for the write that comes before the flush proper.
    Between the two its process needs a CPU, for a fifth of `flush_cpu_s`. 0: they are one."""
    device_paced: bool = False
    """A flush's device time is kept from its beginning on, whatever comes between: as by a device that an
    emulator makes slower."""
    device_cpu: int | None = None
    """The CPU that a device with a single queue tells that it is done. If that CPU idles, the process that
    waited goes there. It has no effect without `own_queues`."""
    interrupt_s: float = 0.0
    """CPU time of a CPU that is told that the device is done, taken from the process that runs there. It is
    two thirds of a short wait at the most. While the CPU idles it is part of the device's time. It has no
    effect without `own_queues`."""
    think: Distribution = NOTHING
    """From the end of a transaction to the beginning of the session's next."""
    arrivals: Arrivals | None = None
    """Open load instead of sessions that loop."""

    quantum_s: float = 0.003
    """How long one keeps a CPU while others wait for it; then it goes to the end of the queue."""
    contention_s: float = 0.0
    """CPU time per transaction for each other session that is on a CPU or waits for one."""
    wake_s: float = 0.0
    """CPU time to wake up after a wait for the log, going to sleep included."""
    post_s: float = 0.0
    """CPU time to wake another up, spent by whoever releases the log."""
    served_s: float = 0.0
    """Further CPU time of a session that was woken up and whose commit is in the log: its caches are cold."""
    idle_exit_s: float = 0.0
    """From waking a process to its running on a CPU that idles; that CPU is busy meanwhile. After a flush of
    its own it is nothing: there the device's time contains it, and is so much shorter where `device_cpu` is
    busy."""
    halt_exit_s: float = 0.0
    """The same where the CPU has idled so long that it is halted."""
    halt_after_s: float = 0.0
    """How long a CPU idles before it is halted."""
    cold_s: float = 0.0
    """Further CPU time of a transaction after a wait for the device, or after its session was woken up on a
    CPU that idled: its caches are cold."""
    own_queues: bool = False
    """Whether each CPU has a queue of its own, as schedulers have it, and not all the same one."""
    spread_below: float = 0.0
    """A share of the CPUs' time, 0 to 1. While less is used, a process that is woken up and whose last CPU is
    busy goes to one that idles and is not halted."""
    fetch_below: float = 0.0
    """A share of the CPUs' time, 0 to 1. While less is used, a server's process whose last CPU idles comes to
    its client's CPU."""
    balance_s: float = 0.0
    """How often a CPU that idles looks whether somebody waits elsewhere; 0 for never."""
    statements: int = 0
    """Statements that a client sends per transaction, the commit as the last of them; long transactions are
    cut into no more than 240. 0 where the loop runs inside the server: then the next four have no effect."""
    client_threads: int = 1
    """Threads of the client, among which the sessions are dealt out: each works for one session after the
    other, in the order of the server's answers."""
    client_s: float = 0.0
    """CPU time of the client per statement. A transaction that comes from a timer (an arrival, the end of a
    think time) costs as much once more."""
    client_wake_s: float = 0.0
    """More where its thread has slept, because there was no answer."""
    hand_over_exit_s: float = 0.0
    """From a statement's or an answer's being sent to the other side's running on a CPU that idles."""
    flush_cpu_s: float = 0.0
    """CPU time of one flush, spent by whoever flushes."""
    device_s_per_byte: float = 0.0
    """Time of the device per byte, beside `device`."""
    device_after_idle_s: tuple[tuple[float, float], ...] = ()
    """Further time of the device once it has idled: how long it did, and how much more, from the shortest to
    the longest; linear between them, outside of them as at the nearest."""
    row_bytes: float = 0.0
    """Log per row."""
    commit_bytes: float = 1.0
    """Log per transaction beside its rows."""

    group_commit: bool = True
    """One flush serves every commit that waits; without it, one."""
    handed_on: bool = False
    """Who releases a log wakes those whom it served, and one more who has it next. Without it all who wait
    are woken and compete."""
    second: SecondLog | None = None
    """Another log, for which a commit waits after the first; what is said of the log holds for both."""
    commit_delay_s: float = 0.0
    """How long a leader sleeps before its flush."""
    commit_siblings: int = COMMIT_SIBLINGS
    """It does so when at least so many other transactions are under way."""
    asynchronous: bool = False
    """Commits do not wait for the log."""
    writer_interval_s: float = 0.0
    """The log writer flushes what there is so long after its last flush; 0: there is no log writer."""
    writer_bytes: int = 0
    """It also does so when so much waits to be flushed; 0 for never. Asynchronous commits only."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if type(value) is int and not 0 <= value < 2**32:
                raise ValueError(f"{item.name} is {value}; it must be 0 or more, and below 2^32")
        if self.arrivals is not None:
            if self.think != NOTHING:
                raise ValueError("sessions that wait for arrivals do not think: leave one of the two out")
            if not 1 <= self.arrivals.burst < 2**32:
                raise ValueError(f"a burst of {self.arrivals.burst} arrivals; it must be at least 1")
        check_group_commit(self)

    @property
    def transaction_cpu_s(self) -> float:
        """Mean CPU time of a transaction before its commit, without contention, in server and client.

        With a CPU for each session, caches are cold after a flush and a client's thread sleeps
        after each statement. Both sides' CPUs idle when they are handed one. What all that takes counts too.
        """
        return self._demand[0]

    @property
    def transaction_bytes(self) -> float:
        """Log per transaction."""
        return self._demand[1]

    @cached_property
    def _demand(self) -> tuple[float, float]:
        return transaction_demand(self)


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
    log_wait for somebody else's flush or write, at the device with their own, in their commit delay, or in
    the client, whose thread works for them or for others first."""
    backlog: Interval
    """Mean number of arrivals that have no session yet."""
    elapsed_s: float
    """Simulated time that counted."""
    commits: int
    """Commits that counted."""
    events: int
    """Events simulated, those of the warm-up too."""
    state: _core.SteadyState = field(repr=False, compare=False)
    """The same as the crate redolab-forecast has it, which makes a forecast of it."""


def simulate(
    parameters: GroupCommitParameters, seed: int, commits: int = 200_000, patience: Patience | None = None
) -> GroupCommitResult:
    """Simulate until `commits` commits were counted, after a tenth as many that were not.

    The counted stretch is cut into 20 batches of equal numbers of commits. A mean is the ratio of two
    sums over all batches; its interval comes from the batches' deviations from it, by Student's t. It says
    how well the simulation knows its own steady state, and nothing of how true the parameters are.
    The same parameters, seed and number give the same result on every machine.

    Args:
        parameters: what is simulated.
        seed: of its random numbers.
        commits: that are counted.
        patience: what simulations may take together; None for a billion events.

    Raises:
        ValueError: fewer commits than 1,000 or than 20 per session, or a seed that is no 64-bit number.
        NoSteadyStateError: more arrives than can be done.
        SimulationTooLongError: so many events did not bring that many commits.

    Source: ratio estimator over batch means, Law and Kelton, Simulation Modeling and Analysis, chapter 9.
    """
    warm_up, batches, each = _core.simulation_plan(parameters, commits)
    if not 0 <= seed < 2**64:
        raise ValueError(f"the seed is {seed}; it must be 0 or more, and below 2^64")
    if patience is None:
        simulated = simulate_group_commit(parameters, seed, warm_up, batches, each)
    else:
        most = patience.left
        try:
            simulated = simulate_group_commit(parameters, seed, warm_up, batches, each, most)
        except SimulationTooLongError as error:
            patience.spend(most)
            raise SimulationTooLongError(patience.too_much) from error
        patience.spend(simulated.events)
    return _result(_core.steady_state(parameters, simulated))


def _result(state: _core.SteadyState) -> GroupCommitResult:
    means = state.means()

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
        state=state,
    )


def ratio_of_sums(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The sum of `above` by the sum of `below`, with the interval that the pairs' scatter gives.

    Raises:
        ZeroDivisionError: the sum below is 0.

    Source: ratio estimator, Cochran, Sampling Techniques (1977), section 2.11.
    """
    return Interval(*_core.ratio_of_sums(above, below))
