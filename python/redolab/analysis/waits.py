"""What a wait event means for the accounts: idle, or outside the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from redolab.sample import ProcessTime, WaitRow


@dataclass(frozen=True)
class Seen:
    """What was seen of the server's processes in one sample."""

    waits: tuple[WaitRow, ...] = ()
    """By the wait sampler."""
    processes: tuple[ProcessTime, ...] = ()
    """By the kernel's accounts."""


NOTHING = Seen()

_AWAKE = ("on_cpu", "runnable", "awake")
_IDLE_BACKGROUND = frozenset({"Activity", "Client", ""})


def event_name(wait_class: str, event: str) -> str:
    """`Class:Event`, as rows of a profile are named."""
    return f"{wait_class}:{event}"


def session_waits(rows: Iterable[WaitRow]) -> Iterator[WaitRow]:
    """The working sessions' rows that fell inside their work.

    The sessions loop inside the server, so one that waits for its client (Client:ClientRead) has
    not begun its loop or has left it: that time is not in `session_elapsed_s` either.
    """
    for row in rows:
        if row.scope == "session" and (row.wait_class, row.event) != ("Client", "ClientRead"):
            yield row


def background_waits(rows: Iterable[WaitRow]) -> Iterator[WaitRow]:
    """The background processes' rows that were neither idle nor awake.

    Idle is the class Activity (a main loop's sleep), Client (a WAL sender with nothing to send),
    and asleep with nothing posted, which is how processes without wait events idle.
    """
    for row in rows:
        if row.scope == "background" and not is_awake(row) and row.wait_class not in _IDLE_BACKGROUND:
            yield row


def is_awake(row: WaitRow) -> bool:
    """Whether a tick found the process on a CPU or waiting for one."""
    return row.state in _AWAKE


def is_asleep(row: WaitRow) -> bool:
    """Whether a tick counts as blocked; unknown to the kernel, a posted event is taken for it."""
    return row.state == "asleep" or (row.state == "unknown" and row.event != "")
