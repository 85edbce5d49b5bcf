"""Whole scans of a table of which another session updates rows and does not commit.

A scan that may not see the new values builds each block as it was from the undo, every time that it comes by:
clones of a block are few. So no block is added to the table, and undo is read and applied instead.

Source: Oracle Database Concepts, "Data Concurrency and Consistency".
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from redolab.engine.loops.scan_loop import scan
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.loads.base import Block, OracleLoad, Turn, fill
from redolab.records.load import Amount, Scans
from redolab.records.sample import Work


class OracleScans(OracleLoad):
    """`Scans` on Oracle."""

    scans = True

    def __init__(self, load: Scans, connect: Callable[[str], Statements]) -> None:
        """Take what to do, and what opens a connection that the server shows under such a name."""
        self._load, self._connect = load, connect
        self._other: Statements | None = None
        self._versions = load.rows

    def create(self, control: Statements) -> None:
        """The table, and the session that updates it."""
        control.run("create_scanned")
        fill(control, "fill_scanned", self._load.rows)
        self._other = self._connect("redolab updates")

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Roll back what was updated, and make the setting's rounds anew."""
        assert self._other is not None, "create() comes first"
        self._other.rollback()
        self._versions = self._load.rows
        for _ in range(2 * int(levels["rounds"])):
            self._versions += self._other.run("update_scanned", values={"touched": self._load.touched})

    def block(self, turn: Turn) -> Block:
        """Fail: scans do not run in the server."""
        raise AssertionError("scans are queries")

    def work(self, session: Statements, amount: Amount, stop: threading.Event) -> Work:
        """Whole scans by a session, one after the other."""

        def query() -> int:
            return int(session.rows("select_scanned")[0]["total"])

        return scan(amount, stop, query, self._load.rows, self._versions)

    def close(self) -> None:
        """Close the other session's connection, which rolls its transaction back."""
        if self._other is not None:
            self._other.close()
