"""Parameters of a server before a run or a watch: their values, where these come from, and whose they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import psycopg

from redolab.dialect.statements import RoleValue
from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.postgres.parameters.system import OF_THIS_SESSION, Lines
from redolab.records.parameter_before import ParameterBefore

_SESSION_CONTEXTS = ("user", "superuser")
_MOST_VALUES = 1000
"""Values of roles that are kept; with more of them it counts as not known which role has one."""


@dataclass(frozen=True)
class Parameter:
    """One server parameter as it was before the run."""

    name: str
    value: str
    session_settable: bool
    source: str
    """Where the value comes from, as `pg_settings.source` has it."""
    in_auto_conf: bool
    may_set: bool
    may_alter_system: bool


def read_parameters(connection: Connection, names: Iterable[str]) -> dict[str, Parameter]:
    """Read parameters by name, with what this role may do to them."""
    return {
        row["name"]: Parameter(
            name=row["name"],
            value=row["value"],
            session_settable=row["context"] in _SESSION_CONTEXTS,
            source=row["source"],
            in_auto_conf=row["in_auto_conf"],
            may_set=row["may_set"] or row["context"] == "user",
            may_alter_system=row["may_alter_system"],
        )
        for row in fetch(connection, "select_parameters", {"names": list(names)})
    }


def parameters_before(
    connection: Connection,
    parameters: Iterable[Parameter],
    lines: Lines | None = None,
    asked: Collection[str] = (),
) -> list[ParameterBefore]:
    """Parameters as they are now, with what ALTER SYSTEM and ALTER ROLE say of them; only read.

    Args:
        connection: any to the server.
        parameters: as this connection sees them.
        lines: of postgresql.auto.conf; None where they were not read.
        asked: the parameters whose lines were read.
    """
    known = list(parameters)
    of_roles = _of_roles(connection, [parameter.name for parameter in known])
    return [
        _before(
            parameter,
            Lines({}) if lines is None else lines,
            asked,
            None if of_roles is None else tuple(value for name, value in of_roles if name == parameter.name),
        )
        for parameter in known
    ]


def _before(
    parameter: Parameter, lines: Lines, asked: Collection[str], of_roles: Sequence[RoleValue] | None
) -> ParameterBefore:
    """A parameter, with whether ALTER SYSTEM wrote its value, as far as that is seen.

    A value of this role's or this database's own hides the server's, and where the server's comes from.
    """
    name = parameter.name
    if name in lines.values:
        written = None if parameter.source in OF_THIS_SESSION else parameter.value
        return ParameterBefore(name, written, altered=True, of_roles=of_roles)
    if parameter.source in OF_THIS_SESSION:
        return ParameterBefore(name, None, altered=None if name not in asked else False, of_roles=of_roles)
    if parameter.in_auto_conf:
        return ParameterBefore(name, parameter.value, altered=True, of_roles=of_roles)
    hidden = name in lines.unseen or (name not in asked and parameter.source == "configuration file")
    return ParameterBefore(name, parameter.value, altered=None if hidden else False, of_roles=of_roles)


def _of_roles(connection: Connection, names: Sequence[str]) -> list[tuple[str, RoleValue]] | None:
    """Values that roles have of their own, by parameter; None where they may not be read, or are too many."""
    try:
        rows = fetch(connection, "select_role_values", {"names": list(names), "most": _MOST_VALUES + 1})
    except psycopg.errors.InsufficientPrivilege:
        return None
    if len(rows) > _MOST_VALUES:
        return None
    return [(row["name"], RoleValue(row["role"], row["value"], row["database"])) for row in rows]
