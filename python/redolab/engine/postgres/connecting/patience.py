"""Statements that take long: they end soon when the run is to stop, and wait for nobody without end."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

import psycopg

from redolab.console import say
from redolab.engine.postgres.connecting.connection import Connection, Connector, fetch
from redolab.errors import InterruptedRunError, RedolabError, RefusedError

if TYPE_CHECKING:
    from psycopg.abc import PQGen

WAIT_LIMIT_S = 60.0
"""How long somebody's lock or a standby is waited for."""

_FIRST_LOOK_S = 2.0
_LOOK_S = 1.0
_LOOKER_LIMIT_S = 5.0
_CANCEL_LIMIT_S = 10.0
_Result = TypeVar("_Result")


class Patience:
    """How long the statements of one connection are waited for, and what the user learns meanwhile.

    A statement that works may take as long as it takes. One that waits, for somebody's lock or for a
    synchronous standby, is reported after a moment and cancelled at the limit. Either is cancelled when
    `stop` is set.
    """

    def __init__(self, connector: Connector, limit_s: float | None = None) -> None:
        """Wait for others.

        Args:
            connector: opens the connection that looks what is waited for.
            limit_s: how long, all waits of a statement together; None for the usual limit.
        """
        self.stop = threading.Event()
        self._connector, self._limit_s = connector, WAIT_LIMIT_S if limit_s is None else limit_s

    def over(self, connection: Connection, statement: PQGen[_Result]) -> PQGen[_Result]:
        """The generator of a statement, with a look at it whenever nothing comes from the server.

        Raises:
            InterruptedRunError: `stop` was set, and the statement was cancelled.
            RefusedError: it waited for others until the limit.
        """
        watch = _Watch(self._connector, connection, self._limit_s, self.stop)
        try:
            wanted = next(statement)
            while True:
                ready = yield wanted
                if not ready:
                    watch.look()
                wanted = statement.send(ready)
        except StopIteration as done:
            watch.done()
            return cast("_Result", done.value)
        except psycopg.Error as error:
            if watch.reason is None:
                raise
            raise watch.reason from error
        finally:
            watch.close()


class _Watch:
    """One statement while it is waited for."""

    def __init__(
        self, connector: Connector, connection: Connection, limit_s: float, stop: threading.Event
    ) -> None:
        self.reason: RedolabError | None = None
        """Why it was cancelled."""
        self._connector, self._connection, self._limit_s, self._stop = connector, connection, limit_s, stop
        self._began = self._looked = time.monotonic()
        self._cancelled_at = math.inf
        self._waited_s = 0.0
        self._said = ""
        self._looker: Connection | None = None

    def look(self) -> None:
        now = time.monotonic()
        if self.reason is not None:
            if now > self._cancelled_at + _CANCEL_LIMIT_S:
                self._connection.pgconn.finish()
                raise self.reason
        elif self._stop.is_set():
            self._cancel(InterruptedRunError("The run was interrupted in the middle of a statement."))
        elif now - self._began > _FIRST_LOOK_S and now - self._looked > _LOOK_S:
            self._waits(now)

    def done(self) -> None:
        """It ended by itself; one that waited for a standby does so when it is cancelled."""
        if isinstance(self.reason, RefusedError):
            raise self.reason

    def close(self) -> None:
        if self._looker is not None:
            self._looker.close()

    def _waits(self, now: float) -> None:
        cause = self._cause()
        if cause:
            self._waited_s += now - self._looked
            if cause != self._said:
                say(f"redolab: Waiting for {cause}.")
                self._said = cause
            if self._waited_s > self._limit_s:
                self._cancel(RefusedError(f"Redolab waited {self._limit_s:.0f} s for {cause}, and gave up."))
        self._looked = time.monotonic()

    def _cause(self) -> str:
        """The cause of the statement's wait, in words; nothing where it works."""
        try:
            if self._looker is None:
                self._looker = self._connector.connect("redolab look", limit_s=_LOOKER_LIMIT_S)
            rows = fetch(self._looker, "select_blockers", {"pid": self._connection.info.backend_pid})
        except (RedolabError, psycopg.Error):
            return "an answer of the server"
        return _in_words(rows)

    def _cancel(self, reason: RedolabError) -> None:
        self.reason, self._cancelled_at = reason, time.monotonic()
        with suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=_LOOKER_LIMIT_S)


def _in_words(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    if rows[0]["event"] == "SyncRep":
        return "a synchronous standby that does not confirm (synchronous_standby_names)"
    if rows[0]["event_type"] != "Lock":
        return ""
    holders = [
        f"process {row['blocker']} ({row['username'] or 'user unknown'}, {row['application']})"
        for row in rows
        if row["blocker"] is not None
    ]
    return f"a lock held by {' and '.join(holders) or 'another session'}"
