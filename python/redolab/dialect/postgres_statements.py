"""How a setting of PostgreSQL is put in force and undone: ALTER SYSTEM, ALTER ROLE, SET.

Source: PostgreSQL manual, "ALTER SYSTEM", "ALTER ROLE", "SET", "Write Ahead Log" (runtime configuration).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from redolab.dialect.statements import Assignment, Way
from redolab.units import listed

ROLE = "app"
"""A placeholder for the application's role, whose name Redolab does not know."""
_RELOAD = "SELECT pg_reload_conf();"
_OF_SESSIONS = frozenset({"synchronous_commit", "commit_delay", "commit_siblings"})
"""Parameters of commits of which a session can have a value of its own."""
OF_SERVER = frozenset({"wal_writer_delay", "wal_writer_flush_after"})
"""Parameters of commits that only the whole server can have."""
# Of each such parameter a text in quotes would be one element of its list.
_LISTS = frozenset(
    {
        "search_path", "temp_tablespaces", "session_preload_libraries", "shared_preload_libraries",
        "local_preload_libraries", "unix_socket_directories",
    }
)  # fmt: skip
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?")
_PLAIN_VALUE = re.compile(r"on|off|-?\d{1,18}")
_SERVER = (
    "Every session that has no value of its own (SET, ALTER ROLE or ALTER DATABASE), at once and after a "
    "restart too. Needs a superuser, or GRANT ALTER SYSTEM ON PARAMETER for each parameter."
)
_SERVER_TOO = " Parameters that only the whole server can have are set for all of its sessions, at once."
_SUPERUSER = " commit_delay needs a superuser, or GRANT SET ON PARAMETER commit_delay."
_NOT_KNOWN = (
    " The values of {names} before the change are not known here, and RESET removes whatever ALTER SYSTEM "
    "has written: look at the values before the change, and set them again to undo it."
)
_TAKES_AWAY = (
    " RESET removes the role's own value, even one from before this change: look at the value before the "
    "change, and set it again to undo the change."
)
_HAD_ITS_OWN = " The role had values of its own: the undo sets these values again."
_ONE_DATABASE = " The role also has values for one database, which come first in that database: {names}."
_OWN_VALUES = (
    "SELECT s.setdatabase, s.setconfig FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole "
    "WHERE r.rolname = 'app';"
)
_LINES = (
    "SELECT name, setting FROM pg_file_settings WHERE name IN ({names}) AND sourcefile LIKE "
    "'%postgresql.auto.conf';"
)
_MOST_ROLES = 3
"""Roles with values of their own that get a way by their name."""


def ways(assigned: Sequence[Assignment]) -> tuple[Way, ...]:
    """The whole server; and where a session can have values of its own, one role or one session.

    Each way sets every parameter. Whatever only the whole server can have is set there in all of them. A role
    that had values of its own before has a way by its name, in addition.
    """
    own = [item for item in assigned if _is_of_sessions(item)]
    system = [item for item in assigned if item not in own]
    reach = _SERVER + _unknown(assigned)
    found = [Way("server", reach, _altered(assigned), _altered_back(assigned), look=_written(assigned))]
    if own:
        too = (_SERVER_TOO if system else "") + _unknown(system)
        needs = _SUPERUSER if any(item.parameter == "commit_delay" for item in own) else ""
        found += [
            _of_role(ROLE, own, system, needs + too),
            Way(
                "session",
                f"One session, at once and until it ends.{needs}{too}",
                (*_altered(system), *(f"SET {_assignment(item)};" for item in own)),
                (*_altered_back(system), *(f"RESET {_name(item.parameter)};" for item in own)),
                lasts=False,
                look=_written(system),
            ),
            *(_of_role(role, own, system, needs + too) for role in _roles(own)),
        ]
    return tuple(found)


