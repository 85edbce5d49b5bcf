"""Watching a live PostgreSQL 14 to 18: read-only, without load; goes on after the server's restart."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import UTC, datetime

import psycopg

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.observer.link import LiveLink
from redolab.errors import RefusedError
from redolab.records.observation import Observation, ServerFacts

_RESTART_LIMIT_S = 30.0
_RETRY_S = 0.25
_LONGEST_TEXT = 300


class PostgresObserver:
    """One PostgreSQL server under observation."""

    def __init__(
        self,
        target: str,
        seed: int,
        stop: threading.Event | None = None,
        *,
        reopen: bool = True,
        calm: bool = False,
    ) -> None:
        """Connect and begin to watch.

        Args:
            target: a `postgresql://` URL.
            seed: of the gaps between ticks.
            stop: once it is set, nothing is waited for longer than a second.
            reopen: whether a connection that was lost is made again.
            calm: whether it looks more rarely than for a profile.

        Raises:
            UsageError: the URL cannot be read.
            RefusedError: the server cannot be reached or watched.
        """
        self._stop, self._reopens = stop or threading.Event(), reopen
        self._connector, self._seed, self._calm = Connector(target, self._stop), seed, calm
        self._link = self._open()

    @property
    def session_numbers(self) -> str:
        """By which number a session is named, and where the server itself shows it, in words."""
        return "its process id, as the view pg_stat_activity does"

    @property
    def facts(self) -> ServerFacts:
        """Who the server is."""
        return self._link.facts

    def read(self) -> Observation:
        """What happened since the last reading.

        When the connection was lost in between, what was seen until then; the time in which the server
        was away is in no observation.

        Raises:
            RefusedError: the server went away, and stayed away for half a minute.
        """
        try:
            return self._link.read()
        except psycopg.Error as error:
            text = f"the connection to the server was lost ({' '.join(str(error).split())[:_LONGEST_TEXT]})"
            last, started = replace(self._link.end(), broken=text), self._link.server_started
        if self._stop.is_set():
            text = "The server did not answer when the watching was to end."
            return replace(last, warnings=(*last.warnings, text))
        if not self._reopens:
            return last
        self._link = self._reopen()
        if self._link.server_started == started:
            text = (
                f"Redolab's session was ended and opened again at {datetime.now(UTC):%H:%M:%S} UTC: by an "
                "administrator, or because the server recovered from the crash of one of its processes."
            )
        else:
            text = f"The server restarted at {self._link.server_started.astimezone(UTC):%H:%M:%S} UTC."
        return replace(last, warnings=(*last.warnings, f"{text} What happened meanwhile is in no figure."))

    def close(self) -> None:
        """End the observation; nothing is left behind."""
        self._link.end()

    def _open(self) -> LiveLink:
        try:
            return LiveLink(self._connector, self._seed, self._calm)
        except (psycopg.Error, OSError) as error:
            raise RefusedError(
                f"PostgreSQL at {self._connector.place} could not be watched: "
                f"{' '.join(str(error).split())}. The server's log may say why."
            ) from error

    def _reopen(self) -> LiveLink:
        give_up = time.monotonic() + _RESTART_LIMIT_S
        while True:
            try:
                return self._open()
            except RefusedError:
                if self._stop.wait(_RETRY_S) or time.monotonic() > give_up:
                    raise
