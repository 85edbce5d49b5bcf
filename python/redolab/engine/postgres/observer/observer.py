"""Watching a live PostgreSQL 14 to 19."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import psycopg

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.observer.link import LiveLink
from redolab.engine.server.observer import Observer, warned
from redolab.errors import RefusedError
from redolab.records.observation import Observation

_LONGEST_TEXT = 300


class PostgresObserver(Observer):
    """One PostgreSQL server under observation."""

    stops_early = True
    session_numbers = "its process id, as the view pg_stat_activity does"

    def aim(self, target: str) -> None:
        """Take the URL."""
        self._connector = Connector(target, self._stop)

    def open(self) -> None:
        """Connect and begin to watch."""
        try:
            self._link = LiveLink(self._connector, self._seed, self._calm)
        except (psycopg.Error, OSError) as error:
            raise RefusedError(
                f"PostgreSQL at {self._connector.place} could not be watched: "
                f"{' '.join(str(error).split())}. The server's log may show the reason."
            ) from error
        self.facts = self._link.facts

    def look(self) -> Observation:
        """The observation since the last look."""
        try:
            return self._link.read()
        except psycopg.Error as error:
            text = f"the connection to the server was lost ({' '.join(str(error).split())[:_LONGEST_TEXT]})"
            return replace(self._link.end(), broken=text)

    def resume(self, last: Observation) -> Observation:
        """Say whether the server was restarted."""
        started = self._link.server_started
        self.reopen()
        if self._link.server_started == started:
            text = (
                f"Redolab's session was ended and opened again at {datetime.now(UTC):%H:%M:%S} UTC: by an "
                "administrator, or because the server recovered from the crash of one of its processes."
            )
        else:
            text = f"The server restarted at {self._link.server_started.astimezone(UTC):%H:%M:%S} UTC."
        return warned(last, f"{text} No figure includes the time in between.")

    def end(self) -> Observation:
        """Disconnect."""
        return self._link.end()
