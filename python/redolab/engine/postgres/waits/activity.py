"""A server's processes as `pg_stat_activity` shows them, 20 times a second, where its memory cannot be read.

On the server's own machine the kernel's accounts and states join in. Event and state are then of moments
a millisecond apart, which divides waits of 50 us inaccurately.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg

from redolab import _core
from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.postgres.waits.memory import SESSION_KINDS
from redolab.engine.sampling.event_codes import EventCodes
from redolab.engine.sampling.ticking import Outcome, Ticking
from redolab.records.observation import STATES, IdleLooks, Instrument, Looks, Observation, Observed

RATE_PER_S = 20.0
_CALM_PER_S = 8.0
_IDLE_CLASSES = ("Activity", "Client")
_ASLEEP, _UNKNOWN, _AWAKE = map(STATES.index, ("asleep", "unknown", "awake"))

Rows = Sequence[Mapping[str, Any]]
Key = tuple[int, int]


@dataclass
class _Life:
    """One process, from the ticks that found it."""

    first: int
    first_age_s: float
    """Its age then."""
    last: int = 0
    row: Mapping[str, Any] = field(default_factory=dict)
    """The row of the last of them."""
    found: int = 0
    idle: int = 0
    in_transaction: int = 0


class _Gathered:
    """The data from ticks since a reading: no more is kept of a query's answer than is needed."""

    def __init__(self) -> None:
        self.at_s = array("d")
        """When each tick was."""
        self.lives: dict[Key, _Life] = {}
        self.codes = EventCodes()
        self.looks = array("I")
        """Tick, place of the process, event and state of each look at a process that was not idle."""
        self.idle: Counter[tuple[int, int, int]] = Counter()
        self._places: dict[Key, int] = {}

    def add(self, at_s: float, rows: Rows, states: Sequence[int]) -> None:
        """Take in one query's answer: the processes, and each one's scheduler state."""
        number = len(self.at_s)
        self.at_s.append(at_s)
        for row, state in zip(rows, states, strict=True):
            key = row["pid"], row["started_us"]
            life = self.lives.setdefault(key, _Life(number, row["age_s"]))
            place = self._places.setdefault(key, len(self._places))
            life.last, life.row = number, row
            life.found += 1
            life.idle += row["state"] == "idle"
            life.in_transaction += str(row["state"]).startswith("idle in")
            code = self.codes[row["wait_event_type"] or "", row["wait_event"] or ""]
            if row["wait_event_type"] in _IDLE_CLASSES:
                self.idle[place, code, state] += 1
            else:
                self.looks.extend((number, place, code, state))

    @property
    def alive(self) -> frozenset[Key]:
        """The sessions that were there at the last tick."""
        return frozenset(key for key, life in self.lives.items() if life.last == len(self.at_s) - 1)


class _Accounts:
    """The kernel's accounts between two readings of the server's processes; nothing without both."""

    def __init__(self, before: _core.ServerTasks | None, after: _core.ServerTasks | None) -> None:
        self.ended_cpu_s: float | None = None
        """CPU of processes that ended, since the first reading."""
        self._used_s: dict[int, tuple[float, float]] | None = None
        if before is None or after is None:
            return
        were = {(task.pid, task.start_ticks): (task.cpu_ns, task.run_queue_ns) for task in before.tasks}
        self._used_s = {}
        for task in after.tasks:
            cpu_ns, run_queue_ns = were.pop((task.pid, task.start_ticks), (0, 0))
            self._used_s[task.pid] = (task.cpu_ns - cpu_ns) / 1e9, (task.run_queue_ns - run_queue_ns) / 1e9
        known_ns = sum(cpu_ns for cpu_ns, _ in were.values())
        self.ended_cpu_s = (after.reaped_cpu_ns - before.reaped_cpu_ns - known_ns) / 1e9

    def of(self, pid: int) -> tuple[float | None, float | None]:
        """CPU and run queue of a process; what it used before it ended is in `ended_cpu_s`."""
        return (None, None) if self._used_s is None else self._used_s.get(pid, (0.0, 0.0))


