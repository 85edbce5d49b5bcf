"""The ledger of a hard kill on MariaDB and MySQL: how a session commits and notes, and what is there."""

from __future__ import annotations

import time
from contextlib import suppress

import pymysql

from redolab.engine.mariadb.connection import Connection, ask

_INSERT = "insert into redolab.ledger values (%s, %s)"
_SELECT = "select session, entry from redolab.ledger where session = %s and entry >= %s and entry < %s"
_AT_ONCE = 50_000
"""Entries of one answer, whose size has a bound."""


def commit_and_note(number: int, connection: Connection, noted: list[float]) -> None:
    """Commit entry after entry of session `number` and note when, until the connection is lost; close it."""
    with suppress(pymysql.Error, OSError), connection, connection.cursor() as cursor:
        while True:
            cursor.execute(_INSERT, (number, len(noted)))
            noted.append(time.monotonic())


def present(control: Connection) -> set[tuple[int, int]]:
    """Session and entry of the commits in the ledger."""
    entries = set()
    for each in ask(control, "select session, max(entry) as last from redolab.ledger group by session"):
        for first in range(0, each["last"] + 1, _AT_ONCE):
            beyond = (each["session"], first, first + _AT_ONCE)
            entries |= {(row["session"], row["entry"]) for row in ask(control, _SELECT, *beyond)}
    return entries
