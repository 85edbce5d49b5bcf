"""Single-row inserts, so many to a commit."""

from __future__ import annotations

from collections.abc import Mapping

from redolab._core import ClientArgument
from redolab.engine.client_job import ClientJob
from redolab.engine.mariadb.loads.base import MariadbLoad
from redolab.engine.mariadb.statements import Statements
from redolab.records.load import Inserts, arrival_rate_of, pause_of


class MariadbInserts(MariadbLoad):
    """`Inserts` on MariaDB and MySQL."""

    def __init__(self, load: Inserts) -> None:
        self._levels: Mapping[str, str] = {}
        self._filler = ClientArgument.text("x" * load.padding_bytes)

    def create(self, control: Statements) -> None:
        """An empty table without an index; InnoDB keeps a hidden one of its own."""
        control.run(
            "create table redolab.item (session int not null, entry bigint not null, "
            "padding varchar(1000) character set ascii not null) engine=InnoDB"
        )

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Take the rows per commit, how often a commit is asked for, and the pause after it."""
        self._levels = levels

    def settle(self, control: Statements) -> None:
        """Empty the table, so that every sample extends the same file from its beginning."""
        control.run("truncate table redolab.item")

    def client_job(self) -> ClientJob:
        """The rows, each by a statement of its own."""
        return ClientJob(
            "insert into redolab.item values (?, ?, ?)",
            (ClientArgument.session(), ClientArgument.row(), self._filler),
            rows_per_commit=int(self._levels.get("rows_per_commit", "1")),
            arrival_rate_per_s=arrival_rate_of(self._levels),
            pause_s=pause_of(self._levels),
        )
