"""The user's own statements: set-up once, a unit of work from a client, teardown at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import pymysql
from pymysql.converters import escape_string

from redolab.engine.client_job import ClientJob
from redolab.engine.mariadb.connection import Connection, error_text
from redolab.engine.mariadb.statements import Statements
from redolab.engine.server.load import ServerLoad
from redolab.errors import UsageError
from redolab.records.list_texts import place_in_file, with_levels
from redolab.records.load import Script


class MariadbScript(ServerLoad[Statements]):
    """`Script` on MariaDB and MySQL. Names without a database are those of `redolab`.

    A unit of work is sent as one text, between BEGIN and COMMIT. In it `{session}` is replaced by the number
    of the session, from 0.
    """

    def __init__(self, load: Script, connect: Callable[[], Connection], stop: threading.Event) -> None:
        """Take the statements, and where they are executed.

        Args:
            load: the user's list.
            connect: opens a connection that takes several statements at once.
            stop: once it is set, the statement under way is broken off.
        """
        self._load, self._connect, self._stop = load, connect, stop
        self._list: Statements | None = None

    def create(self, control: Statements) -> None:
        """Run the set-up."""
        self._list = Statements(self._connect(), self._connect, self._stop)
        self._list.run("use redolab")
        self._execute("sql.setup", self._load.setup)

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Leave the levels that go, enter those that come, and try the unit of work once without a trace."""
        before, self.levels = self.levels, levels
        for path, text in self._load.passage(before, levels).items():
            self._execute(path, text)
        if levels != before:
            self._execute("sql.unit", f"begin; {self._load.unit.replace('{session}', '0')}")
            self._execute("sql.unit", "rollback")

    def settle(self, control: Statements) -> None:
        """Execute what the file wants before every sample."""
        self._execute("sql.settle", self._load.settle)

    def client_job(self) -> ClientJob:
        """The unit of work."""
        return ClientJob(with_levels(self._load.unit, self.levels, _value, _name), text=True)

    def close(self) -> None:
        """Close the list's connection; its teardown is executed by whoever cleans up."""
        if self._list is not None and self._list.connection.open:
            self._list.connection.close()

    def _execute(self, path: str, text: str) -> None:
        assert self._list is not None, "create() comes first"
        if not text.strip():
            return
        try:
            self._list.all_of(with_levels(text, self.levels, _value, _name))
        except pymysql.MySQLError as error:
            if not isinstance(error, pymysql.ProgrammingError | pymysql.IntegrityError | pymysql.DataError):
                raise
            where = place_in_file(self._load.file, self._load.places, path)
            raise UsageError(f"{where}: the server refuses {path}: {error_text(error)}.") from error


def _value(level: str) -> str:
    return f"'{escape_string(level)}'"


def _name(level: str) -> str:
    return "`" + level.replace("`", "``") + "`"
