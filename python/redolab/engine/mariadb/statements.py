"""Statements of a run over one connection, which end early when the run is to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from redolab.engine.loops.unless_stopped import unless_stopped
from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.own.sessions import number_of

_Result = TypeVar("_Result")


class Statements:
    """Executes statements one after the other on a connection that nobody else uses meanwhile."""

    def __init__(
        self, connection: Connection, connect: Callable[[], Connection], stop: threading.Event
    ) -> None:
        """Take what to execute them on.

        Args:
            connection: open, in autocommit mode.
            connect: opens another one to the same server, which breaks a statement off.
            stop: once it is set, the statement under way is broken off.
        """
        self.connection, self._connect, self._stop = connection, connect, stop

    @property
    def number(self) -> int:
        """Number of the connection, as the server shows it."""
        return number_of(self.connection)

    def run(self, statement: str, *values: Any) -> int:
        """Execute a statement; returns how many rows it touched.

        Raises:
            InterruptedRunError: the run is to stop.
        """

        def execute() -> int:
            with self.connection.cursor() as cursor:
                return int(cursor.execute(statement, values or None))

        return self._unless_stopped(execute)

    def rows(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        """Execute a query; returns its rows.

        Raises:
            InterruptedRunError: the run is to stop.
        """
        return self._unless_stopped(lambda: ask(self.connection, statement, *values))

    def script(self, statements: Sequence[str]) -> None:
        """Execute statements in turn.

        Raises:
            InterruptedRunError: the run is to stop.
        """
        for statement in statements:
            self.run(statement)

    def all_of(self, text: str) -> None:
        """Execute statements that come as one text; what they return is dropped.

        Raises:
            InterruptedRunError: the run is to stop.
        """

        def execute() -> None:
            with self.connection.cursor() as cursor:
                cursor.execute(text)
                while cursor.nextset():
                    pass

        self._unless_stopped(execute)

    def _unless_stopped(self, execute: Callable[[], _Result]) -> _Result:
        def cancel() -> None:
            with self._connect() as helper, helper.cursor() as cursor:
                cursor.execute("kill query %s", (self.number,))

        return unless_stopped(self._stop, execute, cancel)
