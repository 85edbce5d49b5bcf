"""Single-row inserts, so many to a commit, in a loop inside the server or in a client."""

from __future__ import annotations

from collections.abc import Mapping

from redolab._core import ClientArgument
from redolab.engine.client_job import ClientJob
from redolab.engine.postgres.connecting.connection import Connection, run_script
from redolab.engine.postgres.loads.base import Call, PostgresLoad, Turn
from redolab.records.load import Inserts, arrival_rate_of, pause_of


class PostgresInserts(PostgresLoad):
    """`Inserts` on PostgreSQL."""

    def __init__(self, load: Inserts) -> None:
        self._load = load
        self._rows_per_commit = 1
        self._arrival_rate_per_s: float | None = None
        self._pause_s = 0.0

    def create(self, control: Connection) -> None:
        """An empty table without an index, and the loop."""
        run_script(control, "create_inserts")

    def apply(self, control: Connection, levels: Mapping[str, str]) -> None:
        """Take the rows per commit, how often a commit is asked for, and the pause after it."""
        self._rows_per_commit = int(levels.get("rows_per_commit", "1"))
        self._arrival_rate_per_s = arrival_rate_of(levels)
        self._pause_s = pause_of(levels)

    def settle(self, control: Connection) -> None:
        """Empty the table, so that every sample extends the same file from its beginning."""
        control.execute("truncate redolab.item")

    def call(self, turn: Turn) -> Call:
        """The loop; its rows carry the session's number."""
        return Call(
            b"call redolab.insert_loop(%s, %s, %s, %s, %s, %s::text[], %s::text[], %s, %s)",
            (
                turn.number,
                self._rows_per_commit,
                turn.share,
                turn.deadline,
                self._load.padding_bytes,
                list(turn.parameters),
                list(turn.parameters.values()),
                self._load.timed,
                self._pause_s,
            ),
        )

    def client_job(self) -> ClientJob:
        """The same rows, each by a statement of its own."""
        return ClientJob(
            "insert into redolab.item values ($1, $2, $3)",
            (
                ClientArgument.session(),
                ClientArgument.row(),
                ClientArgument.text("x" * self._load.padding_bytes),
            ),
            self._rows_per_commit,
            self._arrival_rate_per_s,
            self._pause_s,
        )
