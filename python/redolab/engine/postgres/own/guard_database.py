"""The guard's part for somebody's PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from redolab.engine.postgres.connecting.connection import Connection, Connector
from redolab.engine.postgres.connecting.driver_errors import in_one_line
from redolab.engine.postgres.connecting.patience import Patience
from redolab.engine.postgres.own.recovery import PostgresRecovery
from redolab.engine.postgres.own.schema import MARKS
from redolab.engine.postgres.own.server_lock import PostgresLock
from redolab.engine.server import guard_database
from redolab.engine.server.guard_database import PATIENCE_S


class DatabaseCharge(guard_database.DatabaseCharge):
    """One database whose state the guard answers for."""

    errors = (psycopg.Error,)
    _control: Connection

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """Connect, and hold the server.

        Args:
            parameters: of the connection; they came through a pipe, and no process list shows them.

        Raises:
            RefusedError: the server cannot be reached.
        """
        self._connector = Connector.from_parameters(parameters)
        super().__init__()

    @property
    def pid(self) -> int:
        """The server process of its connection."""
        return self._control.info.backend_pid

    def connect(self) -> None:
        """Open the connection, and take the guard's lock."""
        control = self._connector.connect("redolab guard")
        control.patience = Patience(self._connector, limit_s=PATIENCE_S)
        self._control, self.lock = control, PostgresLock(control)
        self.lock.hold_as_guard()

    def answers(self) -> bool:
        """Whether the connection is there."""
        try:
            self._control.execute("select 1")
        except psycopg.Error:
            self._control.close()
            return False
        return True

    def put_back(self) -> str:
        """From memory."""
        return PostgresRecovery(self._control, {*MARKS.kept(), self.kept.mark}).finish(self.kept).text

    def words(self, error: Exception) -> str:
        """The text of an error."""
        return in_one_line(error).rstrip(".")
