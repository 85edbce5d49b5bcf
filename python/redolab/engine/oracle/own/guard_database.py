"""The guard's part for somebody's Oracle: it holds a connection until Redolab's tables are gone.

Nothing but tables is changed there: commits spell their mode themselves. A session that is still in its loop
when Redolab is killed ends at its deadline, for which the guard waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import oracledb

from redolab.engine.oracle.connecting.connection import connect, fetch
from redolab.engine.oracle.connecting.driver_errors import error_text
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.own.tables import MARKS, drop_tables, note_holder
from redolab.engine.server import guard_database
from redolab.errors import RedolabError

PROGRAM = "redolab session"
"""The program of working sessions as the server shows it, with dashes for blanks, and a number."""
_LOOK_S = 0.5


class DatabaseCharge(guard_database.DatabaseCharge):
    """One schema whose tables the guard answers for."""

    errors = (oracledb.Error,)
    _control: Statements

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """Connect.

        Args:
            parameters: of the connection; they came through a pipe, and no process list shows them.

        Raises:
            RefusedError: the database cannot be reached.
        """
        self._target = Target(**parameters)
        super().__init__()

    @property
    def pid(self) -> int:
        """The SID of its connection."""
        return self._control.sid

    def connect(self) -> None:
        """Open the connection; Oracle needs no lock."""
        self._control = Statements(connect(self._target, "redolab guard", unlimited=True), threading.Event())
        self._control.run("alter_patience")

    def answers(self) -> bool:
        """Whether the connection is there."""
        try:
            self._control.connection.ping()
        except oracledb.Error:
            return False
        return True

    def hold(self) -> None:
        """Note itself in REDOLAB_RUN too, with a connection that answers."""
        super().hold()
        note_holder(self._control, self.kept.mark, "guard")

    def run_is_gone(self, limit_s: float, *, lost: bool) -> bool:  # noqa: ARG002
        """Wait until no session of the run is in its loop; another one may have made tables since."""
        try:
            rows = self._control.rows("select_run")
        except oracledb.Error:
            if not self.answers():
                raise
            return False
        if all(row["mark"] != self.kept.mark for row in rows):
            return False
        give_up = time.monotonic() + limit_s
        while self._working() and time.monotonic() < give_up:
            time.sleep(_LOOK_S)
        return True

    def put_back(self) -> str:
        """Drop the tables."""
        drop_tables(self._control)
        MARKS.forget(self.kept.mark)
        return ""

    def words(self, error: Exception) -> str:
        """The text of an error."""
        return (str(error) if isinstance(error, RedolabError) else error_text(error)).rstrip(".")

    def _working(self) -> bool:
        begins = PROGRAM.replace(" ", "-")
        return any(
            row["username"] == self._target.user.upper() and str(row["program"]).startswith(begins)
            for row in fetch(self._control.connection, "select_sessions")
        )
