"""Advisory locks of PostgreSQL, which every role can see.

An advisory lock belongs to a database, and server parameters belong to the server. So a run takes the lock in
its own database first, and then looks for Redolab's locks in any other: `pg_locks` shows them to every role.
"""

from __future__ import annotations

from collections.abc import Collection

import psycopg

from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.server.server_lock import ServerLock

RUN_KEY = int.from_bytes(b"REDOLAB")
"""Held by a run's control connection."""
GUARD_KEY = int.from_bytes(b"REDOLABG")
"""Held by its guard, until nothing is left to clean up."""


class PostgresLock(ServerLock):
    """The locks on one server."""

    def __init__(self, control: Connection) -> None:
        """Take the connection."""
        self._control = control

    def try_run(self) -> bool:
        """In this database."""
        return self._answer("select pg_catalog.pg_try_advisory_lock(%s) as answer", RUN_KEY)

    def let_go(self) -> None:
        """In this database."""
        self._answer("select pg_catalog.pg_advisory_unlock(%s) as answer", RUN_KEY)

    def hold_as_guard(self) -> None:
        """In this database."""
        self._answer("select pg_catalog.pg_try_advisory_lock(%s) as answer", GUARD_KEY)

    def await_end_of_run(self, limit_s: float) -> bool:
        """Wait until its connection is gone from this database, and what it last asked for is done."""
        control = self._control
        timeout = f"{limit_s * 1000:.0f}ms"
        control.execute("select pg_catalog.set_config('lock_timeout', %s, false)", (timeout,))
        try:
            control.execute("select pg_catalog.pg_advisory_lock(%s)", (RUN_KEY,))
        except psycopg.errors.LockNotAvailable:
            return False
        control.execute("set lock_timeout = 0")
        return True

    def other_holder(self, own: Collection[int] = ()) -> str | None:
        """The holder in any database; a prepared transaction has no process, and the user may be hidden."""
        own = [self._control.info.backend_pid, *own]
        rows = fetch(self._control, "select_holders", {"keys": [RUN_KEY, GUARD_KEY], "own": own})
        if not rows:
            return None
        pid, user = rows[0]["pid"], rows[0]["username"]
        who = "a prepared transaction" if pid is None else f"server process {pid}"
        return f"{who}{f', user {user}' if user else ''}, database {rows[0]['database'] or 'unknown'}"

    def _answer(self, statement: str, key: int) -> bool:
        row = self._control.execute(statement.encode(), (key,)).fetchone()
        return bool(row and row["answer"])
