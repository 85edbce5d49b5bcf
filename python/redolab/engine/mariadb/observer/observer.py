"""Watching a live MariaDB or MySQL, read-only: 20 looks a second at every session and thread.

Each tick asks the server which sessions have a statement and in which stage it is, then the kernel what
every thread is doing at that moment. Four times a second, between ticks, the list of all sessions, the
transactions and the kernel's accounts of every thread are read. CPU and run queue come from these
accounts; ticks only divide the rest.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from dataclasses import replace

import pymysql

from redolab import _core
from redolab.engine.linux.thread_looks import ThreadLooks
from redolab.engine.mariadb.connection import connect, error_text, fetch, read_target
from redolab.engine.mariadb.observer.lives import Life, Lives
from redolab.engine.mariadb.observer.server import identify, read_status
from redolab.engine.mariadb.observer.waits import (
    IDLE,
    NOTHING,
    Active,
    Event,
    Seen,
    name_background,
    name_session,
)
from redolab.engine.mariadb.observer.window import Window, as_observation, mark, read_files
from redolab.errors import RefusedError
from redolab.records.observation import Observation

RATE_PER_S = 20.0
_LOOKS_PER_S = 3_000.0
"""A look costs about 10 us: with more than 150 sessions and threads ticks are rarer."""
_POLL_S = 0.25
"""The server makes its list of transactions anew only when nobody has read it for 0.1 s."""
_POLL_SHARE = 0.02
"""With hundreds of sessions polls are rarer, so that they cost no more than this of a core."""
_RESTARTED_S = 3.0
"""The server tells its age in whole seconds."""
RESTART_LIMIT_S = 30.0
_RETRY_S = 0.25


class MariadbObserver:
    """One server under observation, by a thread of its own; see `Observer`."""

    def __init__(self, target: str, seed: int) -> None:
        """Connect and begin.

        Args:
            target: a `mysql://` or `mariadb://` URL.
            seed: of the gaps between ticks.

        Raises:
            UsageError: the URL cannot be read.
            RefusedError: the server cannot be reached, or refuses.
        """
        self._target = read_target(target)
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._events: dict[Event, int] = {IDLE: 0, NOTHING: 1}
        self._kernel: ThreadLooks | None = None
        self._broken: str | None = None
        self._open()
        self._thread = threading.Thread(target=self._sample, name="observer", daemon=True)
        self._thread.start()

    def read(self) -> Observation:
        """What happened since the last reading.

        When the connection was lost in between, what was seen until then; the time in which the server
        was away is in no observation.

        Raises:
            RefusedError: the server went away, and stayed away for half a minute.
        """
        began = time.thread_time()
        with self._lock:
            if self._broken is None:
                try:
                    return self._reading(began)
                except (pymysql.Error, OSError) as error:
                    self._broken = error_text(error)
            return self._reading_after_break(began)

    def close(self) -> None:
        """End the observation; nothing is left behind."""
        self._done.set()
        self._thread.join()
        self._disconnect()

    def _open(self) -> None:
        self._connection = connect(self._target)
        try:
            self._server = identify(self._connection, self._target)
            self._kernel, self._why_blind = _kernel_looks(self._server.process)
            self._lives = Lives(self._server.own_thread)
            self._poll(0)
            status = read_status(self._connection)
            files = read_files(self._connection, self._server)
        except (pymysql.Error, OSError) as error:
            self._disconnect()
            raise RefusedError(
                f"{self._target.place} answered, and then could not be watched: {error_text(error)}."
            ) from error
        except RefusedError:
            self._disconnect()
            raise
        self._unseen = status["connections"] - self._lives.begun
        self._window = Window(self._mark, status, files)

    def _reopen(self) -> None:
        give_up_s = time.monotonic() + RESTART_LIMIT_S
        while True:
            try:
                return self._open()
            except RefusedError:
                if time.monotonic() > give_up_s:
                    raise
                time.sleep(_RETRY_S)

    def _disconnect(self) -> None:
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None
        with suppress(pymysql.Error, OSError):
            self._connection.close()

    # Gathering

    def _sample(self) -> None:
        due = time.monotonic() + self._gap_s()
        while not self._done.wait(max(0.0, due - time.monotonic())):
            late = time.monotonic() - due > 0.5 / RATE_PER_S
            with self._lock:
                began, window = time.thread_time(), self._window
                window.late += late
                try:
                    self._tick_and_poll(window)
                except (pymysql.Error, OSError) as error:
                    window.lost += 1
                    self._broken = error_text(error)
                window.cpu_s += time.thread_time() - began
            due = max(due, time.monotonic()) + self._gap_s()

    def _gap_s(self) -> float:
        """To the next tick. Its mean hangs on how many there are to look at, never on what they do."""
        looks = max(1, len(self._lives.all))
        return self._random.expovariate(min(RATE_PER_S, _LOOKS_PER_S / looks))

    def _tick_and_poll(self, window: Window) -> None:
        if self._broken is not None:
            window.lost += 1
            return
        self._tick(window)
        if time.monotonic() >= self._poll_due_s:
            self._poll(window.ticks)

    def _tick(self, window: Window) -> None:
        """Look once at everybody who lived at the last poll."""
        active = self._read_active()
        living = self._lives.living
        running = self._running([life.thread for _, life in living])
        for (place, life), awake in zip(living, running, strict=True):
            seen = self._look(life, active, awake)
            window.looks += 1
            if seen is None:
                life.skips.append(window.ticks)
                continue
            window.torn += seen.torn
            if seen.event != IDLE:
                code = self._events.setdefault(seen.event, len(self._events))
                window.seen.append((window.ticks, place, code, seen.state))
        window.ticks += 1

    def _look(self, life: Life, active: dict[int, Active], awake: bool | None) -> Seen | None:
        look = None
        if self._kernel is not None:
            look = self._kernel.look(life.thread)
            if look is None:
                return None
            if look.doing == "timed futex" and self._server.flavour == "mysql":
                # Only MariaDB's row locks wait with a time limit.
                look = replace(look, doing="futex")
        if life.scope == "background":
            return name_background(look, awake)
        statement = active.get(life.connection or 0)
        locked = (
            statement is not None and life.row_lock is not None and life.row_lock in (statement.statement, -1)
        )
        return name_session(look, statement, locked, awake)

    def _read_active(self) -> dict[int, Active]:
        server = self._server
        waits = {}
        if server.current_waits:
            rows = fetch(self._connection, "select_waits", server.version)
            waits = {row["connection"]: row["name"] for row in rows}
        return {
            row["connection"]: Active(row["stage"] or "", row["statement"], waits.get(row["connection"]))
            for row in fetch(self._connection, "select_active", server.version, server.flavour)
        }

    def _running(self, threads: list[int]) -> list[bool | None]:
        """The scheduler's word where system calls may not be seen; None where nothing can be asked."""
        if self._kernel is not None or self._server.process is None:
            return [None] * len(threads)
        return [None if letter is None else letter == "R" for letter in _core.task_states(threads)]

    def _poll(self, tick: int) -> None:
        """Read who is there and what every thread used."""
        server, began_s = self._server, time.thread_time()
        rows = fetch(self._connection, "select_sessions", server.version, server.flavour)
        if server.instruments:
            self._lives.names = {
                row["thread"]: (row["kind"].removeprefix("thread/"), row["program"])
                for row in fetch(self._connection, "select_threads", server.version)
            }
        tasks = None if server.process is None else _core.process_threads(server.process)
        if self._kernel is not None and tasks is not None:
            self._kernel.keep({task.pid for task in tasks})
        self._mark = mark(server.process)
        self._lives.poll(rows, tasks, tick, self._mark.at_s)
        spent_s = time.thread_time() - began_s
        self._poll_due_s = self._mark.at_s + max(_POLL_S, spent_s / _POLL_SHARE)

    # Giving

    def _reading(self, began: float) -> Observation:
        status = read_status(self._connection)
        files = read_files(self._connection, self._server)
        window = self._window
        self._poll(window.ticks)
        self._window = Window(self._mark, status, files)
        # Not the difference of this window alone: a connection made during the poll is in the next one's.
        unseen = status["connections"] - self._lives.begun
        if unseen > self._unseen:
            self._unseen = unseen
            window.warnings.append(
                "Connections came and went too quickly to be looked at: their CPU is in the instance's "
                "alone, or shown as a background thread's."
            )
        return self._give(window, self._window, began)

    def _reading_after_break(self, began: float) -> Observation:
        """Connect once more, and give what was seen until the connection broke."""
        window, lives, server, why_blind, end = (
            self._window, self._lives, self._server, self._why_blind, self._mark,
        )  # fmt: skip
        self._disconnect()
        self._reopen()
        self._broken = None
        restarted = (
            self._server.process != server.process
            or abs(self._server.started_epoch_s - server.started_epoch_s) > _RESTARTED_S
        )
        window.warnings.append(
            "The server restarted while it was watched; what it did around that was not seen."
            if restarted
            else "The connection to the server was lost and made again; meanwhile nothing was seen."
        )
        lives.end_all()
        window.cpu_s += time.thread_time() - began
        return as_observation(
            window, Window(end, {}, {}), *lives.cut(), self._events, server, why_blind, RATE_PER_S
        )

    def _give(self, window: Window, following: Window, began: float) -> Observation:
        window.cpu_s += time.thread_time() - began
        return as_observation(
            window, following, *self._lives.cut(), self._events, self._server, self._why_blind, RATE_PER_S
        )


def _kernel_looks(process: int | None) -> tuple[ThreadLooks | None, tuple[tuple[str, str], ...]]:
    """Looks at system calls, or why there are none."""
    if process is None:
        return None, ()
    try:
        return ThreadLooks(process), ()
    except PermissionError as error:
        return None, (
            (
                "flushes and writes of the log told apart from other waits",
                f"the server's system calls may not be seen ({error.strerror or error}): run Redolab as "
                "root, with CAP_SYS_PTRACE, or as the server's user where kernel.yama.ptrace_scope is 0",
            ),
        )
