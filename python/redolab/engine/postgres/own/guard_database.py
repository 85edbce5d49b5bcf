"""The guard's part for somebody's database: it holds the server until everything is put back.

Its lock stays when Redolab is killed. So no other run begins, in whichever database, before it has cleaned
up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

import psycopg

from redolab.engine.postgres.connecting.connection import Connection, Connector
from redolab.engine.postgres.connecting.patience import GUARD_WAIT_LIMIT_S, Patience
from redolab.engine.postgres.own.recovery import recover
from redolab.engine.postgres.own.schema import MARKS
from redolab.engine.postgres.own.server_lock import await_end_of_run, hold_as_guard, take_server
from redolab.errors import RedolabError
from redolab.outlet import say

_RUN_ENDS_LIMIT_S = 60.0


class DatabaseCharge:
    """One database whose state the guard answers for."""

    def __init__(self, parameters: Mapping[str, Any], mark: str | None = None) -> None:
        """Connect, and hold the server.

        Args:
            parameters: of the connection; they came through a pipe, and no process list shows them.
            mark: of Redolab's schema there, once it is made.

        Raises:
            RefusedError: the server cannot be reached.
        """
        self._connector = Connector("")
        self._connector.parameters = parameters
        self.mark = mark
        self._control = self._connect()
        hold_as_guard(self._control)

    @property
    def pid(self) -> int:
        """The server process of its connection."""
        return self._control.info.backend_pid

    def hold(self) -> None:
        """Hold the server again, where its restart ended the connection.

        Raises:
            RefusedError: the server cannot be reached.
        """
        try:
            self._control.execute("select 1")
        except psycopg.Error:
            self._control.close()
            self._control = self._connect()
            hold_as_guard(self._control)

    def release(self) -> None:
        """Nothing is left to do."""
        with suppress(psycopg.Error):
            self._control.close()

    def clean_up(self) -> None:
        """Put everything back once the run's own connection is gone; what goes wrong is told on stderr."""
        try:
            if self._still_ours():
                recover(self._control, self._marks())
        except (RedolabError, psycopg.Error) as error:
            say(f"redolab: The database was not cleaned up after the run had ended: {error}")
        finally:
            self.release()

    def _still_ours(self) -> bool:
        """Whether nobody else can have begun since; another run has put everything back before it did."""
        try:
            return await_end_of_run(self._control, _RUN_ENDS_LIMIT_S)
        except psycopg.OperationalError:
            self._control.close()
        self._control = self._connect()
        return take_server(self._control, _RUN_ENDS_LIMIT_S) is None

    def _marks(self) -> Collection[str]:
        return MARKS.kept().keys() | ({self.mark} if self.mark else set())

    def _connect(self) -> Connection:
        control = self._connector.connect("redolab guard")
        control.patience = Patience(self._connector, limit_s=GUARD_WAIT_LIMIT_S)
        return control
