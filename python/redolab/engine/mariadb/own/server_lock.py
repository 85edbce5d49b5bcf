"""One run a server: locks by name, which belong to the whole server and which every user can ask about.

The guard of a run holds a lock of its own until it has cleaned up, so that nobody begins before.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection
from dataclasses import dataclass

from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.own.sessions import living, number_of

RUN = "redolab run"
"""Held by a run's control connection."""
GUARD = "redolab guard"
"""Held by its guard, until nothing is left to clean up."""

_PAUSE_S = (0.05, 0.25)


@dataclass(frozen=True)
class Holder:
    """A connection that holds one of Redolab's locks on this server."""

    connection: int
    account: str | None
    """User and host; None where it may not be seen."""

    def __str__(self) -> str:
        """Who it is, in words."""
        return f"connection {self.connection}, {self.account or 'of another user'}"


def take_server(control: Connection, limit_s: float, own: Collection[int] = ()) -> Holder | None:
    """Keep other runs off this server while `control` is open.

    Args:
        control: the connection that will hold the lock.
        limit_s: how long to try. A run that was just killed lets go when the server notices, and its guard
            when it has cleaned up.
        own: connections that belong to this run, its guard's for one.

    Returns who holds the server instead; None where it was had.
    """
    give_up = time.monotonic() + limit_s
    while True:
        had = _take(control, RUN, 0)
        other = other_holder(control, own)
        if had and other is None:
            return None
        if had:
            ask(control, "select release_lock(%s)", RUN)
        if other is not None and time.monotonic() > give_up:
            return other
        time.sleep(random.uniform(*_PAUSE_S))


def other_holder(control: Connection, own: Collection[int] = ()) -> Holder | None:
    """Another connection that holds one of Redolab's locks."""
    for name in (RUN, GUARD):
        found = holder_of(control, name)
        if found is not None and found not in (number_of(control), *own):
            seen = living(control).get(found)
            return Holder(found, f"{seen['User']}@{seen['Host']}" if seen else None)
    return None


def holder_of(control: Connection, name: str) -> int | None:
    """The connection that holds a lock."""
    found = ask(control, "select is_used_lock(%s) as it", name)[0]["it"]
    return None if found is None else int(found)


def hold_as_guard(control: Connection) -> None:
    """Take the guard's lock, beside the run's own."""
    _take(control, GUARD, 0)


def await_end_of_run(control: Connection, limit_s: float) -> bool:
    """Wait until the run's own connection is gone; returns whether it is."""
    return _take(control, RUN, limit_s)


def _take(control: Connection, name: str, limit_s: float) -> bool:
    return bool(ask(control, "select get_lock(%s, %s) as it", name, limit_s)[0]["it"])
