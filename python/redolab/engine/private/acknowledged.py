"""The hard kill: sessions commit and note every acknowledgement, the server dies, what is missing?

The sessions are clients here, not loops inside the server: an acknowledgement counts only once it
has left the server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TypeVar

from redolab.engine.base import KillRecovery
from redolab.engine.private.own_server import OwnServer
from redolab.errors import InterruptedRunError

_Connection = TypeVar("_Connection")


def kill_and_compare(
    server: OwnServer,
    sessions: Sequence[Callable[[list[float]], None]],
    connect: Callable[[], _Connection],
    present: Callable[[_Connection], Collection[tuple[int, int]]],
    seconds: float,
    stop: threading.Event,
) -> tuple[_Connection, KillRecovery]:
    """Commit from every session for `seconds`, kill the server, start it, and compare.

    Args:
        server: Redolab's own.
        sessions: each commits until its connection is lost, and adds the monotonic time of every
            acknowledgement to its list: commit n of a session is its n-th entry.
        connect: opens the connection that rules the server from then on.
        present: session and entry of the commits that the server has.
        seconds: how long they work.
        stop: when set, the load ends early.

    Returns that connection, and what the kill left.

    Raises:
        InterruptedRunError: `stop` was set.
    """
    noted: list[list[float]] = [[] for _ in sessions]
    threads = [
        threading.Thread(target=partial(commit, mine)) for commit, mine in zip(sessions, noted, strict=True)
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
    restarted = time.monotonic()
    server.restart()
    control = connect()
    recovery_s = time.monotonic() - restarted
    return control, _what_is_missing(
        noted,
        present(control),
        killed_at=killed_at,
        load_s=killed_at - started,
        recovery_s=recovery_s,
    )


def _what_is_missing(
    noted: Sequence[Sequence[float]],
    present: Collection[tuple[int, int]],
    *,
    killed_at: float,
    load_s: float,
    recovery_s: float,
) -> KillRecovery:
    """Compare what a server holds with what was acknowledged.

    Args:
        noted: of each session the monotonic time of each acknowledgement; commit n of it is its n-th entry.
        present: session and entry of the commits that the server has.
        killed_at: monotonic time of the kill.
        load_s: how long the sessions worked, seconds.
        recovery_s: from the restart to the first answer, seconds.
    """
    acknowledged = {
        (session, entry): at for session, times in enumerate(noted) for entry, at in enumerate(times)
    }
    held = frozenset(present)
    missing = [at for key, at in acknowledged.items() if key not in held]
    return KillRecovery(
        sessions=len(noted),
        acknowledged=len(acknowledged),
        missing=len(missing),
        unacknowledged=len(held - acknowledged.keys()),
        # One that was on its way at the kill is noted a moment after it.
        loss_window_s=max(0.0, killed_at - min(missing)) if missing else None,
        load_s=load_s,
        recovery_s=recovery_s,
    )
