"""Watching a live Oracle: read-only, without load, from its own accounts; goes on after a restart."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import oracledb

from redolab.engine.oracle.connecting.connection import answered, connect
from redolab.engine.oracle.connecting.driver_errors import error_text, is_lost, mend
from redolab.engine.oracle.connecting.target import read_target
from redolab.engine.oracle.observer.account import as_observation
from redolab.engine.oracle.observer.reading import Reading, read
from redolab.engine.oracle.preflight.server import identify
from redolab.errors import RefusedError
from redolab.records.observation import Observation, ServerFacts

RESTART_LIMIT_S = 60.0
_RETRY_S = 0.5
_AFTER_BREAK_S = 1.0
_NAME = "redolab profile"


class OracleObserver:
    """One instance under observation; see `Observer`."""

    session_numbers = "its SID, as V$SESSION does"
    """By which number a session is named, and where the server itself shows it, in words."""

    def __init__(self, target: str, *, reopen: bool = True) -> None:
        """Connect and begin.

        Args:
            target: an `oracle://` URL.
            reopen: whether `read` makes a connection anew that was lost.

        Raises:
            UsageError: the URL cannot be read.
            RefusedError: the database cannot be reached, or refuses.
        """
        self._target, self._reopens = read_target(target), reopen
        self._reading = self._open()

    @property
    def facts(self) -> ServerFacts:
        """Who the server is."""
        known = {name: value for name, value in self._server.parameters.items() if value is not None}
        return ServerFacts(self._server.description, self._server.identity, known)

    def read(self) -> Observation:
        """What happened since the last reading.

        When the connection was lost in between, that time is in no observation: this one begins with the new
        connection, and says so. Without `reopen` an empty one says that it is `broken`.

        Raises:
            RefusedError: the database went away and stayed away, or refuses what it gave before.
        """
        before = self._reading
        try:
            self._reading, cpu_s = self._read()
        except oracledb.Error as error:
            if not is_lost(error):
                raise self._broken_off(error) from error
            self._disconnect()
            if not self._reopens:
                # What happened since the last reading is known to nobody.
                seen = as_observation(before, before, self._server, 0.0)
                return replace(seen, broken="the connection to the server was lost")
            started = self._server.started
            self._reading = self._reopen()
            time.sleep(_AFTER_BREAK_S)
            restarted = started is not None and started != self._server.started
            text = (
                "The database was restarted while it was watched; what it did around that was not seen."
                if restarted
                else "The connection to the database was lost and made again; meanwhile nothing was seen."
            )
            return self._since_break(text)
        return as_observation(before, self._reading, self._server, cpu_s)

    def close(self) -> None:
        """End the observation; nothing is left behind."""
        self._disconnect()

    def _since_break(self, text: str) -> Observation:
        before = self._reading
        try:
            self._reading, cpu_s = self._read()
        except oracledb.Error as error:
            raise self._broken_off(error) from error
        seen = as_observation(before, self._reading, self._server, cpu_s)
        return replace(seen, warnings=(*seen.warnings, text))

    def _open(self) -> Reading:
        self._connection = connect(self._target, _NAME)
        try:
            self._server = identify(self._connection, self._target)
            return self._read()[0]
        except (oracledb.Error, OSError) as error:
            self._disconnect()
            raise self._broken_off(error) from error
        except RefusedError:
            self._disconnect()
            raise

    def _reopen(self) -> Reading:
        give_up_s = time.monotonic() + RESTART_LIMIT_S
        while True:
            try:
                return self._open()
            except RefusedError as error:
                cause = error.__cause__
                if cause is None or not is_lost(cause) or time.monotonic() > give_up_s:
                    raise
                time.sleep(_RETRY_S)

    def _read(self) -> tuple[Reading, float]:
        """A reading, and the CPU that it cost here."""

        def timed() -> tuple[Reading, float]:
            began = time.thread_time()
            return read(self._connection, self._server), time.thread_time() - began

        return answered(self._connection, timed)

    def _broken_off(self, error: BaseException) -> RefusedError:
        return RefusedError(
            f"{self._target.place} answered, and then could not be watched: {error_text(error)}. "
            f"{mend(error)}".rstrip()
        )

    def _disconnect(self) -> None:
        with suppress(oracledb.Error, OSError):
            self._connection.close()
