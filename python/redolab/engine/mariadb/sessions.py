"""The working sessions: clients over the wire, a round trip per statement.

A loop inside MariaDB with several sessions does not wait for the redo log: the server hands a commit's
wait to the end of the statement, and a session whose flush another one is doing goes on. So no load loops
there.
"""

from __future__ import annotations

import threading
from typing import Protocol

from redolab import _core
from redolab.engine.loops.client_work import resize, work
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.loads import MariadbScans
from redolab.engine.server.load import ClientLoad
from redolab.errors import RefusedError
from redolab.records.design import SEEDS
from redolab.records.load import Amount
from redolab.records.sample import Work


class WorkingSessions(Protocol):
    """Connections that work, as many as the setting in force wants."""

    @property
    def connections(self) -> tuple[int, ...]:
        """Their numbers on the server."""
        ...

    def resize(self, count: int) -> None:
        """Have `count` connections that answer, lost ones opened anew.

        Raises:
            RefusedError: the server does not take one more.
        """
        ...

    def run(self, amount: Amount, stop: threading.Event) -> Work:
        """Let every session do its part of the load.

        Raises:
            InterruptedRunError: `stop` was set.
        """
        ...

    def close(self) -> None:
        """Close every connection; never raises for one that is lost already."""
        ...


class ClientSessions:
    """Connections of a client in this process (crate `redolab-load`)."""

    def __init__(self, connector: Connector, load: ClientLoad, seed: int) -> None:
        """Make the client; no session yet.

        Args:
            connector: to the server; the client's connections are protected as its own are.
            load: what the sessions do.
            seed: of the moments at which transactions are asked for, and of random keys.
        """
        target = connector.target
        self._connector, self._load, self._seed = connector, load, seed
        self._sessions = _core.ClientSessions.mysql(
            target.host,
            target.port,
            target.unix_socket,
            target.user or "",
            target.secret(),
            "redolab",
            tls=target.demanded,
            ca_file=target.ca_file,
            peer_uid=target.peer,
            connect_timeout_s=connector.patience_s,
        )

    @property
    def connections(self) -> tuple[int, ...]:
        """Their numbers on the server."""
        return tuple(self._sessions.pids())

    def resize(self, count: int) -> None:
        """Have `count` connections that answer, lost ones opened anew.

        Raises:
            RefusedError: the server does not take one more.
        """
        try:
            resize(self._sessions, count, self._connector.target.password_command)
        except ConnectionError as error:
            raise RefusedError(
                f"The server refused the load's connection {self._connector.place}: {error}. The load of "
                f"this run needs {count} connections in addition to the run's own. If these are too many, "
                "check max_connections and the user's limits."
            ) from error

    def run(self, amount: Amount, stop: threading.Event) -> Work:
        """Let every session do its part, for so long by its own clock or for its share of the units.

        Raises:
            InterruptedRunError: `stop` was set; sessions that worked then are lost.
        """
        self._seed = (self._seed + 1) % SEEDS
        return work(self._sessions, self._load.client_job(), amount, self._seed, stop, {})

    def close(self) -> None:
        """Close every connection."""
        self._sessions.close()


class ScanSession:
    """The one session that scans."""

    def __init__(self, load: MariadbScans) -> None:
        """Take what it scans."""
        self._load = load
        self._session = load.statements("redolab session 1")

    @property
    def connections(self) -> tuple[int, ...]:
        """Its number on the server."""
        return (self._session.number,)

    def resize(self, count: int) -> None:
        """Open it anew if it is lost; there is never another one."""
        assert count == 1, "a scan has one session"
        if not self._session.connection.open:
            self._session = self._load.statements("redolab session 1")

    def run(self, amount: Amount, stop: threading.Event) -> Work:
        """Whole scans, one after the other.

        Raises:
            InterruptedRunError: `stop` was set.
        """
        return self._load.work(self._session, amount, stop)

    def close(self) -> None:
        """Close it."""
        if self._session.connection.open:
            self._session.connection.close()
