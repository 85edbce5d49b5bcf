"""Redolab's hold on a PostgreSQL: the connection that rules it, the lock, the guard, and the way back."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import psycopg

from redolab.engine.postgres.connecting.connection import Connection, Connector, OwnConnection, fetch_beside
from redolab.engine.postgres.connecting.patience import Patience
from redolab.engine.postgres.own import guard_database
from redolab.engine.postgres.own.recovery import PostgresRecovery
from redolab.engine.postgres.own.schema import MARKS, identity, make_schema
from redolab.engine.postgres.own.server_lock import PostgresLock
from redolab.engine.postgres.parameters.before import Parameter
from redolab.engine.postgres.parameters.parameters import Parameters
from redolab.engine.postgres.parameters.system import LINES, WRITTEN, as_lines
from redolab.engine.postgres.preflight.preflight import check_server, check_writable
from redolab.engine.private.guarded_mark import GuardedMark
from redolab.engine.private.own_server import OwnServer
from redolab.engine.server import hold
from redolab.engine.server.planted import Planted
from redolab.engine.server.recovery import Finished
from redolab.errors import RefusedError
from redolab.records.sample import Scope

_MEND = "Look in the schema redolab for an object that Redolab did not make, and for its owner."


class HeldServer(hold.HeldServer[Connection]):
    """One server in Redolab's hands, from the first look at it to the last."""

    lost = (psycopg.OperationalError,)
    parameters: Parameters | None = None
    """The parameters that are changed on the server; None before `prepare`."""

    def __init__(self, connector: Connector, own_server: OwnServer | None) -> None:
        """Connect and look at the server; nothing is changed yet.

        Args:
            connector: to the server.
            own_server: set when Redolab started the server itself.

        Raises:
            RefusedError: the server cannot be reached, or no run is possible on it.
        """
        self._connector = connector
        self.patience = Patience(connector)
        super().__init__(GuardedMark(guard_database.__name__, MARKS), own_server)
        try:
            self.server: dict[str, Any] = check_server(self.connection)
            """The server's identity and properties."""
            check_writable(self.connection)
        except RefusedError:
            self.connection.close()
            raise
        self.planted = Planted(_MEND)
        """The objects in the schema other than plain tables."""
        # An event trigger of the server's own may add to every table that is made.
        self.planted.take_as_meant()

    def make_schema(self) -> None:
        """Let a guard hold somebody's server too; then make Redolab's schema, which bears a mark.

        Raises:
            RefusedError: the guard cannot connect.
        """
        if self._own is None:
            self._guarded.give(self._connector.parameters, self.connection.info.dbname)
        self._claimed = True  # A statement that is broken off may have been done all the same.
        made = make_schema(self.connection, self._guarded.mark)
        self._guarded.keep(replace(self._guarded.kept, made=made, **identity(self.connection)._asdict()))

    def note_teardown(self, statements: str) -> None:
        """Keep in memory what a list wants executed at the end."""
        self._guarded.keep(replace(self._guarded.kept, teardown=statements))

    def change(self, known: dict[str, Parameter], scope: Scope) -> Parameters:
        """Be ready to change these parameters."""
        self.parameters = Parameters(self.connection, known, scope, self._guarded)
        return self.parameters

    def open(self) -> OwnConnection:
        """Open a connection that rules the server."""
        control = self._connector.connect("redolab control")
        control.patience = self.patience
        return control

    def look(self) -> None:
        """Ask in one statement what the server must still say."""
        if self._own or self.parameters is None:
            self.connection.execute("select 1")
            return
        names = self.parameters.look()
        # Who changes nothing for the whole server need not be able to see what others change.
        lines = LINES if names and self.parameters.sees_lines else WRITTEN
        parameters = {"names": names, "made": self._guarded.kept.made}
        row = fetch_beside(self.connection, "select_planted", parameters, others=lines)
        self.parameters.check(as_lines(row.pop("others")))
        self.planted.check(row)

    def take_over(self, connection: Connection, *, leaving: bool) -> None:
        """Take the lock again; the server may not know yet that the connection is dead which has it."""
        self.connection = connection
        if self._own is None:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where pid = %s "
                "and usename = current_user and application_name = 'redolab control'",
                (self.server["pid"],),
            )
            if self._claimed:
                PostgresLock(connection).take_for_run(self.guard_pids(hold=True))
        if leaving:
            self.server["pid"] = connection.info.backend_pid
            return
        if self.parameters:
            self.parameters.lost_sessions(connection)
        self.server |= check_server(connection)

    def close_connection(self) -> None:
        """Close the connection."""
        self.connection.close()

    def recovery(self) -> PostgresRecovery:
        """The recovery that puts this server back."""
        return PostgresRecovery(self.connection, self._guarded.proofs())

    def put_back(self, hurry: threading.Event) -> Finished:
        """Each statement has its patience."""
        self.patience.stop = hurry
        return self.recovery().finish(self._guarded.kept)
