"""The schema `redolab`: how it is made, and how it is proved to be Redolab's own before it is used.

Its contents are executed: parameters are put back with ALTER SYSTEM, a list's teardown is any statement. So
it counts as Redolab's own only if the current role owns it and its lists, if these are plain tables, and if
it bears a mark that this machine kept (`MARKS`). A comment alone anybody could write.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from psycopg import sql

from redolab.engine.postgres.connecting.connection import Connection, fetch, run_script
from redolab.engine.postgres.parameters.alter_system import HIDDEN
from redolab.engine.private.marks import Marks
from redolab.engine.server.recovery import Standing

MARKS = Marks("schemas")
"""Marks of PostgreSQL, each with the name of its database."""

_COMMENT = "made by redolab; removed at the end of the run; mark {}"
_MARKED = re.compile(r"made by redolab; removed at the end of the run(?:; mark ([0-9a-f]{32}))?")


def find_schema(control: Connection, marks: Collection[str], made: str = "") -> Standing | None:
    """The schema `redolab` of this database and whether it is Redolab's own; None when it does not exist.

    Args:
        control: connected to it.
        marks: those that prove a schema to be one's own, also where somebody gave it another name.
        made: the server's number of the schema that this run made; that proves it, whatever its comment is.
    """
    comments = [_COMMENT.format(mark) for mark in marks]
    rows = fetch(control, "select_schema", {"comments": comments, "made": made})
    if not rows:
        return None
    row = rows[0]
    comment = _MARKED.fullmatch(row["comment"] or "")
    mark = comment[1] if comment else None
    doubt = odd = None
    if not row["mine"]:
        doubt = f"the role {row['owner']} owns it"
    elif row["made"] != made and not comment:
        doubt = "Redolab did not make it"
    elif row["made"] != made and mark not in marks:
        doubt = "its mark is not known on this machine"
    if not row["plain"]:
        odd = "its lists are not the plain tables that Redolab makes"
    return Standing(mark, doubt, comment is not None, row["name"], row["made"], odd=odd)


class Identity(NamedTuple):
    """A database on a server, as `Kept` has them."""

    server: str
    address: str
    database: str


def identity(control: Connection) -> Identity:
    """The server's own identity, the address where it was reached, and its number of this database."""
    info, server = control.info, ""
    with suppress(*HIDDEN):
        row = control.execute(
            "select system_identifier::text as it from pg_catalog.pg_control_system()"
        ).fetchone()
        server = str(row["it"]) if row else ""
    row = control.execute(
        "select oid::text as it from pg_catalog.pg_database "
        "where datname operator(pg_catalog.=) pg_catalog.current_database()"
    ).fetchone()
    # A name may lead elsewhere the next time.
    return Identity(server, f"{info.hostaddr or info.host}:{info.port}", str(row["it"]) if row else "")


def make_schema(control: Connection, mark: str) -> str:
    """Make the schema, bearing `mark`; returns the server's number of it, which outlives its name."""
    with confirmed_here(control):
        run_script(control, "create_schema")
        control.execute(
            sql.SQL("comment on schema redolab is {}").format(sql.Literal(_COMMENT.format(mark))).as_bytes()
        )
        rows = fetch(control, "select_schema", {"comments": [], "made": ""})
    return str(rows[0]["made"])


@contextmanager
def confirmed_here(control: Connection) -> Iterator[None]:
    """A transaction whose commit waits for this server's own log and for no standby.

    What Redolab notes belongs to this server, as its parameters do, and must not wait for an absent standby;
    it must not be lost either, where the server happens to be at nowait.
    """
    with control.transaction():
        control.execute("set local synchronous_commit = local")
        yield