class ActivitySource:
    """Watches a server over a connection from construction until `stop` (a `sampling.Source`)."""

    name = "pg_stat_activity"

    def __init__(
        self,
        connection: Connection,
        postmaster: int | None,
        own: Collection[int],
        seed: int,
        calm: bool = False,
    ) -> None:
        """Begin to watch.

        Args:
            connection: used by the source alone meanwhile.
            postmaster: the server's first process, when it runs on this machine.
            own: Redolab's own server processes, left out.
            seed: of the gaps between ticks.
            calm: whether it asks more rarely, in a long watch.
        """
        self._rate_per_s = _CALM_PER_S if calm else RATE_PER_S
        self._connection, self._postmaster, self._own = connection, postmaster, list(own)
        self._lock = threading.Lock()
        self._gathered = _Gathered()
        self._at, self._read_s = _now(), time.monotonic()
        self._accounts = self._read_accounts()
        self._alive: frozenset[Key] = frozenset()
        self._ticking = Ticking(self._tick, lambda: self._rate_per_s, seed)

    def pause(self) -> None:
        """Ask nothing until `resume`."""
        self._ticking.pause()

    def resume(self) -> None:
        """Go on asking."""
        self._ticking.resume()

    def read(self, rows: Rows) -> Observation:  # noqa: ARG002  asks for the sessions itself
        """The observation since the last reading."""
        return self._seen()

    def stop(self) -> Observation:
        """The observation since the last reading, and end."""
        self._ticking.stop()
        return self._seen()

    def _tick(self) -> Outcome:
        try:
            answer = fetch(self._connection, "select_sessions", {"own": self._own})
        except psycopg.Error:
            return "over" if self._connection.closed else "lost"
        # Of a process that this role may not see there is nothing to count.
        rows = [row for row in answer if row["kind"]]
        states = [_UNKNOWN] * len(rows) if self._postmaster is None else _scheduler_states(rows)
        with self._lock:
            self._gathered.add(time.monotonic(), rows, states)
        return "seen"

    def _seen(self) -> Observation:
        with self._lock:
            gathered, self._gathered = self._gathered, _Gathered()
        now_s, accounts = time.monotonic(), self._read_accounts()
        used = _Accounts(self._accounts, accounts)
        ticks = len(gathered.at_s)
        tick, process, event, state = np.array(gathered.looks, np.uint32).reshape(-1, 4).T
        kept = self._ticking.cut()
        observation = Observation(
            at=self._at,
            elapsed_s=now_s - self._read_s,
            ticks=ticks,
            processes=tuple(
                self._observed(key, life, gathered.at_s, now_s, used) for key, life in gathered.lives.items()
            ),
            events=tuple(gathered.codes),
            looks=Looks(tick, process, event, state.astype(np.uint8)),
            idle=tuple(IdleLooks(*found, looks) for found, looks in gathered.idle.items()),
            ended_cpu_s=used.ended_cpu_s,
            instrument=Instrument(
                source=self.name,
                rate_per_s=self._rate_per_s,
                late=kept.late,
                lost=kept.lost,
                torn=0,
                looks=sum(life.found for life in gathered.lives.values()),
                cpu_s=kept.cpu_s,
                server_cpu_s=None,
                realtime=None,
            ),
        )
        self._alive = gathered.alive if ticks else self._alive
        self._at, self._read_s, self._accounts = _now(), now_s, accounts
        return observation

    def _observed(
        self, key: Key, life: _Life, at_s: Sequence[float], now_s: float, used: _Accounts
    ) -> Observed:
        row = life.row
        ended = life.last + 1 < len(at_s)
        began_s = self._read_s
        if key not in self._alive:
            began_s = max(began_s, at_s[life.first] - life.first_age_s)
        cpu_s, run_queue_s = used.of(row["pid"])
        return Observed(
            pid=row["pid"],
            started=row["started_us"],
            connection=row["pid"],
            kind=row["kind"],
            scope="session" if row["kind"] in SESSION_KINDS else "background",
            user=row["user"],
            application=row["application"],
            database=row["database"],
            client=row["client"],
            first_tick=life.first,
            last_tick=life.last + 1,
            skipped=life.last + 1 - life.first - life.found,
            elapsed_s=(at_s[life.last] if ended else now_s) - began_s,
            cpu_s=cpu_s,
            run_queue_s=run_queue_s,
            ended=ended,
            polls_idle=life.idle,
            polls_in_transaction=life.in_transaction,
        )

    def _read_accounts(self) -> _core.ServerTasks | None:
        if self._postmaster is not None:
            with suppress(OSError):  # The server is just going down.
                return _core.server_tasks(self._postmaster)
        return None


def _scheduler_states(rows: Rows) -> list[int]:
    """Places in `STATES`. On a CPU and waiting for one cannot be distinguished here."""
    letters = _core.task_states([row["pid"] for row in rows])
    return [_UNKNOWN if letter is None else _AWAKE if letter == "R" else _ASLEEP for letter in letters]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
