"""Updates of a one-row table of each session's own, one per commit."""

from __future__ import annotations

from redolab.engine.client_job import ClientJob
from redolab.engine.mariadb.loads.base import MariadbLoad
from redolab.engine.mariadb.statements import Statements
from redolab.records.load import OwnRows


class MariadbOwnRows(MariadbLoad):
    """`OwnRows` on MariaDB and MySQL."""

    def __init__(self, load: OwnRows) -> None:
        self._sessions = load.sessions

    def create(self, control: Statements) -> None:
        """A table with one row for each session."""
        for number in range(self._sessions):
            control.run(f"create table redolab.own_{number} (a bigint not null) engine=InnoDB select 0 as a")

    def client_job(self) -> ClientJob:
        """The update of the session's own row."""
        return ClientJob("update redolab.own_{session} set a = a + 1")
