"""The ledger of a hard kill on MariaDB and MySQL: how a session commits and notes, and what is there."""

from __future__ import annotations

import time
from contextlib import suppress

import pymysql

from redolab.engine.mariadb.connection import Connection, ask

_INSERT = "insert into redolab.ledger values (%s, %s)"


def commit_and_note(number: int, connection: Connection, noted: list[float]) -> None:
    """Commit entry after entry of session `number` and note when, until the connection is lost; close it."""
    with suppress(pymysql.Error, OSError), connection, connection.cursor() as cursor:
        while True:
            cursor.execute(_INSERT, (number, len(noted)))
            noted.append(time.monotonic())


def present(control: Connection) -> set[tuple[int, int]]:
    """Session and entry of the commits in the ledger."""
    rows = ask(control, "select session, entry from redolab.ledger")
    return {(row["session"], row["entry"]) for row in rows}
