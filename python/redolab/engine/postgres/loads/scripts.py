"""The user's own statements: set-up once, a unit of work in a loop inside the server, teardown at the end."""

from __future__ import annotations

from collections.abc import Mapping

import psycopg
from psycopg import sql

from redolab.engine.postgres.connecting.connection import Connection, list_names, run_script
from redolab.engine.postgres.loads.base import Call, PostgresLoad, Turn, call
from redolab.errors import UsageError
from redolab.records.list_texts import before_place, place_in_file, with_levels
from redolab.records.load import Script

# The list's names hold inside it alone: the loop around it is Redolab's.
_UNIT = sql.SQL(
    "create or replace procedure redolab.unit(session int) language sql set search_path from current as {}"
)


class PostgresScript(PostgresLoad):
    """`Script` on PostgreSQL. Unqualified names are those of the schema `redolab`."""

    def __init__(self, load: Script) -> None:
        self._load = load

    def create(self, control: Connection) -> None:
        """Run the set-up as one transaction, in which its teardown is noted too."""
        run_script(control, "create_script")
        with list_names(control), control.transaction():
            self._execute(control, "sql.setup", self._load.setup)
            if self._load.teardown.strip():
                control.execute("insert into redolab.teardown values (%s)", (self._load.teardown,))

    def apply(self, control: Connection, levels: Mapping[str, str]) -> None:
        """Leave the levels that go, enter those that come, and make the unit of work under them."""
        before, self.levels = self.levels, levels
        with list_names(control):
            for path, text in self._load.passage(before, levels).items():
                self._execute(control, path, text)
        if levels != before:
            with list_names(control, self._load.search_path(levels)):
                self._make_unit(control)

    def settle(self, control: Connection) -> None:
        """Execute what the file wants before every sample."""
        with list_names(control):
            self._execute(control, "sql.settle", self._load.settle)

    def call(self, turn: Turn) -> Call:
        """The loop around the unit of work."""
        return call("unit_loop", turn.number, turn.share, turn.deadline, *turn.sets)

    def _make_unit(self, control: Connection) -> None:
        """Make the procedure of the unit under the levels in force, and try it once without a trace."""
        text = with_levels(self._load.unit, self.levels, _literal, _identifier)
        whole = _UNIT.format(sql.Literal(text)).as_string()
        try:
            control.execute(whole.encode())
            with control.transaction(force_rollback=True):
                control.execute("call redolab.unit(0)")
        except psycopg.Error as error:
            place = error.diag.statement_position
            # The server counts in the statement that makes the procedure, where quotes are doubled.
            start = whole.index("'") + 1
            ahead = whole[start : int(place) - 1].replace("''", "'").replace("\\\\", "\\") if place else ""
            raise self._refused("sql.unit", self._load.unit, len(ahead), error) from error

    def _execute(self, control: Connection, path: str, text: str) -> None:
        if not text.strip():
            return
        try:
            control.execute(with_levels(text, self.levels, _literal, _identifier).encode())
        except psycopg.Error as error:
            place = error.diag.statement_position
            raise self._refused(path, text, int(place) - 1 if place else 0, error) from error

    def _refused(self, path: str, text: str, place: int, error: psycopg.Error) -> Exception:
        if error.diag.message_primary is None:
            return error  # The connection was lost: not the statement's fault.
        before = before_place(text, self.levels, _literal, _identifier, place)
        where = place_in_file(self._load.file, self._load.places, path, before)
        return UsageError(f"{where}: the server refuses {path}: {error.diag.message_primary}.")


def _literal(level: str) -> str:
    return sql.Literal(level).as_string()


def _identifier(level: str) -> str:
    return sql.Identifier(level).as_string()
