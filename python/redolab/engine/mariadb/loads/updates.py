"""Single-row updates, one per commit, at random in a key range of each session's own."""

from __future__ import annotations

from collections.abc import Mapping

from redolab._core import ClientArgument
from redolab.engine.client_job import ClientJob
from redolab.engine.mariadb.loads.base import MariadbLoad
from redolab.engine.mariadb.loads.filling import fill
from redolab.engine.mariadb.statements import Statements
from redolab.records.load import Updates, turns_of

_ROW = "insert into redolab.account values (0, 0, repeat('x', %s))"
_MORE = "insert into redolab.account select id + %s, 0, padding from redolab.account where id < %s"
_UPDATE = "update redolab.account set value = value + 1 where id = ?"
# BENCHMARK takes CPU in the server and gives 0; it is evaluated once for the row.
_UPDATE_AND_WORK = "update redolab.account set value = value + 1 + benchmark(?, 1) where id = ?"


class MariadbUpdates(MariadbLoad):
    """`Updates` on MariaDB and MySQL."""

    def __init__(self, load: Updates) -> None:
        self._load = load
        self._turns = 0

    def create(self, control: Statements) -> None:
        """One table with a key range for each session."""
        load = self._load
        control.run(
            "create table redolab.account (id int not null primary key, value bigint not null, "
            "padding varchar(1000) character set ascii not null) engine=InnoDB"
        )
        control.run(_ROW, load.padding_bytes)
        fill(control, _MORE, load.sessions * load.rows_per_session)

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Take how much CPU a unit of work carries."""
        self._turns = turns_of(levels)

    def client_job(self) -> ClientJob:
        """The update of one row of the session's range, with CPU work or without."""
        key = ClientArgument.key(self._load.rows_per_session)
        if self._turns:
            return ClientJob(_UPDATE_AND_WORK, (ClientArgument.text(str(self._turns)), key))
        return ClientJob(_UPDATE, (key,))
