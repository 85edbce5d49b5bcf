"""The ledger of a hard kill on PostgreSQL: how a session commits and notes, and what is there again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress

import psycopg

from redolab.engine.postgres.connecting.connection import Connection


def commit_and_note(
    number: int, session: Connection, parameters: Mapping[str, str], noted: list[float]
) -> None:
    """Commit entry after entry of session `number` and note when, until the connection is lost.

    `parameters` is what each transaction sets for itself.
    """
    with suppress(psycopg.Error):
        while True:
            if parameters:
                with session.transaction():
                    for item in parameters.items():
                        session.execute("select set_config(%s, %s, true)", item, prepare=True)
                    _insert(session, number, len(noted))
            else:
                _insert(session, number, len(noted))
            noted.append(time.monotonic())


def present(control: Connection) -> set[tuple[int, int]]:
    """Session and entry of the commits in the ledger."""
    rows = control.execute("select session, entry from redolab.ledger").fetchall()
    return {(row["session"], row["entry"]) for row in rows}


def _insert(session: Connection, number: int, entry: int) -> None:
    session.execute("insert into redolab.ledger values (%s, %s)", (number, entry), prepare=True)
