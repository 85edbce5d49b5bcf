"""Parameters that ALTER SYSTEM changes: how the lines of postgresql.auto.conf are read and put back."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql

from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.postgres.connecting.driver_errors import in_one_line
from redolab.engine.postgres.parameters.alter_system import (
    HIDDEN,
    RELOAD_LIMIT_S,
    alter_system,
    reload_first,
)
from redolab.engine.postgres.parameters.text import same_value
from redolab.engine.server.kept import Changed
from redolab.engine.server.putting_back import ServerParameters
from redolab.errors import RefusedError

LINES = "select_lines"
"""The statement that reads them, where this role may."""
WRITTEN = "select_written"
"""The statement that reads the values in force instead of them."""
_POLL_S = 0.005
# A role's or a database's setting hides from a session what the server has.
OF_THIS_SESSION = ("database", "user", "database user", "client", "session")
"""Sources of a value, as `pg_settings.source` has them, that are not the server's."""


@dataclass(frozen=True)
class Lines:
    """Lines that ALTER SYSTEM has written for some parameters."""

    values: Mapping[str, str]
    """Lines by parameter; a parameter without a line is not in it."""
    kinds: Mapping[str, tuple[str | None, str]] = field(default_factory=dict)
    """Unit and type of each, where values are not as written but as the server shows them after a reload."""
    unseen: frozenset[str] = frozenset()
    """Parameters that this session cannot see, because its role or database has a value of its own."""

    @property
    def exact(self) -> bool:
        """Whether they are as written; else `1000ms` may appear there as `1s`."""
        return not self.kinds


def read_lines(control: Connection, names: Collection[str]) -> Lines:
    """The lines of postgresql.auto.conf for these parameters.

    Raises:
        RefusedError: this role may see neither the lines nor where the value in force comes from.
    """
    try:
        return as_lines(fetch(control, LINES, {"names": list(names)})) if names else Lines({})
    except HIDDEN:
        return as_lines(_read_written(control, names))


def as_lines(rows: Sequence[Mapping[str, Any]]) -> Lines:
    """The lines from the rows of one of the two statements.

    Raises:
        RefusedError: of the second, that this role may not see where a value comes from.
    """
    if not all("sees" in row for row in rows):
        return Lines({row["name"]: row["line"] for row in rows})
    if not all(row["sees"] for row in rows):
        raise RefusedError(
            "This role may not see where a parameter's value comes from: it lacks pg_read_all_settings."
        )
    return Lines(
        {row["name"]: row["value"] for row in rows if row["written"]},
        {row["name"]: (row["unit"], row["vartype"]) for row in rows},
        frozenset(row["name"] for row in rows if row["source"] in OF_THIS_SESSION),
    )


def _read_written(control: Connection, names: Iterable[str]) -> list[dict[str, Any]]:
    return fetch(control, WRITTEN, {"names": list(names)})


class SystemParameters(ServerParameters):
    """Parameters of one server."""

    errors = (psycopg.Error,)

    def __init__(self, control: Connection) -> None:
        """Take the connection, which sets none of them for itself."""
        self._control = control

    def seen(self, changed: Collection[Changed]) -> Mapping[str, str | None]:
        """The lines; where they may not be read, the values in force after a reload show them."""
        names = [one.name for one in changed]
        lines = read_lines(self._control, names)
        if not lines.exact:
            # What a colleague has written and not reloaded is not seen before.
            reload_first(self._control)
            lines = read_lines(self._control, names)
        return {one.name: _as_given(one, lines) for one in changed}

    def put(self, one: Changed) -> None:
        """Write the line, or take it out."""
        alter_system(self._control, one.name, one.before)

    def in_force(self, changed: Collection[Changed]) -> Mapping[str, str]:
        """The values in force after a reload."""
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
        """As they are in the file, where each is text."""
        return one == other or (one is not None and other is not None and one.casefold() == other.casefold())

    def statement(self, one: Changed) -> str:
        """ALTER SYSTEM, and a reload."""
        name = sql.Identifier(one.name).as_string()
        if one.before is None:
            return f"ALTER SYSTEM RESET {name}; SELECT pg_reload_conf();"
        return f"ALTER SYSTEM SET {name} = {sql.Literal(one.before).as_string()}; SELECT pg_reload_conf();"

    def words(self, error: Exception) -> str:
        """The error in one line."""
        return in_one_line(error).rstrip(".")

    def _force(self, changed: Collection[Changed]) -> dict[str, str]:
        """Values in force of the parameters that are not as before."""
        rows = _read_written(self._control, [one.name for one in changed])
        before = {one.name: one.value for one in changed}
        return {
            row["name"]: row["value"]
            for row in rows
            if row["source"] not in OF_THIS_SESSION
            and not same_value(row["value"], before[row["name"]], row["unit"], row["vartype"])
        }


def _as_given(one: Changed, found: Lines) -> str | None:
    """The line, in the words in which the value was given: the server shows `1000ms` as `1s`."""
    if one.name in found.unseen:
        return one.ours[-1] if one.ours else one.before
    value = found.values.get(one.name)
    if value is None or found.exact:
        return value
    given = (it for it in (one.before, *one.ours) if it is not None)
    return next((it for it in given if same_value(value, it, *found.kinds[one.name])), value)
