"""The sentences that a watch and reports share: what to change first, and how long single waits were."""

from __future__ import annotations

from redolab import units
from redolab.analysis.observed.exhibits import Cumulative

MUCH, SOME = 0.5, 0.1
"""Log sync's shares of time from which it is the first thing to change, and one thing among others."""
SATURATED = 0.85
"""Share of the time that the log is written, from which on commits queue for it, however little of their time
that is."""
_NEARLY_ALL = 0.9
_FAR_MORE = 3.0
"""Length of a commit's wait, in log writes, from which on the disk is not its cause: the write before its
own, and its own, are two."""


def advice(share: float, first: str) -> str:
    """The change to make by log sync's share of time; `first` where commits are the first thing."""
    if share >= MUCH:
        return first
    return "Commits are one thing to change" if share >= SOME else "Look elsewhere first"


def log_first(busy: float | None) -> str:
    """The change to make where the log is written nearly all of the time; empty where it is not."""
    return "Change the log or how commits are made" if _is_saturated(busy) else ""


def takes(name: str, share: float, whole: str) -> str:
    """Which part of the time is the largest, and how large."""
    return f"{name} takes {units.percent(share)} of {whole}."


def saturated(busy: float | None, write_s: float | None, sync_s: float | None) -> list[str]:
    """Whether the log is written nearly all of the time, so that commits queue for it. Times in seconds."""
    if busy is None or not _is_saturated(busy):
        return []
    write = "" if write_s is None else f", {milliseconds(write_s)} a write"
    sync = "" if sync_s is None else f"; a commit waited {milliseconds(sync_s)} for it"
    return [f"The log is saturated: it was written for {units.percent(busy)} of the time{write}{sync}."]


def row_locks(share: float, whole: str, busy: float | None) -> list[str]:
    """Sentences on row locks: their waits include commits, since a lock is held until its session's commit is
    done.
    """
    if share < SOME:
        return []
    held = "A session holds its row locks until its commit is done"
    first = f"Waits for row locks are {units.percent(share)} of {whole}."
    if _is_saturated(busy):
        return [first, f"{held}, so these sessions wait for the log as well."]
    return [
        first,
        f"{held}: look at what such a session does before its commit, and how long the commit takes.",
    ]


def not_the_disk(busy: float | None, write_s: float | None, sync_s: float | None) -> list[str]:
    """Whether commits wait so much longer than a log write takes that the disk is not the cause. Seconds.

    Where the log is saturated the disk is the cause: commits queue for its writes.
    """
    if _is_saturated(busy) or not sync_s or not write_s or sync_s < _FAR_MORE * write_s:
        return []
    return [
        f"The disk is not the cause: a commit waited {milliseconds(sync_s)} and a log write took "
        f"{milliseconds(write_s)}. The rest is the queue for the log writer, or for a CPU."
    ]


def milliseconds(seconds: float | None) -> str:
    """A time in words; an unknown one too."""
    return "an unknown time" if seconds is None else f"{units.significant(1e3 * seconds)} ms"


def _is_saturated(busy: float | None) -> bool:
    return busy is not None and busy >= SATURATED


def each_wait(sync: Cumulative, write: Cumulative) -> list[str]:
    """The share of waits that are longer than nearly every write, which means cannot show."""
    bound = next((at for at, part in write.items() if part >= _NEARLY_ALL and at in sync), None)
    if bound is None:
        return []
    return [
        f"{units.percent(write[bound])} of log writes and {units.percent(sync[bound])} of log syncs finished "
        f"within {units.significant(1e3 * bound)} ms."
    ]
