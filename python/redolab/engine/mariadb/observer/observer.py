"""Watching a live MariaDB or MySQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pymysql

from redolab.engine.mariadb.connecting.plaintext import plaintext
from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.connection import connect, error_text, fetch, settled
from redolab.engine.mariadb.observer.server import identify
from redolab.engine.mariadb.observer.source import ThreadSource
from redolab.engine.mariadb.preflight.conditions import REPLICA
from redolab.engine.mariadb.preflight.semi_sync import read_semi_sync
from redolab.engine.mariadb.preflight.server import is_replica
from redolab.engine.server.observer import Observer, warned
from redolab.errors import RefusedError
from redolab.records.observation import Observation

_RESTARTED_S = 3.0
"""The server reports its age in whole seconds."""
_THREADS = {
    "mariadb": "information_schema.PROCESSLIST",
    "mysql": "performance_schema.threads (PROCESSLIST_ID)",
}


class MariadbObserver(Observer):
    """One server under observation."""

    _caution: tuple[str, ...] | None = None
    """Said once, and whoever joins what was read keeps it."""

    def aim(self, target: str) -> None:
        """Take the URL."""
        self._target = read_target(target)

    def open(self) -> None:
        """Connect and begin to watch."""
        self._connection = connect(self._target)
        self._target = settled(self._target, self._connection)
        try:
            self._server = identify(self._connection, self._target)
            if self._caution is None:
                # Once it is watched the connection is the source's.
                self._caution = tuple(self._cautions())
            self._source = ThreadSource(self._connection, self._server, self._seed, calm=self._calm)
        except (pymysql.Error, OSError) as error:
            self._disconnect()
            raise RefusedError(
                f"{self._target.place} answered, but then it could not be watched: {error_text(error)}."
            ) from error
        except RefusedError:
            self._disconnect()
            raise
        self.facts, threads = self._server.facts, _THREADS[self._server.flavour]
        self.session_numbers = f"its connection id, as SHOW PROCESSLIST and {threads} do"

    def _cautions(self) -> Iterator[str]:
        """That others can read the connection, that commits wait in vain, that it replicates."""
        exposed = plaintext(self._connection)
        if exposed and exposed.leaves:
            yield exposed.text
        with suppress(pymysql.Error):
            rows = fetch(self._connection, "select_variables", 500)
            variables = {str(row["Variable_name"]).lower(): row["Value"] for row in rows}
            waiting = read_semi_sync(self._connection, variables)
            if waiting and waiting.in_vain:
                yield waiting.sentence
        if is_replica(self._connection, {"version": self._server.version, "flavour": self._server.flavour}):
            yield REPLICA

    def look(self) -> Observation:
        """The observation since the last look."""
        observation = self._source.read()
        if observation is None:
            return replace(self.end(), broken="the connection to the server was lost")
        caution, self._caution = self._caution or (), ()
        return replace(observation, warnings=(*caution, *observation.warnings))

    def resume(self, last: Observation) -> Observation:
        """Say whether the server was restarted."""
        before = self._server
        self.reopen()
        restarted = (
            self._server.process != before.process
            or abs(self._server.started_epoch_s - before.started_epoch_s) > _RESTARTED_S
        )
        text = (
            "The server restarted while it was watched; its work around the restart was not observed."
            if restarted
            else "The connection to the server was lost and opened again; nothing was observed in between."
        )
        return warned(last, text)

    def end(self) -> Observation:
        """Disconnect."""
        observation = self._source.stop()
        self._disconnect()
        return observation

    def _disconnect(self) -> None:
        with suppress(pymysql.Error, OSError):
            self._connection.close()
