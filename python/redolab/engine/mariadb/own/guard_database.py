"""The guard's part for somebody's MariaDB or MySQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pymysql

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.own.recovery import MariadbRecovery, why
from redolab.engine.mariadb.own.schema import MARKS, server_place
from redolab.engine.mariadb.own.server_lock import MariadbLock
from redolab.engine.mariadb.own.sessions import end_sessions, number_of
from redolab.engine.server import guard_database
from redolab.engine.server.guard_database import PATIENCE_S


class DatabaseCharge(guard_database.DatabaseCharge):
    """One server whose state the guard answers for."""

    errors = (pymysql.Error, OSError)
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
        """The number of its connection."""
        return number_of(self._control)

    def connect(self) -> None:
        """Open the connection, and take the guard's lock."""
        # A dump takes minutes, and its locks are waited for.
        self._control = self._connector.connect("redolab guard", lock_wait_s=int(PATIENCE_S))
        self.lock = MariadbLock(self._control)
        self.lock.hold_as_guard()

    def answers(self) -> bool:
        """Whether the connection is there."""
        try:
            ask(self._control, "select 1")
        except self.errors:
            return False
        return True

    def run_is_gone(self, limit_s: float, *, lost: bool) -> bool:
        """Wait until it is; a statement of the killed run may take long, and holds its lock until then."""
        end_sessions(self._control, self.kept.sessions)
        return super().run_is_gone(limit_s, lost=lost)

    def put_back(self) -> str:
        """From memory."""
        marks = {**MARKS.kept(), self.kept.mark: server_place(self._control)}
        return MariadbRecovery(self._control, self._connector, marks).finish(self.kept).text

    def words(self, error: Exception) -> str:
        """The text of an error."""
        return why(error)
