"""Putting somebody's database back: after a run, after a killed one, from any later process."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import psycopg
from psycopg import sql

from redolab.engine.postgres.connecting.connection import Connection, Connector, list_names
from redolab.engine.postgres.own.schema import MARKS, confirmed_here, find_schema, identity
from redolab.engine.postgres.parameters.system import SystemParameters
from redolab.engine.server.kept import Changed, Kept
from redolab.engine.server.recovery import Finished, SchemaRecovery, Standing
from redolab.errors import RedolabError, RefusedError, sentence


class PostgresRecovery(SchemaRecovery):
    """One server, and the schema `redolab` in a database of it."""

    marks = MARKS
    kind, within, journal = "schema", "in that database", "its table parameter_journal"

    def __init__(self, control: Connection, marks: Collection[str]) -> None:
        """Take what is put back.

        Args:
            control: connected to the database, whose server this process has taken.
            marks: those that prove a schema to be one's own.
        """
        self._control, self._marks = control, marks
        self.parameters = SystemParameters(control)

    def end_sessions(self, kept: Kept) -> None:  # noqa: ARG002
        """Sessions of a killed run may still loop, and would hold up the drop."""
        try:
            self._control.execute(
                "select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity "
                "where usename = current_user and datname = pg_catalog.current_database() "
                "and application_name like 'redolab session %'"
            )
        except psycopg.Error:
            return  # What they hold up is told where it is dropped.

    def tear_down(self, kept: Kept) -> str:
        """Where the list's names are looked for."""
        try:
            with list_names(self._control):
                self._control.execute(kept.teardown.encode())
        except (psycopg.Error, RedolabError) as error:
            return (
                f"The teardown of the list failed: {sentence(self.parameters.words(error))} Objects that it "
                "created outside Redolab's schema may still exist."
            )
        return ""

    def find(self, kept: Kept) -> Standing | None:
        """Find it by its mark, or by the server's number of it."""
        return find_schema(self._control, self._marks, kept.made)

    def drop_statement(self, name: str) -> str:
        """DROP SCHEMA."""
        return f"DROP SCHEMA {sql.Identifier(name).as_string()} CASCADE"

    def drop(self, standing: Standing) -> None:
        """Drop it, waiting for no standby."""
        with confirmed_here(self._control):
            self._control.execute(self.drop_statement(standing.name).encode())

    def listed(self, standing: Standing) -> Kept:
        """The run's notes in the schema."""

        def rows(table: str) -> list[dict[str, object]]:
            return self._control.execute(
                sql.SQL("select * from {}").format(sql.Identifier(standing.name, table)).as_bytes()
            ).fetchall()

        statements = [str(row["statement"]) for row in rows("teardown")]
        return Kept(
            mark=standing.mark or "",
            made=standing.made,
            address=identity(self._control).address,
            changed=tuple(_changed(row) for row in rows("parameter_journal")),
            teardown=";\n".join(statements),
        )


def finish_noted(control: Connection, connector: Connector, noted: Kept) -> Finished:
    """Put back what a killed run of this machine changed, by what this machine noted of it.

    Args:
        control: connected to some database of its server, which this process has taken.
        connector: to that server.
        noted: what was noted.
    """
    recovery = PostgresRecovery(control, {noted.mark})
    row = control.execute(
        "select datname as name from pg_catalog.pg_database where oid::text = %s", (noted.database,)
    ).fetchone()
    if row is None:
        outcome = recovery.finish_parameters(noted)
        if not outcome.left:
            MARKS.forget(noted.mark, noted.address)
        return Finished(outcome)
    database = str(row["name"])
    if database == control.info.dbname:
        return recovery.finish_noted(noted)
    try:
        there = connector.to_database(database).connect("redolab control")
    except RefusedError as error:
        outcome = recovery.finish_parameters(noted)
        return Finished(outcome, f"The schema redolab may still be in the database {database}: {error}")
    with there:
        return PostgresRecovery(there, {noted.mark}).finish_noted(noted)


def _changed(row: Mapping[str, object]) -> Changed:
    value = str(row["value_before"])
    if "values_set" not in row:  # A run of an older version noted no more.
        return Changed(str(row["parameter"]), value, value if row["in_auto_conf"] else None)
    line, values = row["line_before"], row["values_set"]
    assert isinstance(values, list), "the column is an array"
    return Changed(str(row["parameter"]), value, None if line is None else str(line), tuple(values))
