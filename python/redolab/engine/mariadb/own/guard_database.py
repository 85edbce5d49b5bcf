"""The guard's part for somebody's MariaDB or MySQL: it holds the server until everything is put back.

Its lock stays when Redolab is killed. So no other run begins before it has cleaned up.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pymysql

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.own.recovery import recover
from redolab.engine.mariadb.own.schema import MARKS, find_database, server_place
from redolab.engine.mariadb.own.server_lock import await_end_of_run, hold_as_guard, take_server
from redolab.engine.mariadb.own.sessions import end_sessions, number_of
from redolab.errors import RedolabError
from redolab.outlet import say

GUARD_LOCK_WAIT_S = 600
"""How long a guard waits for somebody's lock: a dump takes minutes, and nobody waits for the guard."""
_RUN_ENDS_LIMIT_S = 60.0


class DatabaseCharge:
    """One server whose state the guard answers for."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """Connect, and hold the server.

        Args:
            parameters: of the connection; they came through a pipe, and no process list shows them.

        Raises:
            RefusedError: the server cannot be reached.
        """
        self._connector = Connector.from_parameters(parameters)
        self.mark: str | None = None
        """Of Redolab's database there, once it is made."""
        self._control = self._connect()
        hold_as_guard(self._control)

    @property
    def pid(self) -> int:
        """The number of its connection."""
        return number_of(self._control)

    def hold(self) -> None:
        """Hold the server again, where its restart ended the connection.

        Raises:
            RefusedError: the server cannot be reached.
        """
        try:
            ask(self._control, "select 1")
        except pymysql.Error:
            self._control = self._connect()
            hold_as_guard(self._control)

    def release(self) -> None:
        """Nothing is left to do."""
        with suppress(pymysql.Error):
            self._control.close()

    def clean_up(self) -> None:
        """Put everything back once the run's own connection is gone; what goes wrong is told on stderr."""
        try:
            if self._still_ours():
                recover(self._control, self._connector, self._marks())
        except (RedolabError, pymysql.Error) as error:
            say(f"redolab: The database was not cleaned up after the run had ended: {error}")
        finally:
            self.release()

    def _still_ours(self) -> bool:
        """Whether nobody else can have begun since; another run has put everything back before it did."""
        try:
            standing = find_database(self._control, self._marks())
            if standing and "session" in standing.lists and standing.mark:
                # A statement of the killed run may take long, and holds its lock until then.
                end_sessions(self._control)
            return await_end_of_run(self._control, _RUN_ENDS_LIMIT_S)
        except pymysql.OperationalError:
            self._control = self._connect()
        return take_server(self._control, _RUN_ENDS_LIMIT_S) is None

    def _marks(self) -> Mapping[str, str]:
        own = {self.mark: server_place(self._control)} if self.mark else {}
        return {**MARKS.kept(), **own}

    def _connect(self) -> Connection:
        return self._connector.connect("redolab guard", lock_wait_s=GUARD_LOCK_WAIT_S)
