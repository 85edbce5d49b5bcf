"""The data gathered of a MariaDB or MySQL between two readings, and the observation made of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from redolab import _core
from redolab.engine.linux.local_server import process_cpu_ns
from redolab.engine.mariadb.connection import Connection, fetch
from redolab.engine.mariadb.observer.counters import Timed, counters, missing, row_locks, saw_row_locks
from redolab.engine.mariadb.observer.lives import Life, observed
from redolab.engine.mariadb.observer.server import Server
from redolab.engine.mariadb.observer.waits import ASLEEP, CLIENT, ROW_LOCK, TIMED_WAIT, timed_files
from redolab.engine.sampling.event_codes import NOTHING, Event, EventCodes
from redolab.engine.sampling.ticking import TimeKept
from redolab.records.observation import IdleLooks, Instrument, Looks, Observation, TimedWaits


@dataclass(frozen=True)
class Mark:
    """One moment and the accounts at it."""

    at_s: float
    """Monotonic clock."""
    at: str
    machine: _core.MachineTimes
    process_cpu_ns: int | None
    """CPU time of the whole server, ended threads included."""


@dataclass
class Window:
    """The data gathered since a mark."""

    begin: Mark
    status: Mapping[str, float]
    files: Timed
    ticks: int = 0
    torn: int = 0
    looks: int = 0
    seen: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Tick, place of the life, code of the event, code of the state."""
    warnings: list[str] = field(default_factory=list)


def mark(process: int | None) -> Mark:
    """The accounts now; the server's own where it is a process of this machine."""
    return Mark(
        time.monotonic(),
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        _core.machine_times(),
        None if process is None else process_cpu_ns(process),
    )


def read_files(connection: Connection, server: Server) -> Timed:
    """The server's own account of file operations, where it keeps one."""
    if not server.timed_files:
        return {}
    rows = fetch(connection, "select_file_times", server.version)
    operations = (timed for row in rows for timed in timed_files(row["name"], row))
    return {event: (count, time_s) for event, count, time_s in operations}


def as_observation(
    window: Window,
    following: Window,
    lives: Sequence[Life],
    own_cpu_ns: int,
    events: EventCodes,
    server: Server,
    why_blind: Sequence[tuple[str, str]],
    kept: TimeKept,
    rate_per_s: float,
) -> Observation:
    """The record of a window.

    Args:
        window: what was gathered.
        following: the next window, whose beginning is this one's end; without status when the end was
            not seen.
        lives: everybody in it.
        own_cpu_ns: CPU of Redolab's own session.
        events: codes of events; new ones may be added.
        server: what was watched.
        why_blind: what the kernel did not let be seen.
        kept: how the clock kept time; its CPU with that of the readings.
        rate_per_s: mean rate of ticks asked for.
    """
    before, after, end = window.status, following.status, following.begin
    local = server.process is not None
    spent_ns = _difference(window.begin.process_cpu_ns, end.process_cpu_ns)
    known_ns = own_cpu_ns + sum(life.cpu_ns or 0 for life in lives)
    files = _grown(window.files, following.files)
    timed = _timed(files, row_locks(before, after), events)
    looks = _looks(window, lives)
    idle = tuple(_idle(lives, looks, events))
    return Observation(
        server=server.description,
        at=window.begin.at,
        elapsed_s=end.at_s - window.begin.at_s,
        ticks=window.ticks,
        processes=tuple(map(observed, lives)),
        events=_names(events, before, after),
        looks=looks,
        idle=idle,
        timed=timed,
        counters=counters(server, before, after, files),
        ended_cpu_s=None if spent_ns is None else (spent_ns - known_ns) / 1e9,
        host_cpus=end.machine.cpus if local else None,
        host_busy_s=(end.machine.busy_ns - window.begin.machine.busy_ns) / 1e9 if local else None,
        host_steal_s=(end.machine.steal_ns - window.begin.machine.steal_ns) / 1e9 if local else None,
        instrument=Instrument(
            source=server.source,
            rate_per_s=rate_per_s,
            late=kept.late,
            lost=kept.lost,
            torn=window.torn,
            looks=window.looks,
            cpu_s=kept.cpu_s,
            server_cpu_s=own_cpu_ns / 1e9 if local else None,
            realtime=None,
        ),
        not_available=(*server.not_available, *why_blind, *missing(server, before)),
        warnings=tuple(window.warnings),
    )


def _looks(window: Window, lives: Sequence[Life]) -> Looks:
    # A session that ended between two polls is known up to the last poll that met it.
    met = np.array([life.last_tick for life in lives], dtype=np.uint32)
    rows = np.array(window.seen, dtype=np.uint32).reshape(-1, 4)
    rows = rows[rows[:, 0] < met[rows[:, 1]]]
    return Looks(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3].astype(np.uint8))


def _idle(lives: Sequence[Life], looks: Looks, events: EventCodes) -> Iterator[IdleLooks]:
    """The looks that found nothing at work: a session that waits for its client, a thread without work."""
    busy = np.bincount(looks.process, minlength=len(lives)).tolist()
    for place, (life, found) in enumerate(zip(lives, busy, strict=True)):
        ticks = life.last_tick - life.first_tick - life.skipped - found
        if ticks:
            event = CLIENT if life.scope == "session" else NOTHING
            yield IdleLooks(place, events[event], ASLEEP, ticks)


def _grown(before: Timed, after: Timed) -> Timed:
    grown = {}
    for event, (count, time_s) in after.items():
        count_before, time_before_s = before.get(event, (0, 0.0))
        if count > count_before:
            grown[event] = (count - count_before, time_s - time_before_s)
    return grown


def _timed(files: Timed, locks: tuple[int, float] | None, events: EventCodes) -> tuple[TimedWaits, ...]:
    """Waits that the server itself counted and timed, for the whole instance."""
    waits = {**files, **({} if locks is None else {ROW_LOCK: locks})}
    return tuple(TimedWaits(None, events[event], count, time_s) for event, (count, time_s) in waits.items())


def _names(
    events: Mapping[Event, int], before: Mapping[str, float], after: Mapping[str, float]
) -> tuple[Event, ...]:
    """Events by code. A wait with a time limit is not a row lock where the server does not know of one."""
    confirmed = saw_row_locks(before, after)
    return tuple(TIMED_WAIT if event == ROW_LOCK and not confirmed else event for event in events)


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before
