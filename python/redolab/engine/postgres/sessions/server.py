"""The working sessions: each one connection, looping inside the server for the length of a sample."""

from __future__ import annotations

import os
import socket
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import suppress
from typing import Any

import psycopg

from redolab.engine.loops.in_server import GRACE_S, LATE, await_loops
from redolab.engine.postgres.connecting.connection import Connector, OwnConnection
from redolab.engine.postgres.loads.base import Call, PostgresLoad, Turn
from redolab.engine.postgres.sessions.counters import publish_counters
from redolab.errors import RefusedError
from redolab.records.load import Amount
from redolab.records.sample import Work

_ANSWER_LIMIT_S = 60.0
_CANCEL_S = 2.0


class Sessions:
    """Connections, with a thread each that only waits for the server."""

    def __init__(self, connector: Connector, most: int, stop: threading.Event | None = None) -> None:
        """Open `most` connections, which also shows that the server takes so many.

        Args:
            connector: to the server.
            most: the sessions to open.
            stop: once it is set, what is asked of them between their loops has a second left.

        Raises:
            RefusedError: it does not.
        """
        self._connector, self._stop = connector, stop
        self._pool = ThreadPoolExecutor(most, thread_name_prefix="session")
        self._working: list[Future[dict[str, Any] | str]] = []
        self.connections: list[OwnConnection] = []
        try:
            self.resize(most)
        except RefusedError:
            self.close()
            raise

    def resize(self, count: int) -> None:
        """Have `count` connections: a session that does not work in a setting is not there.

        Raises:
            RefusedError: the server does not take one more.
        """
        for connection in self.connections[count:]:
            connection.close()
        del self.connections[count:]
        while len(self.connections) < count:
            self.connections.append(self._connect(len(self.connections)))

    @property
    def pids(self) -> tuple[int, ...]:
        """The server processes that serve the sessions."""
        return tuple(c.info.backend_pid for c in self.connections if not c.closed)

    def replace_lost(self) -> None:
        """Ask every session for a sign of life, and open a lost one anew.

        Raises:
            RefusedError: the server does not take it.
        """
        for number, connection in enumerate(self.connections):
            try:
                connection.execute("select 1")
            except psycopg.OperationalError:
                connection.close()
                self.connections[number] = self._connect(number)

    def set_parameter(self, name: str, value: str) -> None:
        """Set a server parameter in every session."""
        for connection in self.connections:
            connection.execute("select set_config(%s, %s, false)", (name, value))

    def parameter_values(self, name: str) -> list[str]:
        """The value of a server parameter as each session sees it."""
        rows = (
            connection.execute("select current_setting(%s) as value", (name,)).fetchone()
            for connection in self.connections
        )
        return [str(row["value"]) for row in rows if row]

    def run(
        self, load: PostgresLoad, amount: Amount, parameters: Mapping[str, str], stop: threading.Event
    ) -> Work:
        """Let every session do its part, until the same deadline on the server's clock if there is one.

        Raises:
            InterruptedRunError: `stop` was set.
        """
        deadline = None if amount.units is not None else self._deadline(amount.seconds)
        sessions = len(self.connections)
        self._working = [
            self._pool.submit(
                self._loop, number, load.call(Turn(number, sessions, amount, deadline, parameters))
            )
            for number in range(sessions)
        ]
        late = await_loops(self._working, amount.seconds if deadline else None, stop, self._end)
        rows = [future.result() for future in self._working]
        done = [row for row in rows if isinstance(row, dict)]
        trouble = [row for row in rows if isinstance(row, str)]
        if late:
            trouble.insert(0, LATE)
        return Work(
            commits=sum(row["commits"] for row in done),
            rows=sum(row["rows"] for row in done),
            failed=sum(row["failed"] for row in done),
            session_elapsed_s=sum(row["elapsed_s"] for row in done),
            session_elapsed_max_s=max((row["elapsed_s"] for row in done), default=0.0),
            units=sum(row["units"] for row in done),
            first_unit_s=done[0].get("first_s") if len(done) == 1 else None,
            row_versions=(
                sum(row["row_versions"] for row in done) if done and "row_versions" in done[0] else None
            ),
            trouble="; ".join(dict.fromkeys(trouble)) or None,
            latency=_latency(done),
        )

    def close(self) -> None:
        """Close every connection; never raises for one that is lost already."""
        pending = {future for future in self._working if not future.done()}
        if pending:
            self._end(pending)
        self._pool.shutdown(wait=True)
        for connection in self.connections:
            connection.close()

    def _connect(self, number: int) -> OwnConnection:
        connection = self._connector.connect(f"redolab session {number + 1}")
        connection.limit_s, connection.stop = _ANSWER_LIMIT_S, self._stop
        return connection

    def _deadline(self, seconds: float) -> Any:
        row = (
            self.connections[0]
            .execute("select clock_timestamp() + make_interval(secs => %s) as deadline", (seconds,))
            .fetchone()
        )
        assert row is not None
        return row["deadline"]

    def _loop(self, number: int, call: Call) -> dict[str, Any] | str:
        connection = self.connections[number]
        connection.limit_s = None  # The loop has a deadline of its own.
        try:
            row = connection.execute(call.statement, call.arguments).fetchone()
            publish_counters(connection)
        except psycopg.Error as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            return f"session {number + 1} died: {reason[0]}"
        finally:
            connection.limit_s = _ANSWER_LIMIT_S
        assert row is not None
        return row

    def _end(self, pending: set[Future[dict[str, Any] | str]]) -> None:
        """End the loops that are still at work."""
        self._cancel()
        if wait_for(pending, timeout=_CANCEL_S).not_done:
            # For one that waits for a synchronous standby a cancel only ends that wait, and it loops on.
            self._terminate()
        if wait_for(pending, timeout=GRACE_S).not_done:
            self._cut_off()
            wait_for(pending)

    def _terminate(self) -> None:
        with suppress(RefusedError, psycopg.Error), self._connector.connect("redolab look") as look:
            look.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where pid = any(%s) "
                "and usename = current_user and application_name like 'redolab session %%'",
                (list(self.pids),),
            )

    def _cut_off(self) -> None:
        """Let whoever waits for an answer see the end of the connection: the server may answer no more."""
        for connection in self.connections:
            if not connection.closed:
                with socket.socket(fileno=os.dup(connection.fileno())) as wire, suppress(OSError):
                    wire.shutdown(socket.SHUT_RDWR)

    def _cancel(self) -> None:
        for connection in self.connections:
            try:
                connection.cancel_safe(timeout=5)
            except psycopg.Error:
                connection.close()


def _latency(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[float, int], ...]:
    """The commit times that the sessions' loops noted, if they did."""
    counts: Counter[float] = Counter()
    for row in rows:
        counts.update(dict(zip(row.get("times_us") or (), row.get("times_commits") or (), strict=True)))
    return tuple(sorted(counts.items()))
