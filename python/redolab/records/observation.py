"""Observations of a live server in one stretch of time: the records between an observer and the analysis.

An observer reads a server again and again; each reading gives an `Observation` of the time since the
one before, and `join` makes one of several that follow each other. The records are frozen, without
behaviour. A field that is `None` was not available there; it is never a zero. Times in seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from redolab.records.parameter_before import ParameterBefore

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

State = Literal["on_cpu", "runnable", "asleep", "unknown", "awake"]
STATES: tuple[State, ...] = ("on_cpu", "runnable", "asleep", "unknown", "awake")
"""Scheduler states by their code in `Looks.state`. `runnable` is waiting for a CPU. `awake` is `on_cpu` or
`runnable` where the source does not distinguish them. `unknown` is a look in which the kernel could not be
asked, or in which the event changed meanwhile."""

IDLE = 0
"""The place of idle processes in `Observation.events`, where their event is `("", "idle")`."""


@dataclass(frozen=True)
class Observed:
    """One process of the server, or one thread where sessions are threads."""

    pid: int
    """Process id; thread id where sessions are threads."""
    started: int
    """With `pid` it names the process uniquely: the kernel gives pids out again."""
    connection: int | None
    """The server's own number of the session; PostgreSQL: the pid again."""
    kind: str
    """`client backend`, `walwriter`, ... as `pg_stat_activity.backend_type` has it."""
    scope: Literal["session", "background"]
    """A session serves a client. A parallel worker of its statement is not a session: it serves one."""
    user: str | None
    application: str | None
    database: str | None
    client: str | None
    """The client's address; `local` for a socket of the machine."""
    first_tick: int
    """The first tick at which it could be looked at, counted from 0 in this observation."""
    last_tick: int
    """One past the last: it was looked at in `last_tick - first_tick` ticks, less `skipped`."""
    skipped: int
    """Ticks among them in which the look failed."""
    elapsed_s: float
    """How long it lived inside the observation."""
    cpu_s: float | None
    run_queue_s: float | None
    """Runnable, but waiting for a CPU."""
    ended: bool
    """It ended inside the observation: what it used after its last look is in `ended_cpu_s`."""
    polls_idle: int
    """Queries of the server's session list that found it waiting for its client outside a transaction."""
    polls_in_transaction: int
    """The same inside an open transaction."""
    accounted: bool = False
    """Nobody looked at it: the server's own account of its waits, idling too, is in `timed`."""
    cpu_late_s: float = 0.0
    """How late the server may have published its CPU time, where the figure comes from the server."""


@dataclass(frozen=True)
class Looks:
    """Every look at a process that was not idle, as parallel arrays; in order of `tick`.

    A process that is not named at a tick it lived through (and did not skip) was idle then: asleep, and
    waiting for work in its main loop (class Activity) or for its client (class Client). Where idling
    must be distinguished further, `Observed.scope` and its polls do it.
    """

    tick: npt.NDArray[np.uint32]
    process: npt.NDArray[np.uint32]
    """Place in `Observation.processes`."""
    event: npt.NDArray[np.uint32]
    """Place in `Observation.events`."""
    state: npt.NDArray[np.uint8]
    """Place in `STATES`."""


@dataclass(frozen=True)
class IdleLooks:
    """Looks that found one process idle; `Looks` leaves them out."""

    process: int
    """Place in `Observation.processes`."""
    event: int
    """Place in `Observation.events`: the event that it posted or was found in while it idled."""
    state: int
    """Place in `STATES`."""
    looks: int


@dataclass(frozen=True)
class WaitEnds:
    """How often one process's wait ended while it was being looked at.

    A look reads the event twice, a few microseconds apart; the gap between two looks at a process that
    slept counts too, where nearly all waits outlast such gaps. Waits end at the rate (number of waits) /
    (time spent in them), whatever their lengths, so `exposure_s / ends` estimates their mean duration.
    """

    process: int
    event: int
    exposure_s: float
    ends: int


@dataclass(frozen=True)
class TimedWaits:
    """Waits of one process and event as the server itself counted and timed them."""

    process: int | None
    """Place in `Observation.processes`; None for the whole instance."""
    event: int
    count: int
    time_s: float | None
    """None where the server counts without timing."""


@dataclass(frozen=True)
class WaitBucket:
    """Waits of the whole instance in one range of lengths, as the server itself counted them."""

    event: int
    below_s: float
    """Shorter than this, and not in a bucket that ends earlier; infinite for the last."""
    count: int


@dataclass(frozen=True)
class Episodes:
    """Durations of whole waits, from bursts of fast reading that follow each wait from its beginning."""

    durations_s: npt.NDArray[np.float64]
    """Waits whose beginning and end were seen."""
    unfinished_s: npt.NDArray[np.float64]
    """Waits whose beginning was seen but not the end: how long they had lasted."""
    resolution_s: float
    """Mean gap between two readings: shorter waits are missed, and pauses shorter than it too."""
    watched_s: float
    """Length of the bursts together."""


