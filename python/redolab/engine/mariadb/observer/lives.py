"""The sessions and threads of a server between polls: who was there, how long, and what they used."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from redolab import _core
from redolab.records.observation import Observed

_SERVICES = ("Daemon", "Slave", "Binlog Dump")
"""Commands of connections that serve no client."""
_OF_NO_CLIENT = "system user"
"""The user of the threads of replication: MySQL gives them the commands of clients."""


@dataclass
class Life:
    """One session or background thread inside the present window."""

    thread: int
    started: int
    connection: int | None
    kind: str
    scope: Literal["session", "background"]
    user: str | None = None
    database: str | None = None
    client: str | None = None
    application: str | None = None
    first_tick: int = 0
    last_tick: int = 0
    began_s: float = 0.0
    seen_s: float = 0.0
    cpu_ns: int | None = None
    run_queue_ns: int | None = None
    ended: bool = False
    row_lock: int | None = None
    """The statement the server listed as waiting for a row lock; -1 where it numbers none."""
    skips: list[int] = field(default_factory=list)
    polls_idle: int = 0
    polls_in_transaction: int = 0

    @property
    def skipped(self) -> int:
        """Ticks up to the last poll that met it in which the look failed."""
        return sum(tick < self.last_tick for tick in self.skips)


class Lives:
    """Everybody seen in the present window, in the order of appearance."""

    def __init__(self, own: Collection[int]) -> None:
        """Watch all but the threads that serve Redolab's own connections."""
        self.all: list[Life] = []
        self.names: dict[int, tuple[str, str | None]] = {}
        """The name of a thread in performance_schema, and the program at the other end."""
        self.begun = 0
        """Sessions ever begun."""
        self.own_cpu_ns = 0
        self._own = frozenset(own)
        self._tasks: dict[int, _core.Task] = {}
        self._served: set[int] = set()

    @property
    def living(self) -> list[tuple[int, Life]]:
        """The lives that have not ended, each with its place in `all`."""
        return [(place, life) for place, life in enumerate(self.all) if not life.ended]

    def poll(
        self, rows: Sequence[Mapping[str, Any]], tasks: Sequence[_core.Task] | None, tick: int, now_s: float
    ) -> None:
        """Take in one poll.

        Args:
            rows: the server's sessions (`select_sessions`).
            tasks: the accounts of all its threads; None where the kernel cannot be asked.
            tick: how many ticks of this window came before.
            now_s: monotonic clock.
        """
        lives = {(life.thread, life.connection): life for life in self.all if not life.ended}
        by_thread = {task.pid: task for task in tasks or ()}
        present: set[int] = set()
        for row in rows:
            thread, connection = int(row["thread"] or 0), int(row["connection"])
            if tasks is not None and thread not in by_thread:
                continue  # It ended between the two readings.
            if thread and thread in self._own:
                continue
            life = lives.get((thread, connection)) or self._begin_session(row, thread, tick, now_s)
            self._served.add(thread)
            present.add(id(life))
            life.application = self.names.get(thread, ("", None))[1]
            _count_poll(life, row)
            self._account(life, by_thread.get(thread), tick, now_s)
        owned = {int(row["thread"] or 0) for row in rows} | self._own | self._served
        for task in by_thread.values():
            if task.pid not in owned:
                thread_life = lives.get((task.pid, None))
                if thread_life is None or thread_life.started != task.start_ticks:
                    thread_life = self._begin_thread(task, tick, now_s)
                present.add(id(thread_life))
                self._account(thread_life, task, tick, now_s)
        for life in lives.values():
            life.ended = id(life) not in present
        for thread in self._own & by_thread.keys() & self._tasks.keys():
            self.own_cpu_ns += by_thread[thread].cpu_ns - self._tasks[thread].cpu_ns
        self._tasks = by_thread
        self._served &= by_thread.keys()

    def cut(self) -> tuple[list[Life], int]:
        """End the window: give it and the CPU of Redolab's own sessions, and go on with who lives."""
        done, own_cpu_ns = self.all, self.own_cpu_ns
        self.all = [_continued(life) for life in done if not life.ended]
        self.own_cpu_ns = 0
        return done, own_cpu_ns

    def end_all(self) -> None:
        """The server is gone, and everybody with it."""
        for life in self.all:
            life.ended = True
        self._tasks, self._served = {}, set()

    def _begin_session(self, row: Mapping[str, Any], thread: int, tick: int, now_s: float) -> Life:
        command = str(row["command"])
        named = command.startswith(_SERVICES)
        service = named or row["user"] == _OF_NO_CLIENT
        kind = command.lower() if named else self.names.get(thread, ("replication", None))[0]
        host = row["host"] or ""
        client = "local" if host == "localhost" else host.rpartition(":")[0] or host or None
        life = Life(
            thread=thread,
            # Threads serve one session after another: with its number a session has its own name.
            started=int(row["connection"]),
            connection=int(row["connection"]),
            kind=kind if service else "session",
            scope="background" if service else "session",
            client=client,
            first_tick=tick,
            began_s=now_s,
        )
        self.all.append(life)
        self.begun += 1
        return life

    def _begin_thread(self, task: _core.Task, tick: int, now_s: float) -> Life:
        kind = self.names.get(task.pid, (task.kind, None))[0]
        life = Life(task.pid, task.start_ticks, None, kind, "background", first_tick=tick, began_s=now_s)
        self.all.append(life)
        return life

    def _account(self, life: Life, task: _core.Task | None, tick: int, now_s: float) -> None:
        """Add what was used since the last poll; a life begins with the poll that first found it."""
        life.last_tick, life.seen_s = tick, now_s
        if task is None:
            return
        if life.cpu_ns is None or life.run_queue_ns is None:
            life.cpu_ns = life.run_queue_ns = 0
            return
        before = self._tasks[life.thread]
        life.cpu_ns += task.cpu_ns - before.cpu_ns
        life.run_queue_ns += task.run_queue_ns - before.run_queue_ns


def observed(life: Life) -> Observed:
    """The record of a life in a window that has ended."""
    return Observed(
        pid=life.thread,
        started=life.started,
        connection=life.connection,
        kind=life.kind,
        scope=life.scope,
        user=life.user,
        application=life.application,
        database=life.database,
        client=life.client,
        first_tick=life.first_tick,
        last_tick=life.last_tick,
        skipped=life.skipped,
        elapsed_s=life.seen_s - life.began_s,
        cpu_s=None if life.cpu_ns is None else life.cpu_ns / 1e9,
        run_queue_s=None if life.run_queue_ns is None else life.run_queue_ns / 1e9,
        ended=life.ended,
        polls_idle=life.polls_idle,
        polls_in_transaction=life.polls_in_transaction,
    )


def _count_poll(life: Life, row: Mapping[str, Any]) -> None:
    life.user, life.database, transaction = row["user"], row["db"], row["transaction"]
    life.row_lock = None
    if row["command"] == "Sleep":
        life.polls_in_transaction += transaction is not None
        life.polls_idle += transaction is None
    elif transaction == "LOCK WAIT":
        life.row_lock = -1 if row["query"] is None else int(row["query"])


def _continued(life: Life) -> Life:
    return replace(
        life,
        first_tick=0,
        last_tick=0,
        began_s=life.seen_s,
        cpu_ns=None if life.cpu_ns is None else 0,
        run_queue_ns=None if life.run_queue_ns is None else 0,
        skips=[],
        polls_idle=0,
        polls_in_transaction=0,
    )
