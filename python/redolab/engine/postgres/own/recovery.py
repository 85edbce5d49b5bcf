"""Putting somebody's database back: after a run, after a killed one, from any later process."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import psycopg
from psycopg import sql

from redolab.engine.postgres.connecting.connection import Connection, Connector, list_names
from redolab.engine.postgres.own.schema import MARKS, Standing, confirmed_here, find_schema, identity
from redolab.engine.postgres.parameters.system import SystemParameters
from redolab.engine.server.kept import Changed, Kept
from redolab.engine.server.recovery import Finished, Recovery
from redolab.errors import RedolabError, RefusedError


class SchemaRecovery(Recovery):
    """One server, and the schema `redolab` in a database of it."""

    def __init__(self, control: Connection, marks: Collection[str]) -> None:
        """Take what is put back.

        Args:
            control: connected to the database, whose server this process has taken.
            marks: those that prove a schema to be one's own.
        """
        self._control, self._marks = control, marks
        self.marks = MARKS
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
                f"The teardown of the list failed: {self.parameters.words(error)}. What it made outside "
                "Redolab's schema may still be there."
            )
        return ""

    def remove(self, kept: Kept) -> str:
        """Drop the schema, whatever it is called by now, where it is proved to be Redolab's own."""
        name = "redolab"
        try:
            standing = find_schema(self._control, self._marks, kept.made)
            if standing is not None:
                name = standing.name
                if standing.doubt is None:
                    with confirmed_here(self._control):
                        self._control.execute(
                            sql.SQL("drop schema {} cascade").format(sql.Identifier(name)).as_bytes()
                        )
                    standing = find_schema(self._control, self._marks, kept.made)
            # Somebody else's may have its name by now.
            gone = kept.made and standing and standing.made != kept.made and standing.mark != kept.mark
            if standing is None or gone:
                MARKS.forget(kept.mark, kept.address)
                return ""
            left = standing.doubt or "it is there again"
        except (psycopg.Error, RedolabError) as error:
            left = self.parameters.words(error)
        quoted = sql.Identifier(name).as_string()
        return (
            f"The schema {name} is still there: {left}. The next run in that database, from this user and "
            f"machine, drops it first where it can; by hand: DROP SCHEMA {quoted} CASCADE;"
        )

    def why_kept(self, kept: Kept) -> str:
        """The list of parameters, where it is still there."""
        try:
            standing = find_schema(self._control, self._marks, kept.made)
        except psycopg.Error:
            return ""
        if standing is None or standing.doubt or standing.odd:
            return ""
        return (
            f"The schema {standing.name} stays until then, with the list in its table parameter_journal: "
            "the next run in that database, from this user and machine, puts everything back first."
        )


def finish_noted(control: Connection, connector: Connector, noted: Kept) -> Finished:
    """Put back what a killed run of this machine changed, by what this machine noted of it.

    Args:
        control: connected to some database of its server, which this process has taken.
        connector: to that server.
        noted: what was noted.
    """
    row = control.execute(
        "select datname as name from pg_catalog.pg_database where oid::text = %s", (noted.database,)
    ).fetchone()
    if row is None:
        told = SchemaRecovery(control, {noted.mark}).finish_parameters(noted)
        if not told.left:
            MARKS.forget(noted.mark, noted.address)
        return Finished(told)
    database = str(row["name"])
    if database == control.info.dbname:
        return _finish(control, noted)
    try:
        there = connector.to_database(database).connect("redolab control")
    except RefusedError as error:
        told = SchemaRecovery(control, {noted.mark}).finish_parameters(noted)
        return Finished(told, f"The schema redolab may still be in the database {database}: {error}")
    with there:
        return _finish(there, noted)


def _finish(control: Connection, noted: Kept) -> Finished:
    """Put it back in its own database, with what its lists there have besides."""
    marks = {noted.mark}
    try:
        standing = find_schema(control, marks, noted.made)
        if standing and standing.mark == noted.mark and not (standing.doubt or standing.odd):
            noted = noted.joined(_noted(control, standing))
    except (psycopg.Error, RedolabError):
        pass  # Who changed them is no reason to leave what is known.
    return SchemaRecovery(control, marks).finish(noted)


def recover(control: Connection, marks: Collection[str]) -> Finished | None:
    """Put back what a killed run noted in its schema, and drop that, where this machine did not note it.

    Nothing is touched where the schema is not proved to be Redolab's own. Safe to run again after any
    interruption: the journal goes last.

    Args:
        control: connected to the database, whose server this process has taken.
        marks: those that prove a schema to be one's own.

    Returns what came of it; None where there was nothing to put back.

    Raises:
        RefusedError: the lists cannot be read.
    """
    recovery = SchemaRecovery(control, marks)
    try:
        standing = find_schema(control, marks)
        if standing is None or standing.doubt or standing.odd:
            return None
        kept = _noted(control, standing)
    except psycopg.Error as error:
        raise RefusedError(
            f"Redolab could not put everything back: {recovery.parameters.words(error)}."
        ) from error
    return recovery.finish(kept)


def _noted(control: Connection, standing: Standing) -> Kept:
    """What the run noted in the schema."""

    def rows(table: str) -> list[dict[str, object]]:
        return control.execute(
            sql.SQL("select * from {}").format(sql.Identifier(standing.name, table)).as_bytes()
        ).fetchall()

    statements = [str(row["statement"]) for row in rows("teardown")]
    return Kept(
        mark=standing.mark or "",
        made=standing.made,
        address=identity(control).address,
        changed=tuple(_changed(row) for row in rows("parameter_journal")),
        teardown=";\n".join(statements),
    )


def _changed(row: Mapping[str, object]) -> Changed:
    value = str(row["value_before"])
    if "values_set" not in row:  # A run of an older version noted no more.
        return Changed(str(row["parameter"]), value, value if row["in_auto_conf"] else None)
    line, values = row["line_before"], row["values_set"]
    assert isinstance(values, list), "the column is an array"
    return Changed(str(row["parameter"]), value, None if line is None else str(line), tuple(values))
