"""Inserts into one table without an index, so many to a commit, inside the server or in a client."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.engine.oracle.clients.task import ClientTask
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.loads.base import Block, OracleLoad, Turn
from redolab.engine.oracle.settings import mode_of
from redolab.records.load import Inserts, arrival_rate_of, pause_of


class OracleInserts(OracleLoad):
    """`Inserts` on Oracle."""

    def __init__(self, load: Inserts) -> None:
        self._load = load
        self._levels: Mapping[str, str] = {}

    def create(self, control: Statements) -> None:
        """An empty table."""
        control.run("create_item")

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Take the mode of commits, the rows of each, when it is asked for, and the pause after it."""
        self._levels = levels

    def settle(self, control: Statements) -> None:
        """Empty the table, so that every sample extends it from its beginning."""
        control.run("truncate_item")

    def block(self, turn: Turn) -> Block:
        """The session's rows."""
        return Block(
            "run_inserts",
            {"mode": mode_of(self._levels)},
            {
                "quota": turn.quota, "seconds": turn.amount.seconds, "session_no": turn.number,
                "padding_bytes": self._load.padding_bytes,
                "row_count": int(self._levels.get("rows_per_commit", "1")),
            },
        )  # fmt: skip

    def client_task(self) -> ClientTask:
        """The same rows, each by a statement of its own."""
        return ClientTask(
            "insert_item",
            {"padding": "x" * self._load.padding_bytes},
            mode_of(self._levels),
            self._load.scope,
            rows_per_commit=int(self._levels.get("rows_per_commit", "1")),
            pause_s=pause_of(self._levels),
            arrival_rate_per_s=arrival_rate_of(self._levels),
        )
