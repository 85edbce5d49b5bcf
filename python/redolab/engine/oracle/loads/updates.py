"""Single-row updates, one per commit, at random in a key range of each session's own."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.engine.oracle.clients.task import ClientTask
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.loads.base import Block, OracleLoad, Turn, fill
from redolab.engine.oracle.settings import mode_of
from redolab.errors import UsageError
from redolab.records.load import Updates, turns_of


class OracleUpdates(OracleLoad):
    """`Updates` on Oracle."""

    def __init__(self, load: Updates) -> None:
        self._load = load
        self._levels: Mapping[str, str] = {}

    def create(self, control: Statements) -> None:
        """One table with a key range for each session."""
        load = self._load
        control.run("create_account")
        rows = load.sessions * load.rows_per_session
        fill(control, "fill_account", rows, {"padding_bytes": load.padding_bytes})

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Take the mode of commits and how much CPU a unit of work carries."""
        self._levels = levels

    def block(self, turn: Turn) -> Block:
        """The updates of one session's range."""
        rows = self._load.rows_per_session
        return Block(
            "run_updates",
            {"mode": mode_of(self._levels)},
            {
                "quota": turn.quota, "seconds": turn.amount.seconds, "turns": turns_of(self._levels),
                "seed": turn.state, "first_id": turn.number * rows, "row_count": rows,
            },
        )  # fmt: skip

    def client_task(self) -> ClientTask:
        """The same updates, each by a statement of its own.

        Raises:
            UsageError: a unit of work carries CPU work, which a client's update has not.
        """
        if turns_of(self._levels):
            raise UsageError(
                "--load cpu computes in a loop of PL/SQL, and --scope session needs sessions of a client: "
                "leave one of them out."
            )
        load = self._load
        return ClientTask(
            "update_account", {}, mode_of(self._levels), load.scope, range_rows=load.rows_per_session
        )
