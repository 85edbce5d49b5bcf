"""Updates of a one-row table of each session's own, one per commit, inside the server or from a client."""

from __future__ import annotations

from psycopg import sql

from redolab.engine.client_job import ClientJob
from redolab.engine.postgres.connecting.connection import Connection, run_script
from redolab.engine.postgres.loads.base import Call, PostgresLoad, Turn
from redolab.records.load import OwnRows


class PostgresOwnRows(PostgresLoad):
    """`OwnRows` on PostgreSQL."""

    def __init__(self, load: OwnRows) -> None:
        self._sessions = load.sessions

    def create(self, control: Connection) -> None:
        """A table and a loop for each session."""
        run_script(control, "create_own_rows")
        control.execute("call redolab.make_own_rows(%s)", (self._sessions,))

    def settle(self, control: Connection) -> None:
        """Remove the dead versions of the rows."""
        tables = [sql.Identifier("redolab", _name(number)) for number in range(self._sessions)]
        control.execute(sql.SQL("vacuum {}").format(sql.SQL(", ").join(tables)))

    def client_job(self) -> ClientJob:
        """The update of the session's own row."""
        return ClientJob("update redolab.own_{session} set a = a + 1")

    def call(self, turn: Turn) -> Call:
        """The loop over the session's own table."""
        loop = sql.Identifier("redolab", _name(turn.number))
        return Call(
            sql.SQL("call {}(%s, %s, %s::text[], %s::text[])").format(loop).as_bytes(),
            (turn.share, turn.deadline, list(turn.parameters), list(turn.parameters.values())),
        )


def _name(session: int) -> str:
    """Of a session's table and of its loop."""
    return f"own_{session}"
