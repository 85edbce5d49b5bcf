"""One run a server, whichever of its databases it connects to: advisory locks that every role can see.

An advisory lock belongs to a database, and server parameters belong to the server. So a run takes the lock in
its own database first, and then looks for Redolab's locks in any other: `pg_locks` shows them to every role.
The guard of a run holds a lock of its own until it has cleaned up, so that nobody begins before.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection
from dataclasses import dataclass

import psycopg

from redolab.engine.postgres.connecting.connection import Connection, fetch

RUN_KEY = int.from_bytes(b"REDOLAB")
"""Held by a run's control connection."""
GUARD_KEY = int.from_bytes(b"REDOLABG")
"""Held by its guard, until nothing is left to clean up."""

_PAUSE_S = (0.05, 0.25)


@dataclass(frozen=True)
class Holder:
    """A session that holds one of Redolab's locks on this server."""

    pid: int | None
    """None for a prepared transaction."""
    user: str | None
    """None where it may not be seen."""
    database: str | None

    def __str__(self) -> str:
        """Who it is, in words."""
        who = "a prepared transaction" if self.pid is None else f"server process {self.pid}"
        user = f", user {self.user}" if self.user else ""
        return f"{who}{user}, database {self.database or 'unknown'}"


def take_server(control: Connection, limit_s: float, own: Collection[int] = ()) -> Holder | None:
    """Keep other runs off this server while `control` is open.

    Two that begin at the same moment may both see each other: each lets go and tries again after a random
    pause.

    Args:
        control: the connection that will hold the lock.
        limit_s: how long to try. A run that was just killed lets go when the server notices, and its guard
            when it has cleaned up.
        own: server processes that belong to this run, its guard's for one.

    Returns who holds the server instead; None where it was had.
    """
    give_up = time.monotonic() + limit_s
    while True:
        had = _answer(control, "select pg_catalog.pg_try_advisory_lock(%s) as answer", RUN_KEY)
        other = other_holder(control, own)
        if had and other is None:
            return None
        if had:
            _answer(control, "select pg_catalog.pg_advisory_unlock(%s) as answer", RUN_KEY)
        if other is not None and time.monotonic() > give_up:
            return other
        time.sleep(random.uniform(*_PAUSE_S))


def other_holder(control: Connection, own: Collection[int] = ()) -> Holder | None:
    """Another session that holds one of Redolab's locks in any database of this server."""
    rows = fetch(
        control,
        "select_holders",
        {"keys": [RUN_KEY, GUARD_KEY], "own": [control.info.backend_pid, *own]},
    )
    return next((Holder(row["pid"], row["username"], row["database"]) for row in rows), None)


def hold_as_guard(control: Connection) -> None:
    """Take the guard's lock in this database, beside the run's own."""
    _answer(control, "select pg_catalog.pg_try_advisory_lock(%s) as answer", GUARD_KEY)


def await_end_of_run(control: Connection, limit_s: float) -> bool:
    """Wait until the run's own connection is gone from this database, and what it last asked for is done.

    Returns whether it is.
    """
    control.execute("select pg_catalog.set_config('lock_timeout', %s, false)", (f"{limit_s * 1000:.0f}ms",))
    try:
        control.execute("select pg_catalog.pg_advisory_lock(%s)", (RUN_KEY,))
    except psycopg.errors.LockNotAvailable:
        return False
    control.execute("set lock_timeout = 0")
    return True


def _answer(control: Connection, statement: str, key: int) -> bool:
    row = control.execute(statement.encode(), (key,)).fetchone()
    return bool(row and row["answer"])
