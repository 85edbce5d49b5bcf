"""Putting somebody's database back: after a run, after a killed one, from any later process."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import psycopg

from redolab.engine.postgres.connecting.connection import Connection, list_names
from redolab.engine.postgres.own.schema import MARKS, Standing, confirmed_here, find_schema
from redolab.engine.postgres.parameters.alter_system import alter_system, reload_configuration
from redolab.errors import RedolabError, RefusedError


def recover(control: Connection, marks: Collection[str]) -> bool:
    """Put back every parameter in the journal, verify it, and drop Redolab's schema.

    Nothing is touched where the schema is not proved to be Redolab's own. Safe to run again after any
    interruption: the journal goes last.

    Args:
        control: connected to the database, whose server this process has taken.
        marks: those that prove a schema to be one's own.

    Returns whether there was something to put back.

    Raises:
        RefusedError: something could not be put back; the text says what, and what is left to do.
    """
    left = ""
    try:
        standing = find_schema(control, marks)
        if standing is None or standing.doubt:
            return False
        # Sessions of a killed run may still loop, and would hold up the drop.
        control.execute(
            "select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity "
            "where usename = current_user and datname = pg_catalog.current_database() "
            "and application_name like 'redolab session %'"
        )
        rows = control.execute(
            "select parameter, value_before, in_auto_conf from redolab.parameter_journal"
        ).fetchall()
        before = {row["parameter"]: row["value_before"] for row in rows}
        left = _by_hand(before)
        for row in rows:
            alter_system(control, row["parameter"], row["value_before"] if row["in_auto_conf"] else None)
        if before:
            reload_configuration(control, before)
        left = (
            " Every parameter is put back. The schema redolab is still there: the next run from this machine "
            "in that database drops it first, or DROP SCHEMA redolab CASCADE does."
        )
        complaint = _tear_down(control)
        with confirmed_here(control):
            control.execute("drop schema redolab cascade")
        _forget(standing)
    except (psycopg.Error, RedolabError) as error:
        text = " ".join(str(error).split()).rstrip(".")
        raise RefusedError(f"Redolab could not put everything back: {text}.{left}") from error
    if complaint:
        raise RefusedError(complaint)
    return True


def _by_hand(before: Mapping[str, str]) -> str:
    if not before:
        return ""
    wanted = ", ".join(f"{name} = {value}" for name, value in before.items())
    return (
        f" The server's parameters stood at {wanted}; set them with ALTER SYSTEM and pg_reload_conf() as a "
        "superuser. redolab.parameter_journal keeps the list until then."
    )


def _forget(standing: Standing) -> None:
    if standing.mark:
        MARKS.forget(standing.mark)


def _tear_down(control: Connection) -> str:
    """Execute the teardown of a user's own list; what went wrong, or nothing."""
    try:
        statements = control.execute("select statement from redolab.teardown").fetchall()
        for row in statements:
            with list_names(control):
                control.execute(row["statement"])
    except psycopg.Error as error:
        text = " ".join(str(error).split())
        return (
            f"The teardown of the list failed: {text}. Redolab's schema is dropped; what the list made "
            "outside it may still be there."
        )
    return ""