@dataclass(frozen=True)
class Instrument:
    """The observer's own work and cost."""

    source: str
    """`server memory`, `pg_stat_activity`, `performance_schema`, `processlist`."""
    rate_per_s: float
    """Mean rate asked for."""
    late: int
    """Ticks later than half a mean gap."""
    lost: int
    """Ticks that failed as a whole."""
    torn: int
    """Looks during which the event changed: their scheduler state is unknown."""
    looks: int
    """Looks at one process each, idle ones too."""
    cpu_s: float
    """CPU of the sampler."""
    server_cpu_s: float | None
    """CPU of Redolab's own session in the server."""
    realtime: bool | None
    """Whether it ran at real-time priority; None where that means nothing."""


@dataclass(frozen=True)
class ServerFacts:
    """Identity of an observed server, and its parameters that decide the cost of a commit."""

    server: Mapping[str, Any]
    """As `Observation.server` has it."""
    identity: str | None
    """Text that stays the same as long as its data do, whatever its address; None where there is none."""
    parameters: Mapping[str, str]
    """Its parameters about commits, by name."""
    before: Sequence[ParameterBefore] = ()
    """Further ones that advice may change, or those of which more is known than their value."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The observation of a server in one stretch of time.

    Fields with a default are not available from watching the processes alone.
    """

    server: Mapping[str, Any] = field(default_factory=dict)
    """`name`, `version`, `place`, `local` (bool), as `Engine.describe` has them."""
    at: str
    """When it began: UTC, ISO 8601."""
    elapsed_s: float
    ticks: int
    processes: tuple[Observed, ...]
    events: tuple[tuple[str, str], ...]
    """Class and name by code; `("", "idle")` first, `("", "")` for no event posted."""
    looks: Looks
    idle: tuple[IdleLooks, ...] = ()
    wait_ends: tuple[WaitEnds, ...] = ()
    timed: tuple[TimedWaits, ...] = ()
    wait_buckets: tuple[WaitBucket, ...] = ()
    log_sync: Episodes | None = None
    """A commit's wait for its flush, whoever does it."""
    log_write: Episodes | None = None
    """The write and flush itself."""
    counters: Mapping[str, float | None] = field(default_factory=dict)
    """Differences of the server's counters: `transactions` (that wrote), `commits`, `log_flushes`,
    `log_flush_time_s`, `log_writes`, `log_write_time_s`, `log_bytes`, `rows_written` (inserted, updated and
    deleted), `binlog_flushes`, `binlog_flush_time_s`."""
    ended_cpu_s: float | None
    """CPU of processes that ended, after their last look."""
    host_cpus: int | None = None
    host_cores: int | None = None
    """As the server itself reports them; for a server on this machine they are counted here."""
    host_busy_s: float | None = None
    """CPU time of the whole machine."""
    host_steal_s: float | None = None
    """Time the hypervisor gave to others although this machine had work."""
    instrument: Instrument
    not_available: tuple[tuple[str, str], ...] = ()
    """Figures that are not available on this server, each with the reason and the remedy."""
    warnings: tuple[str, ...] = ()
    broken: str | None = None
    """Why nothing follows this reading: the connection was lost. Its counters may be missing."""


