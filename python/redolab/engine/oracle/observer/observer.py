"""Watching a live Oracle from its own accounts."""

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
from redolab.engine.server.observer import Observer, warned
from redolab.errors import RefusedError
from redolab.records.observation import Observation, ServerFacts

_AFTER_BREAK_S = 1.0
_NAME = "redolab profile"


class OracleObserver(Observer):
    """One instance under observation. What happened between its last look and a break is known to nobody."""

    restart_limit_s, retry_s = 60.0, 0.5
    session_numbers = "its SID, as V$SESSION does"

    def aim(self, target: str) -> None:
        """Take the URL."""
        self._target = read_target(target)

    def open(self) -> None:
        """Connect and begin to watch."""
        self._connection = connect(self._target, _NAME)
        try:
            self._server = identify(self._connection, self._target)
            self._reading = self._read()[0]
        except (oracledb.Error, OSError) as error:
            self.end()
            raise self._broken_off(error) from error
        except RefusedError:
            self.end()
            raise
        parameters = {name: value for name, value in self._server.parameters.items() if value is not None}
        self.facts = ServerFacts(self._server.description, self._server.identity, parameters)

    def look(self) -> Observation:
        """The observation since the last look."""
        before = self._reading
        try:
            self._reading, cpu_s = self._read()
        except oracledb.Error as error:
            if not is_lost(error):
                raise self._broken_off(error) from error
            self.end()
            observation = as_observation(before, before, self._server, 0.0)
            return replace(observation, broken="the connection to the server was lost")
        return as_observation(before, self._reading, self._server, cpu_s)

    def resume(self, last: Observation) -> Observation:  # noqa: ARG002
        """Begin with the new connection, and say whether the database was restarted."""
        started = self._server.started
        self.reopen()
        time.sleep(_AFTER_BREAK_S)
        restarted = started is not None and started != self._server.started
        text = (
            "The database was restarted while it was watched; its work around the restart was not observed."
            if restarted
            else "The connection to the database was lost and opened again; nothing was observed in between."
        )
        before = self._reading
        try:
            self._reading, cpu_s = self._read()
        except oracledb.Error as error:
            raise self._broken_off(error) from error
        return warned(as_observation(before, self._reading, self._server, cpu_s), text)

    def is_away(self, error: RefusedError) -> bool:
        """Not where it answered, and refused."""
        return error.__cause__ is not None and is_lost(error.__cause__)

    def end(self) -> None:
        """Disconnect."""
        with suppress(oracledb.Error, OSError):
            self._connection.close()

    def _read(self) -> tuple[Reading, float]:
        """A reading, and the CPU that it cost here."""

        def timed() -> tuple[Reading, float]:
            began = time.thread_time()
            return read(self._connection, self._server), time.thread_time() - began

        return answered(self._connection, timed)

    def _broken_off(self, error: BaseException) -> RefusedError:
        return RefusedError(
            f"{self._target.place} answered, but then it could not be watched: {error_text(error)}. "
            f"{mend(error)}".rstrip()
        )
