"""Redolab's hold on a server: the connection that rules it, the lock, the guard, and how it is let go."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import pymysql

from redolab.engine.base import Introduction
from redolab.engine.linux.local_server import filesystem
from redolab.engine.loops.unless_stopped import unless_stopped
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.own import guard_database
from redolab.engine.mariadb.own.journal import Journal
from redolab.engine.mariadb.own.recovery import recover
from redolab.engine.mariadb.own.schema import MARKS, make_database, server_place
from redolab.engine.mariadb.own.server_lock import RUN, holder_of
from redolab.engine.mariadb.own.sessions import end, note_sessions, number_of
from redolab.engine.mariadb.parameters import Parameters, read_parameters
from redolab.engine.mariadb.preflight.claim import check_alone, check_unclaimed, claim_server
from redolab.engine.mariadb.preflight.conditions import server_conditions
from redolab.engine.mariadb.preflight.introduction import introduction
from redolab.engine.mariadb.preflight.rights import check_rights
from redolab.engine.mariadb.preflight.server import check_server
from redolab.engine.private.charge import NO_MARK, Charge
from redolab.engine.private.own_server import OwnServer
from redolab.errors import RefusedError

_RESTART_LIMIT_S = 60.0
_LEAVE_LIMIT_S = 10.0
_RETRY_S = 0.25


class Hold:
    """One server in Redolab's hands, from the first look at it to the last."""

    def __init__(self, connector: Connector, own_server: OwnServer | None) -> None:
        """Connect and look at the server; nothing is changed yet.

        Args:
            connector: to the server.
            own_server: set when Redolab started the server itself.

        Raises:
            RefusedError: the server cannot be reached, or no run is possible on it.
        """
        self._connector, self._own = connector, own_server
        self.connection: Connection = self._connect()
        try:
            self.server: dict[str, Any] = check_server(self.connection, connector.place)
            """Who and what the server is."""
        except BaseException:
            self.connection.close()
            raise
        self.parameters: Parameters | None = None
        """What is changed on the server; None before `prepare`."""
        self._charge = Charge(guard_database.__name__, MARKS)
        self.journal = None if own_server else Journal(self._charge.mark)
        """Where parameters are noted before they are changed; None on a server of Redolab's own."""
        self._claimed = False
        self._noted: set[int] = set()
        self._gone = False

    def introduce(self, parameters: Collection[str], log_bytes: int | None) -> Introduction:
        """Check what can be checked before anybody is asked, and say what an answer depends on.

        Args:
            parameters: those of the whole server that the run changes.
            log_bytes: how much log it writes at most; None where the user's own statements decide it.

        Raises:
            RefusedError: no such run is possible there.
        """
        known = read_parameters(self.connection, parameters)
        self.check_rights(parameters)
        check_unclaimed(self.connection)
        return introduction(self.connection, self.server, known, log_bytes)

    def check_rights(self, parameters: Collection[str]) -> None:
        """Make sure that this user may make the database and change these parameters.

        Raises:
            RefusedError: it may not; the text has every GRANT that it lacks.
        """
        if self._own is None:
            check_rights(self.connection, self.server, parameters)

    def conditions(self, process: int | None = None) -> list[str]:
        """Warnings about this server that a reader of its figures must know.

        Args:
            process: the server's, where it is on this machine.
        """
        place = Path(f"/proc/{process}/cwd")
        # A server's working directory is its data directory.
        under = filesystem(place) if process is not None else None
        found = server_conditions(
            self.connection, self.server, self._own.log_filesystem if self._own else under
        )
        return found if self._charge.mark_kept else [*found, NO_MARK]

    def make_schema(self) -> None:
        """Take somebody's server and let a guard hold it too; then make the database, which bears a mark.

        Raises:
            RefusedError: another run is at work, the name is taken, something that a killed run left cannot
                be put back, or the guard cannot connect.
        """
        if self._own:
            ask(self.connection, "create database redolab")
            return
        claim_server(self.connection, self._connector)
        self._charge.give(self._connector.parameters, server_place(self.connection))
        self._claimed = True  # A statement that is broken off may have been done all the same.
        make_database(self.connection, self._charge.mark)
        self.note_sessions([])

    def note_sessions(self, connections: Collection[int]) -> None:
        """Note the run's working connections, so that whoever cleans up after a kill ends them first."""
        wanted = {number_of(self.connection), *connections}
        if self._claimed and wanted != self._noted:
            note_sessions(self.connection, wanted)
            self._noted = wanted

    def note_teardown(self, statements: str) -> None:
        """Note what a list wants executed at the end; a server of Redolab's own is removed as it is."""
        if self.journal and statements.strip():
            self.journal.note_teardown(self.connection, statements)

    def ensure(self, limit_s: float | None = None) -> bool:
        """Connect again when the connection was lost; wait while the server is starting.

        Args:
            limit_s: how long the server is waited for, seconds; None for as long as a restart takes.

        Returns whether the connection is a new one.

        Raises:
            RefusedError: the server is not there by then, or somebody else has taken it.
        """
        try:
            ask(self.connection, "select 1")
        except (pymysql.Error, OSError):
            self._reconnect(_RESTART_LIMIT_S if limit_s is None else limit_s)
            return True
        return False

    def replace(self, connection: Connection) -> None:
        """Rule the server by this connection from now on: it was killed and started again."""
        self._close_connection()
        self._take(connection)

    def guard_pids(self, hold: bool = False) -> list[int]:
        """The number of the guard's connection; made anew where a restart ended it, with `hold`."""
        return self._charge.pids(hold)

    def leave(self, hurry: threading.Event) -> None:
        """Put everything back on somebody's server, and release the guard.

        Args:
            hurry: once it is set, nobody is waited for.

        Raises:
            RefusedError: something could not be put back; the text says what, and how to do it.
            InterruptedRunError: `hurry` was set before all was put back.
        """
        if self._claimed:
            self._put_back(hurry)
        self._charge.release()

    def leave_to_guard(self) -> None:
        """Let the guard put back what is left to, and do not wait for it."""
        self._charge.leave_to_guard()

    def close(self) -> None:
        """Close the connection; a server of Redolab's own is removed."""
        self._close_connection()
        if self._own:
            self._own.stop()

    def _put_back(self, hurry: threading.Event) -> None:
        try:
            # On the old one a statement may have been broken off.
            self._close_connection()
            self._reconnect(_LEAVE_LIMIT_S)
        except (RefusedError, pymysql.Error) as error:
            raise RefusedError(
                f"What Redolab changed on the server could not be put back: {error} A restart of the server "
                "takes its parameters back to its configuration. The next run on that server, from this user "
                "and machine, puts everything back first, from the list in redolab.parameter_journal."
            ) from error
        number = number_of(self.connection)

        def cancel() -> None:
            with self._connector.connect("redolab look") as helper:
                ask(helper, "kill query %s", number)

        marks = self._charge.proofs()
        unless_stopped(hurry, lambda: recover(self.connection, self._connector, marks), cancel)
        if self.parameters:
            self.parameters.restored()

    def _reconnect(self, limit_s: float) -> None:
        before = number_of(self.connection)
        self._close_connection()
        give_up = time.monotonic() + limit_s
        while True:
            if self._own:
                self._own.revive()
            try:
                connection = self._connect()
                break
            except RefusedError:
                self._gone = self._gone or time.monotonic() > give_up
                if self._gone:
                    raise
                time.sleep(_RETRY_S)
        if self._own is None and holder_of(connection, RUN) == before:
            end(connection, before)  # The server does not know yet that the old one is dead.
        self._take(connection)

    def _take(self, connection: Connection) -> None:
        """Rule the server by a new connection."""
        self.connection = connection
        if self._claimed:
            check_alone(connection, self.guard_pids(hold=True))
        if self.parameters:
            self.parameters.connected_again(connection)
        self.server |= check_server(connection, self._connector.place)

    def _close_connection(self) -> None:
        with suppress(pymysql.Error, OSError):
            if self.connection.open:
                self.connection.close()

    def _connect(self) -> Connection:
        return self._connector.connect("redolab control")
