"""Taking somebody's server for a run: nobody else is at work on it, and the name of the database is free."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection
from redolab.engine.mariadb.own.recovery import recover
from redolab.engine.mariadb.own.schema import MARKS, find_database, left_here
from redolab.engine.mariadb.own.server_lock import MariadbLock
from redolab.engine.server.recovery import tell_of_copies, tell_of_killed
from redolab.errors import RefusedError


def check_unclaimed(control: Connection) -> bool:
    """Make sure, before anything is asked, that no other run is at work and that the name is free.

    Returns whether an earlier run left something, which is put back first.

    Raises:
        RefusedError: it is not so.
    """
    MariadbLock(control).check_free()
    left = left_here(control)
    tell_of_copies(left)
    # What is noted is put back first, whoever has the name by now.
    return bool(left.here) or _check_database(control, MARKS.kept())


def claim_server(control: Connection, connector: Connector) -> None:
    """Take the server for this run, and put back what a killed run of this machine left changed on it.

    Raises:
        RefusedError: another run is at work, the name is taken, or something cannot be put back.
    """
    MariadbLock(control).take_for_run()
    for finished in recover(control, connector):
        tell_of_killed(finished)
    _check_database(control, MARKS.kept())


def _check_database(control: Connection, marks: Mapping[str, str]) -> bool:
    """Make sure that the name is free, or has what a run of this machine made; returns whether it has."""
    standing = find_database(control, marks)
    why = standing and (standing.odd or standing.doubt)
    if standing is None or why is None:
        return standing is not None
    if not standing.looks_made:
        raise RefusedError(
            f"This server has a database named redolab that is not Redolab's: {why}. Redolab never touches "
            "such a database. Rename or drop that database, or use another server. Nothing was changed."
        )
    raise RefusedError(
        f"This server has a database named redolab, and it is not proved that this Redolab made it: {why}. "
        "Redolab never touches such a database. If a killed run left the database, start a run as the same "
        "database user, and as the same operating-system user on the same machine: the new run puts "
        "everything back first. Or put back by hand the parameters that redolab.parameter_journal lists, and "
        "DROP DATABASE redolab. Nothing was changed."
    )
