"""The working sessions: each one connection, looping inside the server for the length of a sample."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Any

import psycopg

from redolab.engine.base import Load
from redolab.engine.connection import Connection, Connector
from redolab.errors import InterruptedRunError, RefusedError
from redolab.sample import Work

_GRACE_S = 30.0
_POLL_S = 0.05


class Sessions:
    """`load.sessions` connections, with a thread each that only waits for the server."""

    def __init__(self, connector: Connector, load: Load) -> None:
        self._connector = connector
        self._load = load
        self._pool = ThreadPoolExecutor(load.sessions, thread_name_prefix="session")
        self._working: list[Future[dict[str, Any] | str]] = []
        self.connections: list[Connection] = []
        try:
            for number in range(load.sessions):
                self.connections.append(self._connect(number))
        except RefusedError:
            self.close()
            raise

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

    def run(self, seconds: float, parameters: Mapping[str, str], stop: threading.Event) -> Work:
        """Let every session loop until the same deadline on the server's clock.

        Args:
            seconds: length of the load.
            parameters: what each transaction sets for itself.
            stop: when set, the sessions are cancelled.

        Raises:
            InterruptedRunError: `stop` was set.
        """
        first = self.connections[0]
        clock = first.execute(
            "select clock_timestamp() + make_interval(secs => %s) as deadline", (seconds,)
        ).fetchone()
        assert clock is not None
        self._working = [
            self._pool.submit(self._loop, number, clock["deadline"], parameters)
            for number in range(len(self.connections))
        ]
        late = self._await(seconds, stop)
        rows = [future.result() for future in self._working]
        done = [row for row in rows if isinstance(row, dict)]
        trouble = [row for row in rows if isinstance(row, str)]
        if late:
            trouble.insert(0, f"the sessions did not end within {_GRACE_S:.0f} s of their deadline")
        return Work(
            commits=sum(row["commits"] for row in done),
            rows=sum(row["commits"] - row["failed"] for row in done),
            failed=sum(row["failed"] for row in done),
            session_elapsed_s=sum(row["elapsed_s"] for row in done),
            session_elapsed_max_s=max((row["elapsed_s"] for row in done), default=0.0),
            trouble="; ".join(dict.fromkeys(trouble)) or None,
        )

    def close(self) -> None:
        """Close every connection; never raises for one that is lost already."""
        if not all(future.done() for future in self._working):
            self._cancel()
        self._pool.shutdown(wait=True)
        for connection in self.connections:
            connection.close()

    def _connect(self, number: int) -> Connection:
        return self._connector.connect(f"redolab session {number + 1}")

    def _loop(self, number: int, deadline: Any, parameters: Mapping[str, str]) -> dict[str, Any] | str:
        connection, ids = self.connections[number], self._load.rows_per_session
        try:
            row = connection.execute(
                "call redolab.commit_loop(%s, %s, %s, %s::text[], %s::text[])",
                (number * ids, ids, deadline, list(parameters), list(parameters.values())),
            ).fetchone()
            publish_counters(connection)
        except psycopg.Error as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            return f"session {number + 1} died: {reason[0]}"
        assert row is not None
        return row

    def _await(self, seconds: float, stop: threading.Event) -> bool:
        """Wait for the sessions; True when they had to be cancelled because they were late."""
        give_up = time.monotonic() + seconds + _GRACE_S
        pending = set(self._working)
        while pending:
            pending = wait_for(pending, timeout=_POLL_S).not_done
            late = time.monotonic() > give_up
            if pending and (stop.is_set() or late):
                self._cancel()
                wait_for(pending, timeout=_GRACE_S)
                if stop.is_set():
                    raise InterruptedRunError("The run was interrupted during a sample.")
                return True
        return False

    def _cancel(self) -> None:
        for connection in self.connections:
            try:
                connection.cancel_safe(timeout=5)
            except psycopg.Error:
                connection.close()


def publish_counters(connection: Connection) -> None:
    """Make the server add this session's counters to the shared ones now, not a second later."""
    if connection.info.server_version >= 150_000:
        connection.execute("select pg_stat_force_next_flush()")
    else:
        # Before 15 a session reports at most twice a second, at the end of a statement.
        time.sleep(0.6)
        connection.execute("select 1")
        time.sleep(0.6)
