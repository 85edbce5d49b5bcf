"""Single-row updates, one per commit, in a loop inside the server or in a client."""

from __future__ import annotations

from collections.abc import Mapping

from redolab._core import ClientArgument
from redolab.engine.client_job import ClientJob
from redolab.engine.postgres.connecting.connection import Connection, run_script
from redolab.engine.postgres.loads.base import Call, PostgresLoad, Turn
from redolab.errors import UsageError
from redolab.records.load import Updates, turns_of


class PostgresUpdates(PostgresLoad):
    """`Updates` on PostgreSQL."""

    def __init__(self, load: Updates) -> None:
        self._load = load
        self._turns = 0

    def create(self, control: Connection) -> None:
        """One table with a key range for each session, and the loop."""
        load = self._load
        run_script(control, "create_updates")
        control.execute(
            "insert into redolab.account select n, 0, repeat('x', %s) from generate_series(0, %s) n",
            (load.padding_bytes, load.sessions * load.rows_per_session - 1),
        )
        control.execute("alter table redolab.account add primary key (id)")
        control.execute("vacuum analyze redolab.account")

    def apply(self, control: Connection, levels: Mapping[str, str]) -> None:
        """Take how much CPU a unit of work carries."""
        self._turns = turns_of(levels)

    def settle(self, control: Connection) -> None:
        """Remove the dead versions of rows."""
        control.execute("vacuum redolab.account")

    def client_job(self) -> ClientJob:
        """The update of one row of the session's range; CPU work is for a loop inside the server alone."""
        if self._turns:
            raise UsageError(
                "CPU work in a unit of work needs a loop inside the server: leave --load cpu out."
            )
        return ClientJob(
            "update redolab.account set value = value + 1 where id = $1::bigint",
            (ClientArgument.key(self._load.rows_per_session),),
        )

    def call(self, turn: Turn) -> Call:
        """The loop over the session's key range."""
        ids = self._load.rows_per_session
        return Call(
            b"call redolab.update_loop(%s, %s, %s, %s, %s::text[], %s::text[], %s)",
            (
                turn.number * ids,
                ids,
                turn.share,
                turn.deadline,
                list(turn.parameters),
                list(turn.parameters.values()),
                self._turns,
            ),
        )
