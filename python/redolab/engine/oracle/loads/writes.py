"""Loads of single-row writes, in a loop inside the server or in a client: which statements each has."""

from __future__ import annotations

from redolab.engine.oracle.clients.task import ClientTask
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.loads.base import Block, OracleLoad, Turn, fill
from redolab.engine.oracle.settings import mode_of
from redolab.errors import UsageError
from redolab.records.load import (
    Inserts,
    OwnRows,
    Updates,
    arrival_rate_of,
    pause_of,
    rows_per_commit_of,
    turns_of,
)


class OracleWrites(OracleLoad):
    """`Inserts`, `OwnRows` or `Updates` on Oracle."""

    def __init__(self, load: Inserts | OwnRows | Updates) -> None:
        self._load = load

    def create(self, control: Statements) -> None:
        """An empty table, one of one row for each session, or one with a key range for each."""
        match self._load:
            case Inserts():
                control.run("create_item")
            case OwnRows() as load:
                for number in range(load.sessions):
                    words = {"number": str(number)}
                    control.run("create_own", words)
                    control.run("insert_own", words)
                    control.commit()
            case Updates() as load:
                control.run("create_account")
                rows = load.sessions * load.rows_per_session
                fill(control, "fill_account", rows, {"padding_bytes": load.padding_bytes})

    def settle(self, control: Statements) -> None:
        """Empty the table of inserts, so that every sample extends it from its beginning."""
        if isinstance(self._load, Inserts):
            control.run("truncate_item")

    def block(self, turn: Turn) -> Block:
        """The session's rows, the updates of its own row, or those of its range."""
        mode = {"mode": mode_of(self.levels)}
        part = {"quota": turn.quota, "seconds": turn.amount.seconds}
        match self._load:
            case Inserts() as load:
                part |= {"session_no": turn.number, "padding_bytes": load.padding_bytes}
                return Block("run_inserts", mode, part | {"row_count": rows_per_commit_of(self.levels)})
            case Updates() as load:
                rows = load.rows_per_session
                part |= {"first_id": turn.number * rows, "row_count": rows, "seed": turn.state}
                return Block("run_updates", mode, part | {"turns": turns_of(self.levels)})
        return Block("run_own_rows", {"number": str(turn.number), **mode}, part)


class OracleClientWrites(OracleWrites):
    """`Inserts` or `Updates` on Oracle, which clients can do too, each row by a statement of its own."""

    def __init__(self, load: Inserts | Updates) -> None:
        super().__init__(load)
        self._of_clients = load

    def client_task(self) -> ClientTask:
        """The task of each of them.

        Raises:
            UsageError: a unit of work includes CPU work, which a client's update does not have.
        """
        load, mode = self._of_clients, mode_of(self.levels)
        if isinstance(load, Inserts):
            return ClientTask(
                "insert_item",
                {"padding": "x" * load.padding_bytes},
                mode,
                load.scope,
                rows_per_commit=rows_per_commit_of(self.levels),
                pause_s=pause_of(self.levels),
                arrival_rate_per_s=arrival_rate_of(self.levels),
            )
        if turns_of(self.levels):
            raise UsageError(
                "--load cpu computes in a loop of PL/SQL, and --scope session needs sessions of a client: "
                "leave one of them out."
            )
        return ClientTask("update_account", {}, mode, load.scope, range_rows=load.rows_per_session)