def _of_role(role: str, own: Sequence[Assignment], system: Sequence[Assignment], more: str) -> Way:
    """The way for one role; `ROLE` is a placeholder, and any other is a role of the server."""
    placeholder = role == ROLE
    name = role if placeholder else _quoted(role)
    former = {item.parameter: _former(item, role) for item in own}
    who = f"one role, from its next connection on; replace {ROLE} by the role of your application"
    if not placeholder:
        who = f"the role {role}, from its next connection on"
    known = any(value is not None for value in former.values())
    elsewhere = sorted(
        f"{item.parameter} in {it.database}"
        for item in own
        for it in item.of_roles or ()
        if it.role == role and it.database
    )
    reach = (
        f"Every session of {who}.{more}"
        + _HAD_ITS_OWN * known
        + (_ONE_DATABASE.format(names=", ".join(elsewhere)) if elsewhere else "")
        + _TAKES_AWAY * placeholder
    )
    look = (*_written(system), _OWN_VALUES) if placeholder else _written(system)
    return Way(
        "role",
        reach,
        (*_altered(system), *(f"ALTER ROLE {name} SET {_assignment(item)};" for item in own)),
        (
            *_altered_back(system),
            *(f"ALTER ROLE {name} {_back_in_role(item, former[item.parameter])};" for item in own),
        ),
        look=look,
    )


def _roles(own: Sequence[Assignment]) -> list[str]:
    """The roles that had a value of their own for all databases, in the order in which they were read."""
    named = [it.role for item in own for it in item.of_roles or () if not it.database and it.role != ROLE]
    return list(dict.fromkeys(named))[:_MOST_ROLES]


def _former(item: Assignment, role: str) -> str | None:
    """The value that a role had of its own for all databases; None without one, and where it is not known."""
    return next((it.value for it in item.of_roles or () if it.role == role and not it.database), None)


def _back_in_role(item: Assignment, former: str | None) -> str:
    name = _name(item.parameter)
    return f"RESET {name}" if former is None else f"SET {name} = {_value(item.parameter, former)}"


def _blind(assigned: Sequence[Assignment]) -> list[Assignment]:
    """Assignments whose undo may take out a line that ALTER SYSTEM wrote before."""
    return [item for item in assigned if item.before is None and item.altered is not False]


def _unknown(assigned: Sequence[Assignment]) -> str:
    names = [item.parameter for item in _blind(assigned)]
    return _NOT_KNOWN.format(names=listed(names)) if names else ""


def _written(assigned: Sequence[Assignment]) -> tuple[str, ...]:
    """A statement that shows lines which ALTER SYSTEM has written and the undo may take out."""
    names = ", ".join(_literal(item.parameter) for item in _blind(assigned))
    return (_LINES.format(names=names),) if names else ()


def _is_of_sessions(item: Assignment) -> bool:
    known = item.parameter in _OF_SESSIONS
    return known or (item.scope != "system" and item.parameter not in OF_SERVER)


def _altered(assigned: Sequence[Assignment]) -> tuple[str, ...]:
    lines = tuple(f"ALTER SYSTEM SET {_assignment(item)};" for item in assigned)
    return (*lines, _RELOAD) if lines else ()


def _altered_back(assigned: Sequence[Assignment]) -> tuple[str, ...]:
    lines = tuple(_back(item) for item in assigned)
    return (*lines, _RELOAD) if lines else ()


def _back(item: Assignment) -> str:
    """Take the line out again that ALTER SYSTEM writes; or write the former value, where there was a line.

    Where it is not known whether there was one, the former value is right in both cases.
    """
    if item.altered is False or item.before is None:
        return f"ALTER SYSTEM RESET {_name(item.parameter)};"
    return f"ALTER SYSTEM SET {_name(item.parameter)} = {_value(item.parameter, item.before)};"


def _assignment(item: Assignment) -> str:
    return f"{_name(item.parameter)} = {_value(item.parameter, item.value)}"


def _name(parameter: str) -> str:
    if _PLAIN_NAME.fullmatch(parameter):
        return parameter
    return ".".join(_quoted(part) for part in parameter.split("."))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(parameter: str, value: str) -> str:
    if parameter.lower() in _LISTS:
        return ", ".join(_literal(part.strip().strip('"')) for part in value.split(","))
    return value if _PLAIN_VALUE.fullmatch(value) else _literal(value)


def _literal(value: str) -> str:
    text = value.replace("'", "''")
    return "E'" + text.replace("\\", "\\\\") + "'" if "\\" in text else f"'{text}'"
