"""The ledger of acknowledged commits: its sessions are clients (see `redolab.engine.postgres.crash`)."""

from __future__ import annotations

from redolab.engine.postgres.connecting.connection import Connection, run_script
from redolab.engine.postgres.loads.base import Call, PostgresLoad, Turn
from redolab.errors import UsageError
from redolab.records.load import Ledger


class PostgresLedger(PostgresLoad):
    """`Ledger` on PostgreSQL."""

    def __init__(self, load: Ledger) -> None:
        self._load = load

    def create(self, control: Connection) -> None:
        """The table."""
        run_script(control, "create_ledger")

    def call(self, turn: Turn) -> Call:
        """A ledger is written by clients until the kill, never by a loop inside the server."""
        raise UsageError(f"The load {self._load.name} is for kills alone.")
