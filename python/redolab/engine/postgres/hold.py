"""Redolab's hold on a server: the connection that rules it, the lock, the guard, and how it is let go."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from redolab.engine.postgres.connecting.connection import Connection, Connector, OwnConnection
from redolab.engine.postgres.connecting.patience import GUARD_WAIT_LIMIT_S, Patience
from redolab.engine.postgres.own import guard_database
from redolab.engine.postgres.own.recovery import recover
from redolab.engine.postgres.own.schema import MARKS, make_schema
from redolab.engine.postgres.parameters.parameters import Parameters
from redolab.engine.postgres.preflight.preflight import check_alone, check_server, check_writable
from redolab.engine.private.charge import Charge
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
        self.patience = Patience(connector)
        self.connection: Connection = self._connect()
        try:
            self.server: dict[str, Any] = check_server(self.connection)
            """Who and what the server is."""
            check_writable(self.connection)
        except RefusedError:
            self.connection.close()
            raise
        self.parameters: Parameters | None = None
        """What is changed on the server; None before `prepare`."""
        self._charge = Charge(guard_database.__name__, MARKS)
        self._claimed = False
        self._gone = False

    @property
    def mark_kept(self) -> bool:
        """Whether this machine knows the schema as Redolab's own when the run and its guard are gone."""
        return self._charge.mark_kept

    def make_schema(self) -> None:
        """Let a guard hold somebody's server too; then make Redolab's schema, which bears a mark.

        Raises:
            RefusedError: the guard cannot connect.
        """
        if self._own is None:
            self._charge.give(self._connector.parameters, self.connection.info.dbname)
        self._claimed = True  # A statement that is broken off may have been done all the same.
        make_schema(self.connection, self._charge.mark)

    def ensure(self, limit_s: float | None = None) -> bool:
        """Connect again when the connection was lost; wait while the server is starting.

        Args:
            limit_s: how long the server is waited for, seconds; None for as long as a restart takes.

        Returns whether the connection is a new one.

        Raises:
            RefusedError: the server is not there by then, or somebody else has taken it.
        """
        try:
            self.connection.execute("select 1")
        except psycopg.OperationalError:
            self.connection.close()
        else:
            return False
        give_up = time.monotonic() + (_RESTART_LIMIT_S if limit_s is None else limit_s)
        while self.connection.closed:
            if self._own:
                self._own.revive()
            try:
                self.connection = self._connect()
            except RefusedError:
                self._gone = self._gone or time.monotonic() > give_up
                if self._gone:
                    raise
                time.sleep(_RETRY_S)
        # The server may not know yet that the old connection is dead, which has the lock.
        self.connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where pid = %s "
            "and usename = current_user and application_name = 'redolab control'",
            (self.server["pid"],),
        )
        check_alone(self.connection, self.guard_pids(hold=True))
        self._tell_parameters()
        self.server |= check_server(self.connection)
        return True

    def replace(self, connection: Connection) -> None:
        """Rule the server by this connection from now on: it was killed and started again."""
        self.connection.close()
        self.connection = connection
        self._tell_parameters()

    def guard_pids(self, hold: bool = False) -> list[int]:
        """The server process of the guard's connection; made anew where a restart ended it, with `hold`."""
        return self._charge.pids(hold)

    def leave(self, hurry: threading.Event) -> None:
        """Put everything back on somebody's server, and release the guard.

        Args:
            hurry: once it is set, nobody is waited for.

        Raises:
            RefusedError: something could not be put back; the text says what, and how to do it.
        """
        if self._claimed and self._own is None:
            self._put_back(hurry)
        self._charge.release()

    def leave_to_guard(self) -> None:
        """Let the guard put back what is left to, and do not wait for it."""
        self._charge.leave_to_guard()

    def close(self) -> None:
        """Close the connection; a server of Redolab's own is removed."""
        self.connection.close()
        if self._own:
            self._own.stop()

    def _put_back(self, hurry: threading.Event) -> None:
        self.patience.stop = hurry
        if self.connection.info.transaction_status != TransactionStatus.IDLE:
            self.connection.close()  # A statement was broken off.
        try:
            self.ensure(_LEAVE_LIMIT_S)
        except RefusedError as error:
            raise RefusedError(
                f"What Redolab changed on the server could not be put back: {error} The next run on that "
                "server, from this user and machine, puts it back first, from the list in "
                "redolab.parameter_journal."
            ) from error
        try:
            recover(self.connection, self._charge.proofs())
        except RefusedError as error:
            raise RefusedError(
                f"{error} Redolab's guard goes on trying for {GUARD_WAIT_LIMIT_S / 60:.0f} minutes."
            ) from error
        if self.parameters:
            self.parameters.restored()

    def _tell_parameters(self) -> None:
        if self.parameters:
            self.parameters.lost_sessions(self.connection)

    def _connect(self) -> OwnConnection:
        control = self._connector.connect("redolab control")
        control.patience = self.patience
        return control
