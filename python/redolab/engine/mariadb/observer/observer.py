"""Watching a live MariaDB or MySQL: read-only, without load; goes on after the server's restart."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import pymysql

from redolab.engine.mariadb.connecting.plaintext import plaintext
from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.connection import connect, error_text, settled
from redolab.engine.mariadb.observer.server import identify
from redolab.engine.mariadb.observer.source import ThreadSource
from redolab.errors import RefusedError
from redolab.records.observation import Observation, ServerFacts

_RESTARTED_S = 3.0
"""The server tells its age in whole seconds."""
RESTART_LIMIT_S = 30.0
_RETRY_S = 0.25


class MariadbObserver:
    """One server under observation; see `Observer`."""

    def __init__(self, target: str, seed: int, *, reopen: bool = True, calm: bool = False) -> None:
        """Connect and begin.

        Args:
            target: a `mysql://` or `mariadb://` URL.
            seed: of the gaps between ticks.
            reopen: whether a connection that was lost is made again.
            calm: whether it looks more rarely than for a profile.

        Raises:
            UsageError: the URL cannot be read.
            RefusedError: the server cannot be reached, or refuses.
        """
        self._target, self._seed, self._reopens = read_target(target), seed, reopen
        self._until_break: Observation | None = None
        self._calm = calm
        self._open()
        exposed = plaintext(self._connection)
        self._caution = (exposed.text,) if exposed and exposed.leaves else ()

    @property
    def session_numbers(self) -> str:
        """By which number a session is named, and where the server itself shows it, in words."""
        if self._server.flavour == "mariadb":
            return "its connection id, as SHOW PROCESSLIST and information_schema.PROCESSLIST do"
        return "its connection id, as SHOW PROCESSLIST and performance_schema.threads (PROCESSLIST_ID) do"

    @property
    def facts(self) -> ServerFacts:
        """Who the server is."""
        return self._server.facts

    def read(self) -> Observation:
        """What happened since the last reading.

        When the connection was lost in between, what was seen until then; the time in which the server
        was away is in no observation.

        Raises:
            RefusedError: the server went away, and stayed away for half a minute.
        """
        if self._until_break is None:
            seen = self._source.read()
            if seen is not None:
                # Once; whoever joins what was read keeps it.
                caution, self._caution = self._caution, ()
                return replace(seen, warnings=(*caution, *seen.warnings))
            self._until_break = replace(self._end(), broken="the connection to the server was lost")
        if not self._reopens:
            return self._until_break
        before = self._server
        self._reopen()
        last, self._until_break = self._until_break, None
        restarted = (
            self._server.process != before.process
            or abs(self._server.started_epoch_s - before.started_epoch_s) > _RESTARTED_S
        )
        text = (
            "The server restarted while it was watched; what it did around that was not seen."
            if restarted
            else "The connection to the server was lost and made again; meanwhile nothing was seen."
        )
        return replace(last, warnings=(*last.warnings, text))

    def close(self) -> None:
        """End the observation; nothing is left behind."""
        if self._until_break is None:
            self._end()

    def _open(self) -> None:
        self._connection = connect(self._target)
        self._target = settled(self._target, self._connection)
        try:
            self._server = identify(self._connection, self._target)
            self._source = ThreadSource(self._connection, self._server, self._seed, calm=self._calm)
        except (pymysql.Error, OSError) as error:
            self._disconnect()
            raise RefusedError(
                f"{self._target.place} answered, and then could not be watched: {error_text(error)}."
            ) from error
        except RefusedError:
            self._disconnect()
            raise

    def _reopen(self) -> None:
        give_up_s = time.monotonic() + RESTART_LIMIT_S
        while True:
            try:
                return self._open()
            except RefusedError:
                if time.monotonic() > give_up_s:
                    raise
                time.sleep(_RETRY_S)

    def _end(self) -> Observation:
        seen = self._source.stop()
        self._disconnect()
        return seen

    def _disconnect(self) -> None:
        with suppress(pymysql.Error, OSError):
            self._connection.close()
