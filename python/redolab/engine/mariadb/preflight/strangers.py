"""Other users that could have SQL executed by a run: those that may replace one of its tables by a view.

The functions that a view calls are called with the rights of whoever reads it, so with the rights of the run.
"""

from __future__ import annotations

import pymysql

from redolab.engine.mariadb.connection import Connection, ask, fetch
from redolab.engine.mariadb.observer.server import quoted
from redolab.engine.mariadb.preflight.server import Facts
from redolab.errors import RefusedError

_MOST_NAMED = 5


def check_strangers(control: Connection, server: Facts) -> None:
    """Make sure that nobody else may, as far as this user can see.

    Args:
        control: connected as the user of the run.
        server: who and what it is.

    Raises:
        RefusedError: somebody may; the text says who, and how to take that right away.
    """
    rows = fetch(control, "select_strangers", 500, parameters=(quoted(server["role"]),))
    names = [str(next(iter(row.values()))) for row in rows]
    if not names:
        return
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    raise RefusedError(
        f"Other users may create views in the database redolab: {', '.join(names[:_MOST_NAMED])}{more}. If "
        "one of these users put a view in the place of one of Redolab's tables, that user's SQL would run "
        f"with the rights of this run. As an administrator, look with SHOW GRANTS FOR {names[0]}, and REVOKE "
        "CREATE VIEW where that right covers the database redolab. Nothing was changed."
    )


def unseen(control: Connection) -> str:
    """A sentence where this user may not see who else has rights; nothing where it may."""
    try:
        ask(control, "select 1 from mysql.db limit 1")
    except pymysql.Error:
        return (
            "This user cannot see whether others may create views in the database redolab. A user with that "
            "right could have SQL executed with the rights of Redolab's user; a run that finds a view in "
            "that database ends."
        )
    return ""
