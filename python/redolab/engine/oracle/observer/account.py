"""The difference of two readings of an Oracle instance, as an observation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from redolab.engine.oracle.observer.reading import Reading, Session, Waits
from redolab.engine.oracle.preflight.server import Server
from redolab.engine.sampling.event_codes import Event, EventCodes
from redolab.records.observation import Instrument, Looks, Observation, Observed, TimedWaits, WaitBucket

_WENT_BACK = (
    "Counters of the instance decreased while it was watched; the figures that they would give are left out."
)
_LOG_WRITE: Event = ("System I/O", "log file parallel write")
_US = 1e-6
_RATE_PER_S = 1.0


@dataclass(frozen=True)
class _Life:
    """A session in both readings."""

    before: Session
    after: Session


def as_observation(before: Reading, after: Reading, server: Server, cpu_s: float) -> Observation:
    """The observation between two readings.

    A session is in it with what both readings show. One that began or ended in between has its part in the
    instance's figures alone. The wait that is under way counts for as long as it has lasted: Oracle adds a
    wait to a session's account when it ends.

    Args:
        before: the earlier.
        after: the later.
        server: what was watched.
        cpu_s: CPU that reading cost in this process.
    """
    import numpy as np

    elapsed_s = after.at_s - before.at_s
    events = EventCodes()
    lives = [
        _Life(session, after.sessions[key])
        for key, session in before.sessions.items()
        if key in after.sessions
    ]
    timed = [item for place, life in enumerate(lives) for item in _session_waits(place, life, events)]
    whole = _grown_waits(before.waits, after.waits)
    timed += [
        TimedWaits(None, events[event], count, time_us * _US) for event, (count, time_us) in whole.items()
    ]
    buckets = _buckets(before, after, events)
    ended = [
        _observed(item, item, 0.0, True) for key, item in before.sessions.items() if key not in after.sessions
    ]
    processes = tuple(_observed(life.before, life.after, elapsed_s, False) for life in lives)
    known_s = sum(process.cpu_s or 0.0 for process in processes)
    own_s = max(0, after.own_cpu_us - before.own_cpu_us) * _US
    spent = _grown(before.cpu_us, after.cpu_us)
    nothing = np.zeros(0, np.uint32)
    return Observation(
        server=server.description,
        at=before.at,
        elapsed_s=elapsed_s,
        ticks=1,
        processes=(*processes, *ended),
        events=tuple(events),
        looks=Looks(nothing, nothing, nothing, np.zeros(0, np.uint8)),
        timed=tuple(timed),
        wait_buckets=buckets,
        counters=_counters(before, after, whole),
        ended_cpu_s=None if spent is None else spent * _US - known_s - own_s,
        host_cpus=_of_machine(after, "NUM_CPUS"),
        host_cores=_of_machine(after, "NUM_CPU_CORES"),
        host_busy_s=_busy_s(before, after),
        instrument=Instrument(
            source="V$SESSION_EVENT", rate_per_s=_RATE_PER_S, late=0, lost=0, torn=0, looks=0, cpu_s=cpu_s,
            server_cpu_s=own_s, realtime=None,
        ),
        not_available=server.not_available,
        warnings=(_WENT_BACK,) if _went_back(before, after) else (),
    )  # fmt: skip


def _observed(before: Session, after: Session, elapsed_s: float, ended: bool) -> Observed:
    cpu_us = after.cpu_us - before.cpu_us
    return Observed(
        pid=after.sid,
        started=after.serial,
        connection=after.sid if after.scope == "session" else None,
        kind=after.kind,
        scope=after.scope,
        user=after.user,
        application=after.program,
        database=after.service,
        client=after.machine,
        first_tick=0,
        last_tick=0,
        skipped=0,
        elapsed_s=elapsed_s,
        cpu_s=cpu_us * _US if cpu_us >= 0 else None,
        run_queue_s=None,
        ended=ended,
        polls_idle=int(not after.active and not after.in_transaction),
        polls_in_transaction=int(not after.active and after.in_transaction),
        accounted=True,
        cpu_late_s=max(before.cpu_late_s, after.cpu_late_s) if cpu_us else 0.0,
    )


def _session_waits(place: int, life: _Life, events: EventCodes) -> Iterator[TimedWaits]:
    for event, (count, time_us) in session_waits(life.before, life.after).items():
        yield TimedWaits(place, events[event], count, time_us * _US)


def session_waits(earlier: Session, later: Session) -> dict[Event, tuple[int, int]]:
    """Waits of a session between two readings: waits that ended, and microseconds.

    Args:
        earlier: the session at the first.
        later: the same session at the second.
    """
    before, after = _with_present(earlier), _with_present(later)
    waits = {}
    for event, (count, time_us) in after.items():
        count_before, time_before_us = before.get(event, (0, 0))
        spent_us = time_us - time_before_us
        if count > count_before or spent_us > 0:
            waits[event] = max(0, count - count_before), max(0, spent_us)
    return waits


def _with_present(session: Session) -> dict[Event, tuple[int, int]]:
    """A session's account, the wait under way too."""
    waits = dict(session.waits)
    if session.waiting is not None:
        count, time_us = waits.get(session.waiting, (0, 0))
        waits[session.waiting] = count, time_us + session.waiting_us
    return waits


def _grown_waits(before: Waits | None, after: Waits | None) -> dict[Event, tuple[int, int]]:
    if before is None or after is None:
        return {}
    waits = {}
    for event, (count, time_us) in after.items():
        count_before, time_before_us = before.get(event, (0, 0))
        if count > count_before and time_us >= time_before_us:
            waits[event] = count - count_before, time_us - time_before_us
    return waits


def _buckets(before: Reading, after: Reading, events: EventCodes) -> tuple[WaitBucket, ...]:
    if before.buckets is None or after.buckets is None:
        return ()
    grown = {key: count - before.buckets.get(key, 0) for key, count in after.buckets.items()}
    return tuple(
        WaitBucket(events[event], below_s, count) for (event, below_s), count in grown.items() if count > 0
    )


def _counters(
    before: Reading, after: Reading, waits: Mapping[Event, tuple[int, int]]
) -> dict[str, float | None]:
    """As `Observation.counters` has them. A log write also flushes: its time is reported once."""
    earlier, later = before.statistics or {}, after.statistics or {}
    commits = _grown(earlier.get("user commits"), later.get("user commits"))
    has_waits = before.waits is not None and after.waits is not None
    count, time_us = waits.get(_LOG_WRITE, (0, 0))
    return {
        "transactions": commits,
        "commits": commits,
        "log_flushes": count if has_waits else None,
        "log_flush_time_s": time_us * _US if has_waits else None,
        "log_writes": _grown(earlier.get("redo writes"), later.get("redo writes")),
        "log_write_time_s": None,
        "log_bytes": _grown(earlier.get("redo size"), later.get("redo size")),
    }


def _of_machine(reading: Reading, name: str) -> int | None:
    """A number of V$OSSTAT; None where it does not have this number, or this user may not see it."""
    return int((reading.machine or {}).get(name, 0)) or None


def _busy_s(before: Reading, after: Reading) -> float | None:
    """CPU time of the machine; V$OSSTAT has hundredths of a second."""
    if before.machine is None or after.machine is None:
        return None
    grown = after.machine.get("BUSY_TIME", 0.0) - before.machine.get("BUSY_TIME", 0.0)
    return grown / 100 if grown >= 0 else None


def _grown(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None or after < before else after - before


def _went_back(before: Reading, after: Reading) -> bool:
    if before.statistics is None or after.statistics is None:
        return False
    return any(value < before.statistics.get(name, 0) for name, value in after.statistics.items())
