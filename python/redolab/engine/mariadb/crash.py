"""The hard kill: sessions commit and note every acknowledgement, the server dies, what is missing?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pymysql

from redolab.engine.base import Recovery
from redolab.engine.mariadb.connection import Connection
from redolab.engine.private.acknowledged import MayBeKilled, what_is_missing
from redolab.errors import InterruptedRunError

_INSERT = "insert into redolab.ledger values (%s, %s)"


def kill_and_compare(
    server: MayBeKilled,
    connect: Callable[[str], Connection],
    sessions: int,
    seconds: float,
    stop: threading.Event,
) -> tuple[Connection, Recovery]:
    """Commit from every session for `seconds`, kill the server, start it, and compare.

    Args:
        server: Redolab's own.
        connect: opens a connection that the server shows under such a name.
        sessions: how many commit.
        seconds: for how long.
        stop: when set, the load ends early.

    Returns a connection to the server as it is again, and what the kill left.

    Raises:
        InterruptedRunError: `stop` was set.
    """
    noted: list[list[float]] = [[] for _ in range(sessions)]
    connections = [connect(f"redolab session {number + 1}") for number in range(sessions)]
    threads = [
        threading.Thread(target=_commit_and_note, args=(number, connection, noted[number]))
        for number, connection in enumerate(connections)
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    interrupted = stop.wait(seconds)
    killed_at = server.crash()
    for thread in threads:
        thread.join()
    for connection in connections:
        with suppress(pymysql.Error, OSError):
            connection.close()
    if interrupted:
        raise InterruptedRunError("The run was interrupted during a kill.")
    restarted = time.monotonic()
    server.restart()
    control = connect("redolab control")
    recovery_s = time.monotonic() - restarted
    return control, what_is_missing(
        noted,
        _present(control),
        killed_at=killed_at,
        load_s=killed_at - started,
        recovery_s=recovery_s,
    )


def _present(control: Connection) -> set[tuple[int, int]]:
    with control.cursor() as cursor:
        cursor.execute("select session, entry from redolab.ledger")
        return {(row["session"], row["entry"]) for row in cursor.fetchall()}


def _commit_and_note(number: int, connection: Connection, noted: list[float]) -> None:
    with suppress(pymysql.Error, OSError), connection.cursor() as cursor:
        while True:
            cursor.execute(_INSERT, (number, len(noted)))
            noted.append(time.monotonic())
