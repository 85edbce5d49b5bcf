"""The starting point of forecasts: the costs of a commit, as measured; and the scenario asked about.

A `Costs` holds them (`redolab.forecast.costs.of_run` reads it from a run). `parameters` turns it, for a
`Scenario`, into what the group-commit model needs; the crate redolab-forecast does that, and has the
assumptions that are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from redolab import _core
from redolab._core import GroupCommitParameters
from redolab.model.distribution import quantiles
from redolab.records.load import arrival_rate_of

Curve = tuple[tuple[int, float], ...]
"""Sessions, and a cost with so many, in their order; the first is one session."""
LEAST_S = _core.LEAST_S
# How the CPU time of a wait is divided: going to sleep and waking up, and what the waker spends.
WAKE_SHARE, POST_SHARE = _core.WAKE_SHARE, _core.POST_SHARE
# Share of the CPU time of waiting that is spent going on with cold caches when the commit is there. A session
# that wakes in vain sleeps again at once (4 us of 25, by the scheduler's events).
SERVED_SHARE = 0.8
# Caches are the colder the more sessions share a CPU: so much of it with hardly more sessions than CPUs.
SERVED_BY_FEW = 0.5
CPU_FACTORS = _core.CPU_FACTORS
"""The least and the largest `cpu_factor` that is forecast."""


@dataclass(frozen=True)
class Scenario:
    """A setting that is asked about, measured or not."""

    sessions: int
    """Sessions that work; with arrivals, those that there are for them."""
    rows_per_commit: int = 1
    commit_wait: str = "wait"
    """`wait` or `nowait`; of two logs also `redo` or `binlog`, which wait for that one alone."""
    commit_delay_us: int = 0
    log_device_ms: float | None = None
    """Time of every flush on another log device; None for the one that was measured."""
    cpus: float | None = None
    """Effective CPUs; None for those that were measured."""
    think_time_ms: float = 0.0
    """From the end of a transaction to the beginning of the session's next, exponential."""
    arrival_rate_per_s: float | None = None
    """Commits asked for per second, at random, whatever becomes of them; None where sessions loop."""
    cpu_factor: float = 1.0
    """CPU time of a transaction in the server, its rows with it, as a multiple of what was measured."""

    def __post_init__(self) -> None:
        _core.check_scenario(self)


FACTORS: tuple[str, ...] = tuple(field.name for field in fields(Scenario))
"""The factors that a forecast can be asked about."""


@dataclass(frozen=True)
class SecondCosts:
    """Costs of a flush of the log that a commit waits for after the first, and its place. Seconds."""

    flush_cpu_s: float
    """CPU time in a flush."""
    flush_s: tuple[float, ...]
    """Time of a flush as quantiles at equal steps, without its CPU time."""
    own_device: bool = False
    """Whether it lies on a device of its own."""
    late_s: float = 0.0
    """How much of a flush's time passes once the device is done, until its process is there."""
    in_groups: bool = False
    """Whether commits that one flush of the first log served wait for this one as one group."""

    @property
    def flush_mean_s(self) -> float:
        """Mean time of a flush, without its CPU time."""
        return quantiles(self.flush_s).mean_s


@dataclass(frozen=True)
class Costs:
    """Costs of a commit, a row and a flush on one server, from one kind of loop. Seconds and bytes."""

    loop: str
    """`server` or `client`: where the loop runs that was measured."""
    cpus: int
    """CPUs that server and load had."""
    transaction_cpu_s: Curve
    """CPU time of a transaction of one row in the server, without its flush."""
    row_cpu_s: Curve
    """CPU time of a row in the server."""
    flush_cpu_s: float
    """CPU time in a flush."""
    wake_s: float
    """CPU time of one wait for somebody else's flush: going to sleep, being woken up, waking up."""
    commit_bytes: float
    """Log per transaction, without its rows."""
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
    """Whether one CPU handles all interrupts of the log's disk."""
    row_known: bool = True
    """Whether the run had settings with several rows per commit, so that a row's cost is known."""
    handed_on: bool = False
    """Whether a session that releases a log hands it on, and wakes nobody in vain."""
    second: SecondCosts | None = None
    """The log that a commit waits for after the first; None where there is one."""
    system: str = ""
    """Database, loop and logs, where commits share flushes in another way than PostgreSQL's; or what the
    costs were seen of.
    """
    measured_system: str = ""
    """The value of `system` for costs of that server that were measured one by one."""
    only_seen: bool = False
    """Whether the costs were not measured one by one, but solved from what was seen of a server at work."""

    @property
    def in_client(self) -> bool:
        """Whether the loop ran in a client."""
        return self.loop == "client"

    @property
    def prior_holds(self) -> bool:
        """Whether what is assumed of a model that was never checked holds: it was found on PostgreSQL, with
        costs that were measured.
        """
        return not (self.handed_on or self.only_seen)

    @property
    def least_device_ms(self) -> float:
        """The quickest flush that was measured, in milliseconds: no device is forecast to be quicker."""
        return 1e3 * (min(self.flush_s) + self.flush_cpu_s)

    @property
    def flush_mean_s(self) -> float:
        """Mean time of a flush, without its CPU time."""
        return quantiles(self.flush_s).mean_s

    def transaction_with(self, sessions: int) -> float:
        """CPU time of a transaction of one row, without its flush, with so many sessions."""
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
    return _core.with_sessions(curve, sessions, cpus)


def after_idle(curve: Sequence[tuple[float, float]], idle_s: float) -> float:
    """How much longer a device takes that has idled for `idle_s` seconds, in seconds.

    It is linear between the points of `curve`, and outside of them as at the nearest.
    """
    import numpy as np

    if not curve:
        return 0.0
    times, longer = zip(*curve, strict=True)
    return float(np.interp(idle_s, times, longer))


def client_threads(cpus: float) -> int:
    """Threads of redolab-load's client."""
    return _core.client_threads(cpus)


def statements_of(rows_per_commit: int) -> int:
    """Statements that a client sends for a commit: one row commits by itself."""
    return _core.statements_of(rows_per_commit)


def parameters(calibration: Costs, scenario: Scenario) -> GroupCommitParameters:
    """Parameters of the group-commit model for `scenario`.

    Another log device is assumed to need the same time for every flush of either log, CPU time included.
    Where costs are inferred, its times are assumed to vary as those of the device that was seen.

    Raises:
        ValueError: something that cannot be, named; rows per commit whose cost was not measured; or logs
            that there are not.
    """
    return _core.group_commit_needs(calibration, scenario)


def scenario_of(levels: Mapping[str, str], sessions: int) -> Scenario:
    """The scenario that a measured setting is; levels that are not a factor of a forecast are left out.

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