def join(observations: Sequence[Observation]) -> Observation:
    """One observation of several that follow each other without a gap.

    A process is the same in two of them when pid and start agree. Where it is missing in one between two
    that have it, the ticks of that one count as skipped, because the process must not count as idle then.
    Amounts are added; one that was not available in a part is not available in the whole. A session's user
    and application come from the last observation that knew them.

    Raises:
        ValueError: there is nothing to join.
    """
    import numpy as np

    if not observations:
        raise ValueError("no observation to join")
    events = tuple(dict.fromkeys(event for item in observations for event in item.events))
    places: dict[tuple[int, int], int] = {}
    processes: list[Observed] = []
    looks: list[Looks] = []
    idle: Counter[tuple[int, int, int]] = Counter()
    wait_ends: dict[tuple[int, int], WaitEnds] = {}
    timed: dict[tuple[int | None, int], TimedWaits] = {}
    buckets: Counter[tuple[int, float]] = Counter()
    offset = 0
    for item in observations:
        event_at = np.array([events.index(event) for event in item.events], np.uint32)
        at = [_merged(process, offset, places, processes) for process in item.processes]
        process_at = np.array(at, np.uint32)
        looks.append(
            Looks(
                item.looks.tick + np.uint32(offset),
                process_at[item.looks.process],
                event_at[item.looks.event],
                item.looks.state,
            )
        )
        for idling in item.idle:
            idle[at[idling.process], int(event_at[idling.event]), idling.state] += idling.looks
        for ends in item.wait_ends:
            place = at[ends.process], int(event_at[ends.event])
            was = wait_ends.get(place, WaitEnds(*place, 0.0, 0))
            wait_ends[place] = WaitEnds(*place, was.exposure_s + ends.exposure_s, was.ends + ends.ends)
        for waits in item.timed:
            owner = None if waits.process is None else at[waits.process]
            key = owner, int(event_at[waits.event])
            before = timed.get(key, TimedWaits(*key, 0, 0.0))
            timed[key] = TimedWaits(*key, before.count + waits.count, _sum(before.time_s, waits.time_s))
        for bucket in item.wait_buckets:
            buckets[int(event_at[bucket.event]), bucket.below_s] += bucket.count
        offset += item.ticks
    names = dict.fromkeys(name for item in observations for name in item.counters)
    return Observation(
        server=observations[-1].server,
        at=observations[0].at,
        elapsed_s=sum(item.elapsed_s for item in observations),
        ticks=offset,
        processes=tuple(processes),
        events=events,
        looks=Looks(
            *(np.concatenate([getattr(part, each.name) for part in looks]) for each in fields(Looks))
        ),
        idle=tuple(IdleLooks(*place, count) for place, count in idle.items()),
        wait_ends=tuple(wait_ends.values()),
        timed=tuple(timed.values()),
        wait_buckets=tuple(WaitBucket(*place, count) for place, count in sorted(buckets.items())),
        log_sync=_joined_episodes([item.log_sync for item in observations]),
        log_write=_joined_episodes([item.log_write for item in observations]),
        counters={name: _sum(*(item.counters.get(name) for item in observations)) for name in names},
        ended_cpu_s=_sum(*(item.ended_cpu_s for item in observations)),
        host_cpus=observations[-1].host_cpus,
        host_cores=observations[-1].host_cores,
        host_busy_s=_sum(*(item.host_busy_s for item in observations)),
        host_steal_s=_sum(*(item.host_steal_s for item in observations)),
        instrument=_joined_instrument(observations),
        not_available=tuple(dict.fromkeys(pair for item in observations for pair in item.not_available)),
        warnings=tuple(dict.fromkeys(text for item in observations for text in item.warnings)),
        broken=observations[-1].broken,
    )


def _merged(process: Observed, offset: int, places: dict[tuple[int, int], int], into: list[Observed]) -> int:
    """Put a part's process among those of the whole; its place there."""
    key = process.pid, process.started
    shifted = replace(process, first_tick=process.first_tick + offset, last_tick=process.last_tick + offset)
    if key not in places:
        places[key] = len(into)
        into.append(shifted)
        return places[key]
    was = into[places[key]]
    into[places[key]] = replace(
        shifted,
        first_tick=was.first_tick,
        skipped=was.skipped + process.skipped + (shifted.first_tick - was.last_tick),
        elapsed_s=was.elapsed_s + process.elapsed_s,
        cpu_s=_sum(was.cpu_s, process.cpu_s),
        run_queue_s=_sum(was.run_queue_s, process.run_queue_s),
        polls_idle=was.polls_idle + process.polls_idle,
        polls_in_transaction=was.polls_in_transaction + process.polls_in_transaction,
        cpu_late_s=max(was.cpu_late_s, process.cpu_late_s),
        **{name: getattr(process, name) or getattr(was, name) for name in _LEARNED},
    )
    return places[key]


_LEARNED = ("connection", "user", "application", "database", "client")


def _sum(*amounts: float | None) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _joined_episodes(parts: Sequence[Episodes | None]) -> Episodes | None:
    import numpy as np

    known = [part for part in parts if part is not None]
    if not known:
        return None
    watched = sum(part.watched_s for part in known)
    readings = sum(part.watched_s / part.resolution_s for part in known if part.resolution_s > 0)
    return Episodes(
        np.concatenate([part.durations_s for part in known]),
        np.concatenate([part.unfinished_s for part in known]),
        watched / readings if readings else known[-1].resolution_s,
        watched,
    )


def _joined_instrument(observations: Sequence[Observation]) -> Instrument:
    parts = [item.instrument for item in observations]
    elapsed = sum(item.elapsed_s for item in observations)
    asked = sum(item.instrument.rate_per_s * item.elapsed_s for item in observations)
    realtime = [part.realtime for part in parts if part.realtime is not None]
    return Instrument(
        source=" and ".join(dict.fromkeys(part.source for part in parts)),
        rate_per_s=asked / elapsed if elapsed else parts[-1].rate_per_s,
        late=sum(part.late for part in parts),
        lost=sum(part.lost for part in parts),
        torn=sum(part.torn for part in parts),
        looks=sum(part.looks for part in parts),
        cpu_s=sum(part.cpu_s for part in parts),
        server_cpu_s=_sum(*(part.server_cpu_s for part in parts)),
        realtime=all(realtime) if realtime else None,
    )
