"""Rights of an Oracle user: the views it may see, the grants it lacks, and the script for a user with all.

A view that a user may not see does not exist for that user (ORA-00942), so each statement is tried as it is.
Source: Oracle Database Reference, "About Dynamic Performance Views"; SQL Language Reference, "GRANT".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import oracledb

from redolab.engine.oracle.connecting.connection import Connection, fetch, release
from redolab.engine.oracle.connecting.driver_errors import NOT_SEEN, error_codes
from redolab.engine.oracle.statements import find

NEEDED = ("select_sessions", "select_session_waits", "select_session_times")
"""Statements that are needed to show anything of a database at work."""
LOST: Mapping[str, str] = {
    "select_waits": "average waits of the whole instance",
    "select_times": "CPU of sessions that ended",
    "select_statistics": "commits, and what was written to the log",
    "select_histograms": "histograms of log sync and log write",
    "select_machine": "how busy the database's machine was",
    "select_instance": "whether the instance was restarted",
    "select_parameters": "parameters such as TIMED_STATISTICS",
}
"""Optional statements, each with the figures that are lost without it."""
OF_SCANS = ("select_session_statistics",)
"""Statements whose views runs of scans need to see in addition."""
_ROOT = 1
_COMMON = "C##REDOLAB"
_ALL_DATA = "ALTER USER {} SET CONTAINER_DATA=ALL CONTAINER=CURRENT;"


def unseen(connection: Connection, names: Iterable[str]) -> dict[str, list[str]]:
    """The statements that this user may not execute, each with the views that it lacks.

    Raises:
        oracledb.Error: one failed for another reason.
    """
    views = {}
    for name in names:
        try:
            fetch(connection, name)
        except oracledb.Error as error:
            if NOT_SEEN.isdisjoint(error_codes(error)):
                raise
            views[name] = list(find(name, release(connection)).privileges)
    return views


def grants(views: Iterable[str], user: str) -> str:
    """The statements that let a user read views, as one text.

    >>> grants(["SYS.V_$SESSION"], "SHOP")
    'GRANT SELECT ON SYS.V_$SESSION TO "SHOP";'
    """
    who = quoted(user)
    return " ".join(f"GRANT SELECT ON {view} TO {who};" for view in dict.fromkeys(views))


def script(version: int, container: int) -> list[str]:
    """The statements with which an administrator makes a user for profiles and runs; in the root no runs.

    Args:
        version: the server's release, as major * 100 + minor.
        container: number of the container that the user is made in: 1 is the root.
    """
    name = _COMMON if container == _ROOT else "REDOLAB"
    all_containers = " CONTAINER=ALL" if container == _ROOT else ""
    names = (*NEEDED, *LOST, *(() if container == _ROOT else OF_SCANS))
    views = [view for each in names for view in find(each, version).privileges]
    # A profile needs neither of these two.
    tables = "" if container == _ROOT else f"ALTER USER {name} QUOTA 1G ON USERS;"
    return [
        f'CREATE USER {name} IDENTIFIED BY "a password of yours"{all_containers};',
        f"GRANT CREATE SESSION TO {name}{all_containers};",
        *(f"GRANT SELECT ON {view} TO {name}{all_containers};" for view in dict.fromkeys(views)),
        # Without it a user of the root is shown nothing of its containers.
        *((f"GRANT CREATE TABLE TO {name};", tables) if tables else (_ALL_DATA.format(name),)),
    ]


def quoted(name: str) -> str:
    """An identifier as a statement has it, whatever is in it.

    >>> quoted('we"ird')
    '"weird"'
    """
    # Oracle allows no quotation mark in a name, in any way.
    return '"' + name.replace('"', "") + '"'
