"""Whole scans of a table of which another session updates rows and does not commit.

InnoDB changes a row in place and keeps what it was in the undo log. A scan that may not see the new
values goes back from the row through the undo log, version by version, every time it comes by: what it
builds is kept by nobody. So no page is added to the table, and pages of the undo log are read instead.

Source: MariaDB documentation, "InnoDB Undo Log"; MySQL Reference Manual, "InnoDB Multi-Versioning".
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from redolab.engine.loops.scan_loop import scan
from redolab.engine.mariadb.connection import Connection
from redolab.engine.mariadb.loads.filling import fill
from redolab.engine.mariadb.statements import Statements
from redolab.engine.server.load import ServerLoad
from redolab.records.load import Amount, Scans
from redolab.records.sample import Work

_MORE = "insert into redolab.scanned select id + %s, 1 from redolab.scanned where id < %s"


class MariadbScans(ServerLoad[Statements]):
    """`Scans` on MariaDB and MySQL."""

    def __init__(self, load: Scans, connect: Callable[[str], Connection], stop: threading.Event) -> None:
        """Take what to do, and where.

        Args:
            load: what is scanned.
            connect: opens a connection that the server shows under such a name.
            stop: once it is set, what takes long ends early.
        """
        self._load, self._connect, self._stop = load, connect, stop
        self._other: Statements | None = None
        self._versions = load.rows

    def create(self, control: Statements) -> None:
        """The table, and the session that updates it."""
        control.run(
            "create table redolab.scanned (id int not null primary key, value int not null) engine=InnoDB"
        )
        control.run("insert into redolab.scanned values (0, 1)")
        fill(control, _MORE, self._load.rows)
        self._other = self.statements("redolab updates")

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Roll back what was updated, and make the setting's rounds anew."""
        assert self._other is not None, "create() comes first"
        self._other.run("rollback")
        self._other.run("begin")
        self._versions = self._load.rows
        for _ in range(2 * int(levels["rounds"])):
            self._versions += self._other.run(
                "update redolab.scanned set value = value + 1 where id < %s", self._load.touched
            )

    def statements(self, name: str) -> Statements:
        """A connection of its own, which the server shows under such a name."""
        return Statements(self._connect(name), lambda: self._connect("redolab look"), self._stop)

    def work(self, session: Statements, amount: Amount, stop: threading.Event) -> Work:
        """Whole scans by a session, one after the other."""

        def query() -> int:
            return int(session.rows("select sum(value) as total from redolab.scanned")[0]["total"])

        return scan(amount, stop, query, self._load.rows, self._versions)

    def close(self) -> None:
        """Close the other session's connection, which rolls its transaction back."""
        if self._other is not None and self._other.connection.open:
            self._other.connection.close()
