"""What forecasts start from: the costs of a commit, as measured; and the scenario that is asked about.

A `Calibration` holds what a run measured directly (`redolab.forecast.costs.calibrating` reads it from one).
`parameters` turns it, for a `Scenario`, into what the group-commit model needs.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter

from redolab.dialect.postgres import COMMIT_SIBLINGS, WAL_WRITER_DELAY_S, WAL_WRITER_FLUSH_AFTER_BYTES
from redolab.model.distribution import Distribution, constant, exponential, gamma, quantiles
from redolab.model.group_commit import Arrivals, GroupCommitParameters
from redolab.records.load import arrival_rate_of

Curve = tuple[tuple[int, float], ...]
"""Sessions, and a cost with so many, in their order; the first is one session."""
CPU_CV = 0.5
"""Coefficient of variation of the CPU time of a transaction of equal statements."""
LEAST_S = 1e-7
# How the CPU time of a wait is divided: going to sleep and waking up, and what the waker spends.
WAKE_SHARE, POST_SHARE = 0.70, 0.30
# Of the CPU time that waiting costs, that of going on with cold caches when the commit is there. Who wakes in
# vain sleeps again at once (4 us of 25, by the scheduler's events).
SERVED_SHARE = 0.8
# Caches are the colder the more sessions share a CPU: so much of it with hardly more sessions than CPUs.
SERVED_BY_FEW = 0.5
# How much later than asked for a sleep ends: prctl(2), PR_SET_TIMERSLACK.
TIMER_SLACK_S = 50e-6
# Linux's scheduler (kernel/sched/fair.c) looks with the tick, at 250 Hz, whether a task has used up its
# request and whether a CPU that idles can take over work.
QUANTUM_S = BALANCE_S = 4e-3
# From waking to running on a CPU that idles. After 0.2 ms (KVM, halt polling) a virtual one leaves the host's
# CPU, and the scheduler sends nobody there who was not there last.
IDLE_EXIT_S, HALT_EXIT_S, HALT_AFTER_S = 30e-6, 30e-6, 0.2e-3
# While less than this share of the CPUs is used, a client's server comes to the client's CPU though its own
# idles (traces: 7 to 9 of 10 do at 30 to 35 % of use, 6 at 46, 2 at 50, none from 55 on).
FETCH_BELOW = 0.40
# A virtual disk's interrupt where somebody runs: a loop on the CPU that is told lost so long, twice a flush.
INTERRUPT_S = 20e-6
# A flush waits for the file system's write into the disk's cache and then for the disk's own flush; the write
# took so long (ext4 on a virtual disk).
DEVICE_WRITE_S = 36e-6
# Of redolab-load.
MOST_CLIENT_THREADS = 8
CPU_FACTORS = (0.25, 2.0)
"""The least and the largest `cpu_factor` that is forecast."""


@dataclass(frozen=True)
class Scenario:
    """A setting that is asked about, measured or not."""

    sessions: int
    """Sessions that work; with arrivals, those that there are for them."""
    rows_per_commit: int = 1
    commit_wait: str = "wait"
    """`wait` or `nowait`."""
    commit_delay_us: int = 0
    log_device_ms: float | None = None
    """Time of a flush on another log device; None for the one that was measured."""
    cpus: float | None = None
    """Effective CPUs; None for those that were measured."""
    think_time_ms: float = 0.0
    """From the end of a transaction to the beginning of the session's next, exponential."""
    arrival_rate_per_s: float | None = None
    """Commits asked for per second, at random, whatever becomes of them; None where sessions loop."""
    cpu_factor: float = 1.0
    """CPU time of a transaction in the server, its rows with it, as a multiple of what was measured."""

    def __post_init__(self) -> None:
        for name, least in (("sessions", 1), ("rows_per_commit", 1), ("commit_delay_us", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if self.commit_wait not in ("wait", "nowait"):
            raise ValueError(f"commit_wait is {self.commit_wait!r}; it is wait or nowait")
        for name in ("cpus", "arrival_rate_per_s"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ValueError(f"{name} is {value:g}; it must be greater than 0")
        for name in ("think_time_ms", "log_device_ms"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise ValueError(f"{name} is {value:g}; it must be 0 or more")
        smallest, largest = CPU_FACTORS
        if not smallest <= self.cpu_factor <= largest:
            raise ValueError(f"cpu_factor is {self.cpu_factor:g}; it must be {smallest:g} to {largest:g}")
        if self.arrival_rate_per_s is not None and self.think_time_ms:
            raise ValueError("arrival_rate_per_s and think_time_ms exclude each other: arrivals do not think")


FACTORS: tuple[str, ...] = tuple(field.name for field in fields(Scenario))
"""What a forecast can be asked about."""


@dataclass(frozen=True)
class Calibration:
    """What a commit, a row and a flush cost on one server, from one kind of loop. Seconds and bytes."""

    loop: str
    """`server` or `client`: where the loop runs that was measured."""
    cpus: int
    """CPUs that server and load had."""
    transaction_cpu_s: Curve
    """CPU time of a transaction of one row in the server, beside its flush."""
    row_cpu_s: Curve
    """CPU time of a row in the server."""
    flush_cpu_s: float
    """CPU time in a flush."""
    wake_s: float
    """CPU time of one wait for somebody else's flush: going to sleep, being woken up, waking up."""
    commit_bytes: float
    """Log per transaction beside its rows."""
    row_bytes: float
    """Log per row."""
    flush_s: tuple[float, ...]
    """Time of a flush as quantiles at equal steps, without its CPU time."""
    device_s_per_byte: float
    """Time of the device per byte flushed."""
    after_idle_s: tuple[tuple[float, float], ...] = ()
    """How long the device had nothing to do before a flush, and how much longer that flush then takes; from
    the lone session's pauses, after which it takes `flush_s`, to the longest measured."""
    client_s: Curve = ((1, 0.0),)
    """CPU time of the client per statement; 0 for a loop inside the server."""
    client_wake_s: float = 0.0
    """More where a thread of the client has slept, because there was no answer."""
    hand_over_exit_s: float = 0.0
    """From sending to the other side's running, where that has a CPU that idles."""
    served_s: Curve = ((1, 0.0),)
    """CPU time of going on after such a wait, when the commit is there."""
    available: float = 1.0
    """Share of the CPUs' time that sessions and client have where CPUs are short and commits do not wait for
    the log; others have the rest."""
    available_waiting: float = 1.0
    """The same where commits wait for the log, whose flushes make work for others."""
    cold_s: float = 0.0
    """Further CPU time of a transaction after a wait for the device, or on a CPU that has idled."""
    emulated: bool = False
    """Whether an emulator made the log device slower than it is."""
    one_interrupt: bool = False
    """Whether one CPU hears of all that the log's disk has done."""
    row_known: bool = True
    """Whether the run had settings with several rows per commit, so that a row's cost is known."""

    @property
    def flush_mean_s(self) -> float:
        """Mean time of a flush, without its CPU time."""
        return quantiles(self.flush_s).mean_s

    def transaction_with(self, sessions: int) -> float:
        """CPU time of a transaction of one row beside its flush with so many sessions."""
        return with_sessions(self.transaction_cpu_s, sessions, self.cpus)

    def client_with(self, sessions: int) -> float:
        """CPU time of the client per statement with so many sessions, waking up included."""
        wakes = min(1.0, client_threads(self.cpus) / sessions)
        return with_sessions(self.client_s, sessions, self.cpus) + wakes * self.client_wake_s

    def row_with(self, sessions: int) -> float:
        """CPU time of a row with so many sessions."""
        return with_sessions(self.row_cpu_s, sessions, self.cpus)


def with_sessions(curve: Curve, sessions: int, cpus: float) -> float:
    """A cost with so many sessions.

    While there is a CPU for each session, it is the cost of one. From there on it is linear in their
    number, between the numbers measured. Beyond them it grows on as between the last two and never falls,
    however many CPUs there are.
    """
    own_cpu = max(cpus, 1)
    more = [point for point in curve if point[0] > own_cpu]
    if sessions <= cpus or not more:
        return curve[0][1]
    points = [(own_cpu, curve[0][1]), *more]
    place = bisect_right(points, sessions, key=itemgetter(0))
    beyond = place == len(points)
    (few, cost), (many, next_cost) = curve[-2:] if beyond else points[place - 1 : place + 1]
    between = cost + (sessions - few) / (many - few) * (next_cost - cost)
    return max(between, next_cost) if beyond else between


def after_idle(curve: Sequence[tuple[float, float]], idle_s: float) -> float:
    """How much longer a device takes that has idled for `idle_s` seconds, in seconds.

    It is linear between the points of `curve`, and outside of them as at the nearest.
    """
    import numpy as np

    if not curve:
        return 0.0
    times, longer = zip(*curve, strict=True)
    return float(np.interp(idle_s, times, longer))


def _per_session(curve: Curve) -> float:
    """How much a cost grows with each session more, from the fewest to the most that compete."""
    more = [point for point in curve if point[0] > 1]
    if len(more) < 2:
        return 0.0
    (few, least), *_, (many, most) = more
    return max(0.0, (most - least) / (many - few))


def client_threads(cpus: float) -> int:
    """Threads of redolab-load's client."""
    return min(math.ceil(cpus), MOST_CLIENT_THREADS)


def spread_below(cpus: float) -> float:
    """The use of the CPUs, 0 to 1, up to which Linux looks for an idle one for a process that is woken up.

    Source: kernel/sched/fair.c, `update_idle_cpu_scan`: of n CPUs it looks at n (1 - (1.17 use)^2), in whole
    ones.
    """
    return math.sqrt(1 - 1 / math.ceil(cpus)) / 1.17


def statements_of(rows_per_commit: int) -> int:
    """Statements that a client sends for a commit: one row commits by itself."""
    return 1 if rows_per_commit == 1 else rows_per_commit + 2


def parameters(calibration: Calibration, scenario: Scenario) -> GroupCommitParameters:
    """What the group-commit model needs for `scenario`.

    Another log device is taken to need the same time for every flush, CPU time included.

    Raises:
        ValueError: something that cannot be, named; or rows per commit whose cost was not measured.
    """
    if scenario.rows_per_commit > 1 and not calibration.row_known:
        raise ValueError(
            "the run measured one row per commit alone, so the cost of a row is not known: "
            "calibrate with several (`redolab run calibrate`)"
        )
    cpus = scenario.cpus or float(calibration.cpus)
    # Of a pool for arrivals few work at a time, and each more makes the others' work dearer.
    working = scenario.sessions if scenario.arrival_rate_per_s is None else 1
    transaction_s = scenario.cpu_factor * with_sessions(calibration.transaction_cpu_s, working, cpus)
    row_s = scenario.cpu_factor * with_sessions(calibration.row_cpu_s, working, cpus)
    client_s = with_sessions(calibration.client_s, working, cpus)
    waits = scenario.commit_wait == "wait"
    available = calibration.available_waiting if waits else calibration.available
    shared = scenario.sessions > cpus
    arrivals = (
        None
        if scenario.arrival_rate_per_s is None
        else Arrivals(exponential(1 / scenario.arrival_rate_per_s))
    )
    rows = scenario.rows_per_commit
    statements = statements_of(rows) if calibration.loop == "client" else 0
    # BEGIN and COMMIT are statements of their own, of about the cost of another row.
    more_rows = max(rows, statements) - 1
    contention_s = (
        scenario.cpu_factor * _per_session(calibration.transaction_cpu_s)
        + scenario.cpu_factor * more_rows * _per_session(calibration.row_cpu_s)
        + statements * _per_session(calibration.client_s)
    )
    # Who has a CPU to himself finds his caches as he left them; what a wait costs him is in `cold_s`. In a
    # pool others had the CPU meanwhile, however few work at a time.
    served_s = with_sessions(calibration.served_s, scenario.sessions, cpus) if shared else 0.0
    return GroupCommitParameters(
        sessions=scenario.sessions,
        cpus=cpus * available if shared else cpus,
        commit_cpu=gamma(max(transaction_s + (more_rows - rows) * row_s, LEAST_S), CPU_CV),
        row_cpu=gamma(max(row_s, LEAST_S), CPU_CV),
        rows=rows,
        device=_device(calibration, scenario.log_device_ms),
        device_write_s=DEVICE_WRITE_S,
        device_paced=calibration.emulated or bool(scenario.log_device_ms),
        device_cpu=0 if calibration.one_interrupt else None,
        interrupt_s=INTERRUPT_S,
        think=exponential(scenario.think_time_ms / 1e3) if scenario.think_time_ms else constant(0.0),
        arrivals=arrivals,
        contention_s=0.0 if arrivals is None else contention_s,
        quantum_s=QUANTUM_S,
        flush_cpu_s=max(0.0, calibration.flush_cpu_s - WAKE_SHARE * calibration.wake_s),
        wake_s=WAKE_SHARE * calibration.wake_s,
        post_s=POST_SHARE * calibration.wake_s,
        served_s=served_s,
        idle_exit_s=IDLE_EXIT_S,
        halt_exit_s=HALT_EXIT_S,
        halt_after_s=HALT_AFTER_S,
        cold_s=calibration.cold_s,
        own_queues=True,
        spread_below=spread_below(cpus),
        fetch_below=FETCH_BELOW,
        balance_s=BALANCE_S,
        statements=statements,
        client_threads=client_threads(cpus),
        client_s=client_s,
        client_wake_s=calibration.client_wake_s,
        hand_over_exit_s=calibration.hand_over_exit_s,
        device_s_per_byte=calibration.device_s_per_byte,
        device_after_idle_s=calibration.after_idle_s if scenario.log_device_ms is None else (),
        row_bytes=max(0.0, calibration.row_bytes),
        commit_bytes=max(1.0, calibration.commit_bytes),
        commit_delay_s=scenario.commit_delay_us / 1e6 + TIMER_SLACK_S if scenario.commit_delay_us else 0.0,
        commit_siblings=COMMIT_SIBLINGS,
        asynchronous=not waits,
        writer_interval_s=0.0 if waits else WAL_WRITER_DELAY_S,
        writer_bytes=0 if waits else WAL_WRITER_FLUSH_AFTER_BYTES,
    )


def _device(calibration: Calibration, log_device_ms: float | None) -> Distribution:
    if log_device_ms is None:
        return quantiles(calibration.flush_s)
    return constant(max(log_device_ms / 1e3 - calibration.flush_cpu_s, min(calibration.flush_s)))


def scenario_of(levels: Mapping[str, str], sessions: int) -> Scenario:
    """The scenario that a measured setting is; levels that are no factor of a forecast are left out.

    Args:
        levels: of the setting.
        sessions: working sessions, where no level says.
    """
    return Scenario(
        sessions=int(levels.get("sessions", sessions)),
        rows_per_commit=int(levels.get("rows_per_commit", 1)),
        commit_wait=levels.get("commit_wait", "wait"),
        commit_delay_us=int(levels.get("commit_delay_us", 0)),
        arrival_rate_per_s=arrival_rate_of(levels),
    )
