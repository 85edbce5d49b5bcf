"""How a setting of MariaDB or MySQL is put in force and undone: SET GLOBAL, SET PERSIST, an option file.

Source: MySQL Reference Manual, "SET Syntax for Variable Assignment", "Persisted System Variables"; MariaDB
documentation, "SET" and "Configuring MariaDB with Option Files".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from redolab.dialect import innodb
from redolab.dialect.statements import Assignment, Way
from redolab.units import listed

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_NUMBER = re.compile(r"-?\d{1,20}(\.\d{1,20})?")
_PRIVILEGE = "Needs SUPER, or in MySQL SYSTEM_VARIABLES_ADMIN."
_AT_ONCE = "The whole server, all sessions at once"
_LATER = "The whole server; values that sessions take over hold from their next connection on"
_NOT_KNOWN = (
    " The values of {names} before the change are not known here, so the undo lacks these values: look at "
    "them before the change, and set them again to undo it."
)


def ways_of_mariadb(assigned: Sequence[Assignment]) -> tuple[Way, ...]:
    """SET GLOBAL, and lines of an option file for after a restart."""
    return (_globally(assigned), _in_option_file(assigned))


def ways_of_mysql(assigned: Sequence[Assignment]) -> tuple[Way, ...]:
    """SET GLOBAL, and SET PERSIST, which a restart does not undo."""
    reach = (
        f"{_reach(assigned)}, and after a restart too. {_PRIVILEGE} The undo leaves the former values in "
        f"mysqld-auto.cnf; RESET PERSIST with a parameter's name takes its line out.{_unknown(assigned)}"
    )
    lines = tuple(_set("PERSIST", item.parameter, item.value) for item in assigned)
    lasting = Way("server", reach, lines, _undone("PERSIST", assigned), look=_shown(assigned))
    return (_globally(assigned), lasting)


def _globally(assigned: Sequence[Assignment]) -> Way:
    reach = f"{_reach(assigned)}, until its next restart. {_PRIVILEGE}{_unknown(assigned)}"
    lines = tuple(_set("GLOBAL", item.parameter, item.value) for item in assigned)
    return Way("server", reach, lines, _undone("GLOBAL", assigned), lasts=False, look=_shown(assigned))


def _in_option_file(assigned: Sequence[Assignment]) -> Way:
    former = [f"{item.parameter} = {_option(item.before)}" for item in assigned if item.before is not None]
    reach = (
        "The whole server from its next restart on: lines of an option file such as my.cnf. Together with "
        f"SET GLOBAL no restart is needed.{_unknown(assigned)}"
    )
    return Way(
        "server",
        reach,
        ("[mysqld]", *(f"{item.parameter} = {_option(item.value)}" for item in assigned)),
        ("[mysqld]", *former) if former else (),
        restart=True,
        language="my.cnf",
        look=_shown(assigned),
    )


def _reach(assigned: Sequence[Assignment]) -> str:
    return _AT_ONCE if all(item.parameter in innodb.PARAMETERS for item in assigned) else _LATER


def _undone(how: str, assigned: Sequence[Assignment]) -> tuple[str, ...]:
    """The former values, as far as they are known: the one that the server was built with may be another."""
    return tuple(_set(how, item.parameter, item.before) for item in assigned if item.before is not None)


def _unknown(assigned: Sequence[Assignment]) -> str:
    names = [item.parameter for item in assigned if item.before is None]
    return _NOT_KNOWN.format(names=listed(names)) if names else ""


def _shown(assigned: Sequence[Assignment]) -> tuple[str, ...]:
    """A statement that shows the values that are not known here."""
    names = [f"@@GLOBAL.{_name(item.parameter)}" for item in assigned if item.before is None]
    return (f"SELECT {', '.join(names)};",) if names else ()


def _set(how: str, parameter: str, value: str) -> str:
    return f"SET {how} {_name(parameter)} = {_value(value)};"


def _name(parameter: str) -> str:
    return parameter if _PLAIN_NAME.fullmatch(parameter) else "`" + parameter.replace("`", "``") + "`"


def _value(value: str) -> str:
    if _NUMBER.fullmatch(value):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _option(value: str) -> str:
    if re.fullmatch(r"[\w.:/,-]+", value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
