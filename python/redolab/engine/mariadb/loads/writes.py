"""Loads of single-row writes from a client: their statements as data."""

from __future__ import annotations

from redolab.engine.client_job import ClientJob, ClientStatements
from redolab.engine.mariadb.loads.filling import fill
from redolab.engine.mariadb.statements import Statements
from redolab.engine.server.load import ServerLoad
from redolab.records.load import Inserts, OwnRows, Updates

_FROM_CLIENTS = ClientStatements(
    "insert into redolab.item values (?, ?, ?)",
    "update redolab.account set value = value + 1 where id = ?",
    # BENCHMARK takes CPU in the server and gives 0; it is evaluated once for the row.
    "update redolab.account set value = value + 1 + benchmark(?, 1) where id = ?",
)
# InnoDB keeps a hidden index of its own.
_ITEM = (
    "create table redolab.item (session int not null, entry bigint not null, "
    "padding varchar(1000) character set ascii not null) engine=InnoDB"
)
_OWN = "create table redolab.own_{} (a bigint not null) engine=InnoDB select 0 as a"
_ACCOUNT = (
    "create table redolab.account (id int not null primary key, value bigint not null, "
    "padding varchar(1000) character set ascii not null) engine=InnoDB"
)
_ROW = "insert into redolab.account values (0, 0, repeat('x', %s))"
_MORE = "insert into redolab.account select id + %s, 0, padding from redolab.account where id < %s"
# One row per commit, so that a missing one shows.
_LEDGER = (
    "create table redolab.ledger (session int not null, entry bigint not null, "
    "primary key (session, entry)) engine=InnoDB"
)


class MariadbLedger(ServerLoad[Statements]):
    """`Ledger` on MariaDB and MySQL (see `redolab.engine.mariadb.crash`)."""

    def create(self, control: Statements) -> None:
        """The table."""
        control.run(_LEDGER)


class MariadbWrites(ServerLoad[Statements]):
    """`Inserts`, `OwnRows` or `Updates` on MariaDB and MySQL."""

    def __init__(self, load: Inserts | OwnRows | Updates) -> None:
        self._load = load

    def create(self, control: Statements) -> None:
        """A table without an index, one of one row for each session, or one with a key range for each."""
        match self._load:
            case Inserts():
                control.run(_ITEM)
            case OwnRows() as load:
                for number in range(load.sessions):
                    control.run(_OWN.format(number))
            case Updates() as load:
                control.run(_ACCOUNT)
                control.run(_ROW, load.padding_bytes)
                fill(control, _MORE, load.sessions * load.rows_per_session)

    def settle(self, control: Statements) -> None:
        """Empty the table of inserts, so that every sample extends the same file from its beginning."""
        if isinstance(self._load, Inserts):
            control.run("truncate table redolab.item")

    def client_job(self) -> ClientJob:
        """The writes, each by a statement of its own."""
        return _FROM_CLIENTS.job(self._load, self.levels)
