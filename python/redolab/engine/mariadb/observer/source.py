"""Watching the threads of a MariaDB or MySQL: 20 looks a second at every session and thread.

Each tick asks the server which sessions have a statement and in which stage it is, then the kernel what
every thread is doing at that moment. Four times a second, between ticks, the list of all sessions, the
transactions and the kernel's accounts of every thread are read. CPU and run queue come from these
accounts; ticks only divide the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from dataclasses import replace

import pymysql

from redolab import _core
from redolab.engine.linux.thread_looks import ThreadLooks
from redolab.engine.mariadb.connection import Connection, fetch
from redolab.engine.mariadb.observer.lives import Life, Lives
from redolab.engine.mariadb.observer.server import Server, read_status
from redolab.engine.mariadb.observer.waits import Active, ObservedWait, name_background, name_session
from redolab.engine.mariadb.observer.window import Window, as_observation, mark, read_files
from redolab.engine.sampling.event_codes import IDLE, EventCodes
from redolab.engine.sampling.ticking import Outcome, Ticking
from redolab.records.observation import Observation

RATE_PER_S = 20.0
_LOOKS_PER_S = 3_000.0
"""A look costs about 10 us: with more than 150 sessions and threads ticks are rarer."""
_CALM = 0.4
"""Factor of the rate of those looks in a long watch."""
_POLL_S = 0.25
"""The server makes its list of transactions anew only when nobody has read it for 0.1 s."""
_POLL_SHARE = 0.02
"""With hundreds of sessions polls are rarer, so that they cost no more than this of a core."""


class ThreadSource:
    """Watches one server over a connection from construction until `stop` (a `sampling.Source`)."""

    def __init__(
        self,
        connection: Connection,
        server: Server,
        seed: int,
        own: Collection[int] = (),
        calm: bool = False,
    ) -> None:
        """Begin to watch.

        Args:
            connection: used by the source alone meanwhile.
            server: what is at its other end.
            seed: of the gaps between ticks.
            own: threads of Redolab's own in addition to the connection's, left out.
            calm: whether it looks more rarely, in a long watch.

        Raises:
            pymysql.Error: the connection was lost.
            OSError: the server's process went away.
        """
        self._connection, self._server = connection, server
        self._pace = _CALM if calm else 1.0
        self._lock = threading.Lock()
        self._events = EventCodes()
        self._broken = False
        self._kernel, self._why_blind = _kernel_looks(server.process)
        try:
            self._lives = Lives({server.own_thread, *own})
            self._poll(0)
            status = read_status(connection)
            self._window = Window(self._mark, status, read_files(connection, server))
        except BaseException:
            self._close_kernel()
            raise
        self._unseen = status["connections"] - self._lives.begun
        self._ticking = Ticking(self._tick_and_poll, self._rate_per_s, seed)

    def pause(self) -> None:
        """Look at nothing until `resume`."""
        self._ticking.pause()

    def resume(self) -> None:
        """Go on."""
        self._ticking.resume()

    def read(self) -> Observation | None:
        """The observation since the last reading; None once the connection is lost (then use `stop`)."""
        began = time.thread_time()
        with self._lock:
            if not self._broken:
                try:
                    return self._reading(began)
                except (pymysql.Error, OSError):
                    self._broken = True
            return None

    def stop(self) -> Observation:
        """The observation since the last reading, and end.

        When the connection was lost, the observation until then; everybody counts as ended.
        """
        self._ticking.stop()
        last = self.read()
        self._close_kernel()
        if last is not None:
            return last
        self._lives.end_all()
        return self._give(Window(self._mark, {}, {}), time.thread_time())

    def _close_kernel(self) -> None:
        if self._kernel is not None:
            self._kernel.close()

    # Gathering

    def _rate_per_s(self) -> float:
        """It depends on how many there are to look at, never on what they do."""
        return self._pace * min(RATE_PER_S, _LOOKS_PER_S / max(1, len(self._lives.all)))

    def _tick_and_poll(self) -> Outcome:
        with self._lock:
            if self._broken:
                return "lost"
            try:
                self._tick(self._window)
                if time.monotonic() >= self._poll_due_s:
                    self._poll(self._window.ticks)
            except (pymysql.Error, OSError):
                self._broken = True
                return "lost"
        return "seen"

    def _tick(self, window: Window) -> None:
        """Look once at everybody who lived at the last poll."""
        active = self._read_active()
        living = self._lives.living
        running = self._running([life.thread for _, life in living])
        for (place, life), awake in zip(living, running, strict=True):
            wait = self._look(life, active, awake)
            window.looks += 1
            if wait is None:
                life.skips.append(window.ticks)
                continue
            window.torn += wait.torn
            if wait.event != IDLE:
                window.seen.append((window.ticks, place, self._events[wait.event], wait.state))
        window.ticks += 1

    def _look(self, life: Life, active: dict[int, Active], awake: bool | None) -> ObservedWait | None:
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
            row["connection"]: Active(row["stage"] or "", row["query"], waits.get(row["connection"]))
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
        self._poll(self._window.ticks)
        # Not the difference of this window alone: a connection made during the poll is in the next one's.
        unseen = status["connections"] - self._lives.begun
        if unseen > self._unseen:
            self._unseen = unseen
            self._window.warnings.append(
                "Connections came and went too quickly to be sampled: their CPU time is included only in the "
                "CPU time of the whole instance, or is shown as that of a background thread."
            )
        return self._give(Window(self._mark, status, files), began)

    def _give(self, following: Window, began: float) -> Observation:
        """The present window's record; the next one begins."""
        window, self._window = self._window, following
        lives, own_cpu_ns = self._lives.cut()
        kept = self._ticking.cut()
        kept = replace(kept, cpu_s=kept.cpu_s + time.thread_time() - began)
        return as_observation(
            window,
            following,
            lives,
            own_cpu_ns,
            self._events,
            self._server,
            self._why_blind,
            kept,
            self._pace * RATE_PER_S,
        )


def why_blind(process: int | None) -> tuple[tuple[str, str], ...]:
    """Figures that are not available because the kernel does not let system calls of a process be seen."""
    looks, why = _kernel_looks(process)
    if looks is not None:
        looks.close()
    return why


def _kernel_looks(process: int | None) -> tuple[ThreadLooks | None, tuple[tuple[str, str], ...]]:
    """Looks at system calls, or why there are none."""
    if process is None:
        return None, ()
    try:
        return ThreadLooks(process), ()
    except PermissionError as error:
        return None, (
            (
                "flushes and writes of the log, separate from other waits",
                f"Redolab may not see the server's system calls ({error.strerror or error}): run it as root, "
                "with CAP_SYS_PTRACE, or as the server's user where kernel.yama.ptrace_scope is 0",
            ),
        )
