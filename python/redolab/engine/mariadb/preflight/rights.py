"""The rights of a user on a server, read from SHOW GRANTS, and the grants that a run lacks.

SHOW GRANTS without a name also shows the roles in force. Nothing is tried, so nothing is changed. Source:
MariaDB documentation, "GRANT" and "SUPER"; MySQL Reference Manual, "Privileges Provided by MySQL".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from redolab.engine.mariadb.connection import Connection, ask
from redolab.engine.mariadb.observer.server import quoted
from redolab.engine.mariadb.preflight.server import Facts
from redolab.errors import RefusedError

_GRANT = re.compile(r"(GRANT|REVOKE) (.+?) ON (\*\.\*|`(?:[^`]|``)+`\.\*) (?:TO|FROM) ")
# Column lists belong to grants on a table, which count for nothing here.
_EVERYTHING = ("ALL PRIVILEGES", "ALL")
_IN_DATABASE = ("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP")
_INSTRUMENTS = "performance_schema"
# The first MariaDB whose SUPER holds no other privilege.
_SUPER_ALONE = 1100


@dataclass(frozen=True)
class Grants:
    """The privileges in force, by where they hold: `*` for everywhere, else the pattern of a database."""

    given: Sequence[tuple[str, frozenset[str]]]
    taken: Sequence[tuple[str, frozenset[str]]]
    """Partial revokes of MySQL."""

    def has(self, privilege: str, database: str = "") -> bool:
        """Whether a privilege is there.

        Args:
            privilege: in capitals.
            database: where; everywhere when left out.
        """

        def found(entries: Iterable[tuple[str, frozenset[str]]], everywhere: bool) -> bool:
            return any(
                (everywhere if where == "*" else bool(database) and _covers(where, database))
                and (privilege in privileges or not privileges.isdisjoint(_EVERYTHING))
                for where, privileges in entries
            )

        return found(self.given, True) and not found(self.taken, False)


def read_grants(control: Connection) -> Grants:
    """The privileges of the connected user, and of its roles in force."""
    return parse_grants(str(next(iter(row.values()))) for row in ask(control, "show grants"))


def parse_grants(lines: Iterable[str]) -> Grants:
    """Privileges from the lines of SHOW GRANTS; those on single tables are left out."""
    given: list[tuple[str, frozenset[str]]] = []
    taken: list[tuple[str, frozenset[str]]] = []
    for line in lines:
        grant = _GRANT.match(line)
        if grant:
            where = "*" if grant[3] == "*.*" else grant[3][1:-3].replace("``", "`")
            privileges = frozenset(part.strip().upper() for part in grant[2].split(","))
            (given if grant[1] == "GRANT" else taken).append((where, privileges))
    return Grants(tuple(given), tuple(taken))


def check_rights(control: Connection, server: Facts, parameters: Collection[str]) -> None:
    """Make sure that this user may make the database and change the parameters.

    Args:
        control: connected as that user.
        server: who and what it is.
        parameters: of the whole server, that the run changes.

    Raises:
        RefusedError: it may not; the text has every GRANT that it lacks.
    """
    lacking = missing_grants(read_grants(control), server, parameters)
    if lacking:
        raise RefusedError(
            f"The user {server['role']} lacks rights that this run needs. An administrator grants these "
            f"rights with: {'; '.join(lacking)}. Nothing was changed."
        )


def missing_grants(grants: Grants, server: Facts, parameters: Collection[str]) -> list[str]:
    """The statements that give what is lacking."""
    user = quoted(server["role"])
    statements = []
    inside = [privilege for privilege in _IN_DATABASE if not grants.has(privilege, "redolab")]
    if inside:
        statements.append(f"GRANT {', '.join(inside)} ON `redolab`.* TO {user}")
    everywhere = [] if grants.has("PROCESS") else ["PROCESS"]
    everywhere += _for_parameters(grants, server, parameters)
    if everywhere:
        statements.append(f"GRANT {', '.join(everywhere)} ON *.* TO {user}")
    if server["flavour"] == "mysql" and not grants.has("SELECT", _INSTRUMENTS):
        statements.append(f"GRANT SELECT ON `{_INSTRUMENTS}`.* TO {user}")
    return statements


def _for_parameters(grants: Grants, server: Facts, parameters: Collection[str]) -> list[str]:
    if not parameters:
        return []
    if server["flavour"] == "mysql":
        may = grants.has("SYSTEM_VARIABLES_ADMIN") or grants.has("SUPER")
        return [] if may else ["SYSTEM_VARIABLES_ADMIN"]
    of_binlog = {name for name in parameters if "binlog" in name}
    privileges = []
    has_super = grants.has("SUPER")
    if of_binlog != set(parameters) and not has_super:
        privileges.append("SUPER")
    enough = has_super and server["version"] < _SUPER_ALONE
    if of_binlog and not enough and not grants.has("BINLOG ADMIN"):
        privileges.append("BINLOG ADMIN")
    return privileges


def _covers(pattern: str, database: str) -> bool:
    """Whether the pattern of a grant names a database: % and _ match any letters there."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wanted = "".join(".*" if part == "%" else "." if part == "_" else re.escape(part[-1]) for part in parts)
    return re.fullmatch(wanted, database, re.DOTALL) is not None
