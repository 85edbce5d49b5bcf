"""Putting somebody's server back: after a run, after a killed one, from any later process."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

import pymysql

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection, ask, error_number, error_text
from redolab.engine.mariadb.own.journal import read_parameters_before, read_teardown
from redolab.engine.mariadb.own.schema import MARKS, drop_database, find_database, server_place
from redolab.engine.mariadb.own.sessions import end_sessions
from redolab.engine.mariadb.parameters import set_global
from redolab.errors import RedolabError, RefusedError

_LOCKED = 1205
_WHO_LOCKS = (
    "somebody's session keeps a table of it locked: an open transaction that read it, or a backup under "
    "FLUSH TABLES WITH READ LOCK"
)


def recover(control: Connection, connector: Connector, marks: Mapping[str, str]) -> bool:
    """Put back every parameter in the journal, verify it, and drop Redolab's database.

    Nothing is touched where the database is not proved to be Redolab's own. Safe to run again after any
    interruption: the journal goes last.

    Args:
        control: connected to the server, which this process has taken.
        connector: to it, for a connection that takes several statements at once.
        marks: those that prove a database to be one's own, each with the place of its server.

    Returns whether there was something to put back.

    Raises:
        RefusedError: something could not be put back; the text says what, and what is left to do.
    """
    left = complaint = ""
    try:
        standing = find_database(control, marks)
        if standing is None:
            _forget(control, None)  # Killed between the last two steps, or somebody else dropped it.
            return False
        if standing.doubt:
            return False
        if standing.mark:
            if "session" in standing.lists:
                end_sessions(control)
            before = read_parameters_before(control, standing.mark)
            left = _by_hand(before)
            for name, value in before.items():
                set_global(control, name, value)
            left = (
                " Every parameter is put back. The database redolab is still there: the next run from this "
                "machine on that server drops it first, or DROP DATABASE redolab does."
            )
            if "teardown" in standing.lists:
                complaint = _tear_down(control, connector, standing.mark)
        drop_database(control)
        _forget(control, standing.mark)
    except (pymysql.Error, RedolabError) as error:
        raise RefusedError(f"Redolab could not put everything back: {_why(error)}.{left}") from error
    if complaint:
        raise RefusedError(complaint)
    return True


def _why(error: BaseException) -> str:
    if error_number(error) == _LOCKED:
        return _WHO_LOCKS
    return " ".join((str(error) if isinstance(error, RedolabError) else error_text(error)).split()).rstrip(
        "."
    )


def _by_hand(before: Mapping[str, str]) -> str:
    if not before:
        return ""
    wanted = "; ".join(f"SET GLOBAL {name} = {value}" for name, value in before.items())
    return (
        f" The server's parameters are put back with {wanted}, or by a restart of the server. "
        "redolab.parameter_journal keeps the list until then."
    )


def _tear_down(control: Connection, connector: Connector, mark: str) -> str:
    """Execute the teardown of a user's own list; what went wrong, or nothing."""
    try:
        for statements in read_teardown(control, mark):
            with closing(connector.connect("redolab list", several=True)) as of_list:
                ask(of_list, "use redolab")
                with of_list.cursor() as cursor:
                    cursor.execute(statements)
                    while cursor.nextset():
                        pass
    except (pymysql.Error, RedolabError) as error:
        return (
            f"The teardown of the list failed: {_why(error)}. Redolab's database is dropped; what the list "
            "made outside it may still be there."
        )
    return ""


def _forget(control: Connection, mark: str | None) -> None:
    """Forget the mark, or all of this server's, where nothing is left of any of them."""
    here = server_place(control)
    for kept, place in MARKS.kept().items():
        if kept == mark or (mark is None and place == here):
            MARKS.forget(kept)
