"""Redolab's tables in a user's own schema: whose they are, how they are claimed, and how they are dropped.

All begin with REDOLAB_. They count as Redolab's own only if REDOLAB_RUN has a mark that this machine kept. An
empty one counts where this machine kept a mark for this schema: a run that was killed between two statements
leaves it so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import oracledb

from redolab.engine.oracle.connecting.driver_errors import error_codes, error_text
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.private.marks import Marks
from redolab.errors import RefusedError

MARKS = Marks("oracle-schemas")
"""Marks of tables in schemas, each with the place of its schema."""
RUN = "REDOLAB_RUN"
_GONE = "ORA-00942"
_BUSY = "ORA-00054"


def schema_place(database: str, user: str) -> str:
    """The key by which this machine distinguishes schemas."""
    return f"{database} {user}"


def own_tables(control: Statements) -> list[str]:
    """The tables in the schema that have Redolab's names, REDOLAB_RUN last."""
    names = [str(row["table_name"]) for row in control.rows("select_own_tables")]
    return sorted(names, key=lambda name: (name == RUN, name))


def check_unclaimed(
    control: Statements, living: Collection[tuple[int, int]], marks: Mapping[str, str], place: str
) -> bool:
    """Make sure that Redolab's names are free, or held by what a killed run of this machine left.

    Args:
        control: asked.
        living: SID and SERIAL# of every session of the instance.
        marks: those that this machine kept, each with its place.
        place: of the schema.

    Returns whether something was left.

    Raises:
        RefusedError: another run is at work, or the tables are not provably Redolab's.
    """
    names = own_tables(control)
    if not names:
        return False
    rows = control.rows("select_run") if RUN in names else []
    for row in rows:
        if (int(row["sid"]), int(row["serial"])) in living:
            raise RefusedError(
                "Another Redolab run is at work in this schema, or its guard is cleaning up (SID "
                f"{row['sid']}): two runs would spoil each other's figures. Wait for the end of that run, or "
                "use another user."
            )
    own_marks = {str(row["mark"]) for row in rows} & marks.keys() if rows else place in marks.values()
    if own_marks and RUN in names:
        return True
    raise RefusedError(
        f"The schema has tables with Redolab's names ({', '.join(names[:3])}), and it is not proved that "
        "this Redolab made them. Redolab never touches such tables. If a killed run left these tables, start "
        "a run as the same user on the same machine: the new run drops them first. Or drop the tables "
        "REDOLAB_% by hand. Nothing was changed."
    )


def claim(control: Statements, mark: str) -> None:
    """Make REDOLAB_RUN, which bears the mark.

    Raises:
        RefusedError: this user may not make tables; the text says what mends it.
    """
    try:
        control.run("create_run")
        note_holder(control, mark, "run")
    except oracledb.Error as error:
        raise RefusedError(
            f"{error_text(error)}. {_MENDS.get(error_codes(error)[-1], '')}".rstrip()
        ) from error


def note_holder(control: Statements, mark: str, role: str) -> None:
    """Note a session that answers for the tables."""
    values = {"mark": mark, "role": role, "sid": control.sid, "serial": control.serial}
    control.run("insert_run", values=values)
    control.commit()


def drop_tables(control: Statements) -> None:
    """Drop every table of Redolab's, REDOLAB_RUN last.

    Raises:
        RefusedError: one could not be dropped; the text says why, and what is left to do.
    """
    names = own_tables(control)
    for name in names:
        try:
            control.run("drop_table", {"table": name})
        except oracledb.Error as error:
            codes = error_codes(error)
            if _GONE in codes:
                continue
            why = "a session still uses it" if _BUSY in codes else error_text(error)
            raise RefusedError(
                f"The table {name} could not be dropped: {why}. Nothing else was changed. The next run of "
                "this user from this machine drops that table first; or drop it by hand with DROP TABLE."
            ) from error
    if names and (left := own_tables(control)):
        raise RefusedError(
            f"Redolab dropped its tables, but {', '.join(left[:3])} exists again. Find out who created that "
            "table, and drop it with DROP TABLE."
        )


_MENDS = {
    "ORA-01031": "An administrator can GRANT CREATE TABLE TO this user.",
    "ORA-01950": "An administrator can ALTER USER ... QUOTA 1G ON the user's default tablespace.",
    "ORA-01536": "An administrator can raise this user's quota on its default tablespace.",
}
