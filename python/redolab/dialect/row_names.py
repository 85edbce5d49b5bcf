"""The rows of a time account in words: their usual names, and their meaning.

Every dialect is asked: the name of an event identifies its server, and no name means two things in two
servers.
"""

from __future__ import annotations

from collections.abc import Mapping

from redolab.dialect.known import DIALECTS

_NAMED_ROWS: Mapping[str, str] = {
    "on_cpu": "on CPU",
    "run_queue": "run queue",
    "steal": "steal",
    "on_cpu_or_unknown": "on CPU or unknown",
    "unaccounted": "unaccounted",
}
_ROW_MEANINGS: Mapping[str, str] = {
    "on_cpu": "executing on a processor, by the kernel's account",
    "run_queue": "ready to run, waiting for a processor, by the kernel's account",
    "steal": (
        "taken by the hypervisor while the session should have run; an estimate: the machine's steal "
        "times the sessions' part of its busy CPU"
    ),
    "on_cpu_or_unknown": "no wait was posted; the kernel's accounts could not be read",
    "unaccounted": "response time that no account explains; negative when accounts overlap",
}
_EVENT_NAMES = {name: words for dialect in DIALECTS for name, words in dialect.event_names.items()}
_ROW_LOCKS = frozenset().union(*(dialect.row_locks for dialect in DIALECTS))
_EVENT_MEANINGS = {name: words for dialect in DIALECTS for name, words in dialect.event_meanings.items()}


def is_wait(row: str) -> bool:
    """Whether a row is a wait event of the server."""
    return row not in _NAMED_ROWS


def is_row_lock(row: str) -> bool:
    """Whether a row of the time profile is waiting for rows that another session holds until its commit."""
    return row.lower() in _ROW_LOCKS


def row_name(row: str) -> str:
    """Name a row of the time profile in words; the server's own event name where there are no words."""
    return _NAMED_ROWS.get(row) or _EVENT_NAMES.get(row.lower(), row)


def row_meaning(row: str) -> str:
    """The meaning of a row of the time profile; empty where only the event's name is known."""
    return _ROW_MEANINGS.get(row) or _EVENT_MEANINGS.get(row.lower(), "")
