"""The ledger of acknowledged commits (see `redolab.engine.mariadb.crash`)."""

from __future__ import annotations

from redolab.engine.mariadb.loads.base import MariadbLoad
from redolab.engine.mariadb.statements import Statements


class MariadbLedger(MariadbLoad):
    """`Ledger` on MariaDB and MySQL."""

    def create(self, control: Statements) -> None:
        """The table: one row per commit, so that a missing one shows."""
        control.run(
            "create table redolab.ledger (session int not null, entry bigint not null, "
            "primary key (session, entry)) engine=InnoDB"
        )
