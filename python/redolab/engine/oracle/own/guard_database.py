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
from redolab.errors import RedolabError
from redolab.outlet import say

PROGRAM = "redolab session"
"""What the server shows as the program of working sessions, with dashes for blanks, and a number."""
_SESSIONS_END_S = 600.0
_LOOK_S = 0.5


class DatabaseCharge:
    """One schema whose tables the guard answers for."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """Connect.

        Args:
            parameters: of the connection; they came through a pipe, and no process list shows them.

        Raises:
            RefusedError: the database cannot be reached.
        """
        self._target = Target(**parameters)
        self.mark: str | None = None
        """In Redolab's table there, once it is made."""
        self._control = self._connect()

    @property
    def pid(self) -> int:
        """The SID of its connection."""
        return self._control.sid

    def hold(self) -> None:
        """Note itself in REDOLAB_RUN, with a connection that answers.

        Raises:
            RefusedError: the database cannot be reached.
        """
        try:
            self._control.connection.ping()
        except oracledb.Error:
            self._control = self._connect()
        if self.mark is not None:
            note_holder(self._control, self.mark, "guard")

    def release(self) -> None:
        """Nothing is left to do."""
        self._control.close()

    def clean_up(self) -> None:
        """Drop the tables once the run's sessions are gone; what goes wrong is told on stderr."""
        try:
            if self.mark is not None and self._still_ours():
                self._await_sessions()
                drop_tables(self._control)
                MARKS.forget(self.mark)
        except (RedolabError, oracledb.Error) as error:
            text = str(error) if isinstance(error, RedolabError) else error_text(error)
            say(f"redolab: The tables REDOLAB_% were not dropped after the run had ended: {text}")
        finally:
            self.release()

    def _still_ours(self) -> bool:
        """Whether the tables are those of this run: another may have begun since."""
        try:
            self._control.connection.ping()
        except oracledb.Error:
            self._control = self._connect()
        try:
            return any(row["mark"] == self.mark for row in self._control.rows("select_run"))
        except oracledb.Error:
            return False

    def _await_sessions(self) -> None:
        """Wait until no session of the run is in its loop any more."""
        give_up_s = time.monotonic() + _SESSIONS_END_S
        begins = PROGRAM.replace(" ", "-")
        while time.monotonic() < give_up_s:
            rows = fetch(self._control.connection, "select_sessions")
            mine = [
                row
                for row in rows
                if row["username"] == self._target.user.upper() and str(row["program"]).startswith(begins)
            ]
            if not mine:
                return
            time.sleep(_LOOK_S)

    def _connect(self) -> Statements:
        made = Statements(connect(self._target, "redolab guard", unlimited=True), threading.Event())
        made.run("alter_patience")
        return made
