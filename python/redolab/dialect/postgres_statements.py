"""How a setting of PostgreSQL is put in force and undone: ALTER SYSTEM, ALTER ROLE, SET.

Source: PostgreSQL manual, "ALTER SYSTEM", "ALTER ROLE", "SET", "Write Ahead Log" (runtime configuration).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from redolab.dialect.statements import Assignment, Way

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
    "restart too. Needs a superuser, or GRANT ALTER SYSTEM ON PARAMETER for each."
)
_SERVER_TOO = " What only the whole server can have is set for all of its sessions, at once."
_SUPERUSER = " commit_delay needs a superuser, or GRANT SET ON PARAMETER commit_delay."


def ways(assigned: Sequence[Assignment]) -> tuple[Way, ...]:
    """The whole server; and where a session can have values of its own, one role or one session.

    Each way sets every parameter. Whatever only the whole server can have is set there in all of them.
    """
    own = [item for item in assigned if _is_of_sessions(item)]
    system = [item for item in assigned if item not in own]
    found = [Way("server", _SERVER, _altered(assigned), _altered_back(assigned))]
    if own:
        too = _SERVER_TOO if system else ""
        needs = _SUPERUSER if any(item.parameter == "commit_delay" for item in own) else ""
        found += [
            Way(
                "role",
                f"Every session of one role, from its next connection on; replace {ROLE} by the role of your "
                f"application.{needs}{too}",
                (*_altered(system), *(f"ALTER ROLE {ROLE} SET {_assignment(item)};" for item in own)),
                (
                    *_altered_back(system),
                    *(f"ALTER ROLE {ROLE} RESET {_name(item.parameter)};" for item in own),
                ),
            ),
            Way(
                "session",
                f"One session, at once and until it ends.{needs}{too}",
                (*_altered(system), *(f"SET {_assignment(item)};" for item in own)),
                (*_altered_back(system), *(f"RESET {_name(item.parameter)};" for item in own)),
                lasts=False,
            ),
        ]
    return tuple(found)


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
    return ".".join('"' + part.replace('"', '""') + '"' for part in parameter.split("."))


def _value(parameter: str, value: str) -> str:
    if parameter.lower() in _LISTS:
        return ", ".join(_literal(part.strip().strip('"')) for part in value.split(","))
    return value if _PLAIN_VALUE.fullmatch(value) else _literal(value)


def _literal(value: str) -> str:
    text = value.replace("'", "''")
    return "E'" + text.replace("\\", "\\\\") + "'" if "\\" in text else f"'{text}'"
