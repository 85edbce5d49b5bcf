"""Meaning of a wait event for the accounts: idle, or outside the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from redolab.dialect.log_waits import is_client_wait, is_idle_class
from redolab.records.sample import ProcessTime, Sample, WaitRow


@dataclass(frozen=True)
class SampledProcesses:
    """Observations of the server's processes in one sample."""

    waits: tuple[WaitRow, ...] = ()
    """By the wait sampler."""
    processes: tuple[ProcessTime, ...] = ()
    """By the kernel's accounts."""


NOTHING = SampledProcesses()
_AWAKE = ("on_cpu", "runnable", "awake")


def event_name(wait_class: str, event: str) -> str:
    """`Class:Event`, as rows of a profile are named."""
    return f"{wait_class}:{event}"


def session_waits(sample: Sample, seen: SampledProcesses) -> Iterator[WaitRow]:
    """The working sessions' rows that fell inside their work.

    A session that loops inside the server and waits for its client (Client:ClientRead) has not begun
    its loop or has left it: that time is not in `session_elapsed_s` either. One that a client drives
    waits for it inside its work too; of those ticks as many are left out as belong to the time outside
    `session_elapsed_s`, when others had not done their part yet.
    """
    rows = [row for row in seen.waits if row.scope == "session"]
    for row in rows:
        if not is_client_wait(event_name(row.wait_class, row.event)):
            yield row
        elif sample.client_cpu_s is not None:
            idle = _ticks_outside(sample, rows) if is_asleep(row) else 0
            yield replace(row, ticks=max(0, row.ticks - idle))


def _ticks_outside(sample: Sample, rows: Iterable[WaitRow]) -> int:
    """Ticks that found a session connected but not at work, by the time that it was."""
    watched = sample.sessions * max(sample.elapsed_s, sample.sampled_s or 0.0)
    if watched <= 0:
        return 0
    return round(sum(row.ticks for row in rows) * max(0.0, 1 - sample.session_elapsed_s / watched))


def background_waits(rows: Iterable[WaitRow]) -> Iterator[WaitRow]:
    """The background processes' rows that were neither idle nor awake.

    Idle is the class Activity (a main loop's sleep), Client (a WAL sender with nothing to send),
    and asleep with nothing posted, which is how processes without wait events idle.
    """
    for row in rows:
        if row.scope == "background" and not is_awake(row) and not is_idle_class(row.wait_class):
            yield row


def is_awake(row: WaitRow) -> bool:
    """Whether a tick found the process on a CPU or waiting for one."""
    return row.state in _AWAKE


def is_asleep(row: WaitRow) -> bool:
    """Whether a tick counts as blocked; where the kernel does not know, a posted event counts as blocked."""
    return row.state == "asleep" or (row.state == "unknown" and row.event != "")
