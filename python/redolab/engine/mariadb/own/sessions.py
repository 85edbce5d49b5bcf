"""The connections of a run, noted in its database: those of a killed run may still work, and are ended."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

import pymysql

from redolab.engine.mariadb.connection import Connection, ask

_SAME_START_S = 2


def is_same_life(control: Connection, started: int) -> bool:
    """Whether the server was not restarted since it said that it had been started then, by its own clock."""
    return abs(started - started_at(control)) <= _SAME_START_S


def number_of(connection: Connection) -> int:
    """The server's number of the connection."""
    return int(connection.thread_id())  # type: ignore[no-untyped-call]


def living(control: Connection) -> dict[int, dict[str, Any]]:
    """The connections that this user may see, by their numbers, as `SHOW PROCESSLIST` has them."""
    return {int(row["Id"]): row for row in ask(control, "show processlist")}


def note_sessions(control: Connection, connections: Collection[int]) -> None:
    """Note the connections of the run in its database, in place of those noted before."""
    started = started_at(control)
    ask(control, "delete from redolab.session")
    with control.cursor() as cursor:
        cursor.executemany(
            "insert into redolab.session values (%s, %s)", [(number, started) for number in connections]
        )


def read_sessions(control: Connection) -> tuple[tuple[int, ...], int]:
    """The noted connections, and when the server was started that had them; 0 where none is noted."""
    rows = ask(control, "select connection, server_started from redolab.session")
    numbers = tuple(int(row["connection"]) for row in rows)
    return numbers, max((int(row["server_started"]) for row in rows), default=0)


def end_sessions(control: Connection, sessions: Collection[int]) -> None:
    """End those of a run that are left, of this user."""
    sessions_now, own = living(control), number_of(control)
    for number in sessions:
        if (
            number != own
            and number in sessions_now
            and sessions_now[number]["User"] == sessions_now[own]["User"]
        ):
            end(control, number)


def end(control: Connection, number: int) -> None:
    """End a connection, if it has not ended by itself."""
    with suppress(pymysql.Error):
        ask(control, "kill %s", number)


def started_at(control: Connection) -> int:
    """When the server was started, in its own clock, seconds since 1970."""
    uptime = ask(control, "show global status like 'Uptime'")[0]["Value"]
    return int(ask(control, "select unix_timestamp() as it")[0]["it"]) - int(uptime)
