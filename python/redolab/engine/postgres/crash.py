"""The hard kill: sessions commit and note every acknowledgement, the server dies, what is missing?

The sessions are clients here, not loops inside the server: an acknowledgement counts only once it
has left the server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

import psycopg

from redolab.engine.base import Recovery
from redolab.engine.postgres.connecting.connection import Connection, Connector
from redolab.errors import InterruptedRunError


class PrivateServer(Protocol):
    """A server of Redolab's own, which may be killed."""

    def crash(self) -> float:
        """Kill every process of the server at once (SIGKILL); returns the monotonic time of it."""
        ...

    def restart(self) -> None:
        """Start it again; recovery runs before it answers."""
        ...


def load_and_crash(
    server: PrivateServer,
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
    server: PrivateServer,
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
    acknowledged = {
        (session, entry): at for session, times in enumerate(noted) for entry, at in enumerate(times)
    }
    missing = [at for key, at in acknowledged.items() if key not in present]
    return control, Recovery(
        sessions=len(noted),
        acknowledged=len(acknowledged),
        missing=len(missing),
        unacknowledged=len(present - acknowledged.keys()),
        # One that was on its way at the kill is noted a moment after it.
        loss_window_s=max(0.0, killed_at - min(missing)) if missing else None,
        load_s=load_s,
        recovery_s=recovery_s,
    )


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
