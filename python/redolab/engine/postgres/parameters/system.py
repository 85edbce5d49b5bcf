"""Parameters that ALTER SYSTEM changes: how the lines of postgresql.auto.conf are read and put back."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

import psycopg
from psycopg import sql

from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.postgres.parameters.alter_system import (
    HIDDEN,
    RELOAD_LIMIT_S,
    alter_system,
    reload_first,
)
from redolab.engine.postgres.parameters.text import same_value
from redolab.engine.server.kept import Changed
from redolab.engine.server.putting_back import ServerParameters

_POLL_S = 0.005
# A role's or a database's setting hides from a session what the server has.
_OF_THIS_SESSION = ("database", "user", "database user", "client", "session")


def read_lines(control: Connection, names: Collection[str]) -> dict[str, str]:
    """The lines of postgresql.auto.conf that set these parameters, as their values stand there.

    Raises:
        psycopg.errors.InsufficientPrivilege: this role may not read them.
    """
    return {row["name"]: row["line"] for row in fetch(control, "select_lines", {"names": list(names)})}


class SystemParameters(ServerParameters):
    """Those of one server."""

    errors = (psycopg.Error,)

    def __init__(self, control: Connection) -> None:
        """Take the connection, which sets none of them for itself."""
        self._control = control

    def seen(self, changed: Collection[Changed]) -> Mapping[str, str | None]:
        """The lines; where they may not be read any more, what is in force stands for them."""
        try:
            lines = read_lines(self._control, [one.name for one in changed])
        except HIDDEN:
            force = self._force(changed)
            return {one.name: force.get(one.name, one.before) for one in changed}
        return {one.name: lines.get(one.name) for one in changed}

    def put(self, one: Changed) -> None:
        """Write the line, or take it out."""
        alter_system(self._control, one.name, one.before)

    def in_force(self, changed: Collection[Changed]) -> Mapping[str, str]:
        """After a reload."""
        if not changed:
            return {}
        reload_first(self._control)
        give_up = time.monotonic() + RELOAD_LIMIT_S
        while differing := self._force(changed):
            if time.monotonic() > give_up:
                break
            time.sleep(_POLL_S)
        return differing

    def same(self, one: str | None, other: str | None) -> bool:
        """As they stand in the file, where each is text."""
        return one == other or (one is not None and other is not None and one.casefold() == other.casefold())

    def statement(self, one: Changed) -> str:
        """ALTER SYSTEM, and a reload."""
        name = sql.Identifier(one.name).as_string()
        if one.before is None:
            return f"ALTER SYSTEM RESET {name}; SELECT pg_reload_conf();"
        return f"ALTER SYSTEM SET {name} = {sql.Literal(one.before).as_string()}; SELECT pg_reload_conf();"

    def words(self, error: Exception) -> str:
        """In one line."""
        return (" ".join(str(error).split()) or type(error).__name__).rstrip(".")

    def _force(self, changed: Collection[Changed]) -> dict[str, str]:
        """What is in force, of those that are not as before."""
        rows = self._control.execute(
            "select name, pg_catalog.current_setting(name) as value, unit, vartype "
            "from pg_catalog.pg_settings where name = any(%s) and source <> all(%s)",
            ([one.name for one in changed], list(_OF_THIS_SESSION)),
        ).fetchall()
        before = {one.name: one.value for one in changed}
        return {
            row["name"]: row["value"]
            for row in rows
            if not same_value(row["value"], before[row["name"]], row["unit"], row["vartype"])
        }
