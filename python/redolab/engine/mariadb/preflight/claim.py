"""Taking somebody's server for a run: nobody else is at work on it, and the name of the database is free."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection
from redolab.engine.mariadb.own.recovery import recover
from redolab.engine.mariadb.own.schema import MARKS, find_database, left_here
from redolab.engine.mariadb.own.server_lock import Holder, other_holder, take_server
from redolab.engine.server.recovery import LEFT_BY_KILLED, tell_of_copies, tell_of_killed
from redolab.errors import RefusedError
from redolab.outlet import say

_LOCK_LIMIT_S = 5.0


def check_unclaimed(control: Connection) -> None:
    """Make sure, before anything is asked, that no other run is at work and that the name is free.

    What a killed run left is told: it is put back first.

    Raises:
        RefusedError: it is not so.
    """
    holder = other_holder(control)
    if holder is not None:
        raise _other_run(holder)
    left = left_here(control)
    tell_of_copies(left)
    # What is noted is put back first, whoever has the name by now.
    if left.here or _check_database(control, MARKS.kept()):
        say(LEFT_BY_KILLED)


def check_alone(control: Connection, own: Collection[int] = ()) -> None:
    """Take the server for this run.

    Args:
        control: holds it until it is closed.
        own: connections of this run's guard.

    Raises:
        RefusedError: another run is at work on it.
    """
    holder = take_server(control, _LOCK_LIMIT_S, own)
    if holder is not None:
        raise _other_run(holder)


def claim_server(control: Connection, connector: Connector) -> None:
    """Take the server for this run, and put back what a killed run of this machine left changed on it.

    Raises:
        RefusedError: another run is at work, the name is taken, or something cannot be put back.
    """
    check_alone(control)
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
            f"This server has a database named redolab that is not Redolab's: {why}. It is never "
            "touched. Rename it or drop it, or use another server. Nothing was changed."
        )
    raise RefusedError(
        "This server has a database named redolab that is not provably one of this Redolab's: "
        f"{why}. It is never touched. If a killed run left it, start one as that user, and as the "
        "user and on the machine that it ran as: that puts everything back first. Or put back by hand what "
        "redolab.parameter_journal lists, and DROP DATABASE redolab. Nothing was changed."
    )


def _other_run(holder: Holder) -> RefusedError:
    return RefusedError(
        f"Another Redolab run is at work on this server, or its guard is cleaning up ({holder}); two would "
        "spoil each other's figures and parameters. Wait for it, or use another server."
    )
