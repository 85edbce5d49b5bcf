"""Locks by name, which belong to the whole server and which every user can ask about."""

from __future__ import annotations

from collections.abc import Collection

from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.own.sessions import living, number_of
from redolab.engine.server.server_lock import ServerLock

RUN = "redolab run"
"""Held by a run's control connection."""
GUARD = "redolab guard"
"""Held by its guard, until nothing is left to clean up."""


class MariadbLock(ServerLock):
    """The locks on one server."""

    def __init__(self, control: Connection) -> None:
        """Take the connection."""
        self._control = control

    def try_run(self) -> bool:
        """Without a wait."""
        return self._take(RUN, 0)

    def let_go(self) -> None:
        """Release it by its name."""
        ask(self._control, "select release_lock(%s)", RUN)

    def hold_as_guard(self) -> None:
        """Without a wait."""
        self._take(GUARD, 0)

    def await_end_of_run(self, limit_s: float) -> bool:
        """Wait until its lock is free."""
        return self._take(RUN, limit_s)

    def other_holder(self, own: Collection[int] = ()) -> str | None:
        """Name it by its number; its user and host may be hidden."""
        for name in (RUN, GUARD):
            holder = self.holder_of(name)
            if holder is not None and holder not in (number_of(self._control), *own):
                session = living(self._control).get(holder)
                account = f"{session['User']}@{session['Host']}" if session else "of another user"
                return f"connection {holder}, {account}"
        return None

    def holder_of(self, name: str) -> int | None:
        """The connection that holds a lock."""
        holder = ask(self._control, "select is_used_lock(%s) as it", name)[0]["it"]
        return None if holder is None else int(holder)

    def _take(self, name: str, limit_s: float) -> bool:
        return bool(ask(self._control, "select get_lock(%s, %s) as it", name, limit_s)[0]["it"])
