"""The hard kill: sessions commit and note every acknowledgement, the server dies, what is missing?

The sessions are clients here, not loops inside the server: an acknowledgement counts only once it
has left the server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

import psycopg

from redolab.engine.base import Recovery
from redolab.engine.postgres.connecting.connection import Connection, Connector
from redolab.engine.private.acknowledged import MayBeKilled, what_is_missing
from redolab.errors import InterruptedRunError


def load_and_crash(
    server: MayBeKilled,
    sessions: Sequence[Connection],
    parameters: Mapping[str, str],
    seconds: float,
    stop: threading.Event,
) -> tuple[list[list[float]], float, float]:
    """Commit from every session for `seconds`, then kill the server.

    `parameters` is what each transaction sets for itself.

    Returns, per session, the monotonic time of each acknowledgement (commit n of a session is its
    n-th entry); the time of the kill; and the seconds of load.
    """
    noted: list[list[float]] = [[] for _ in sessions]
    threads = [
        threading.Thread(target=_commit_and_note, args=(number, session, parameters, noted[number]))
        for number, session in enumerate(sessions)
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    interrupted = stop.wait(seconds)
    killed_at = server.crash()
    for thread in threads:
        thread.join()
    if interrupted:
        raise InterruptedRunError("The run was interrupted during a kill.")
    return noted, killed_at, killed_at - started


def recover_and_compare(
    server: MayBeKilled,
    connector: Connector,
    noted: list[list[float]],
    killed_at: float,
    load_s: float,
) -> tuple[Connection, Recovery]:
    """Start the killed server, and compare what it holds with what was acknowledged."""
    started = time.monotonic()
    server.restart()
    control = connector.connect("redolab control")
    recovery_s = time.monotonic() - started
    rows = control.execute("select session, entry from redolab.ledger").fetchall()
    present = {(row["session"], row["entry"]) for row in rows}
    return control, what_is_missing(noted, present, killed_at=killed_at, load_s=load_s, recovery_s=recovery_s)


def _commit_and_note(
    number: int, session: Connection, parameters: Mapping[str, str], noted: list[float]
) -> None:
    try:
        while True:
            if parameters:
                with session.transaction():
                    for item in parameters.items():
                        session.execute("select set_config(%s, %s, true)", item, prepare=True)
                    _insert(session, number, len(noted))
            else:
                _insert(session, number, len(noted))
            noted.append(time.monotonic())
    except psycopg.Error:
        return


def _insert(session: Connection, number: int, entry: int) -> None:
    session.execute("insert into redolab.ledger values (%s, %s)", (number, entry), prepare=True)
