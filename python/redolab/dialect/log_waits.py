"""Which wait events are the log's, and which are a session's wait for its client.

Every dialect is asked: the name of an event identifies its server, and no name means two things in two
servers.
"""

from __future__ import annotations

from collections.abc import Collection

from redolab.dialect.base import NOTHING_KNOWN, Pair
from redolab.dialect.known import DIALECTS, dialect_of

_LOG_WRITE = frozenset().union(*(dialect.log_write for dialect in DIALECTS))
_LOG_SYNC = _LOG_WRITE.union(*(dialect.log_sync for dialect in DIALECTS))
_CLIENT_WAITS = frozenset().union(*(dialect.client_waits for dialect in DIALECTS))
_IDLE_CLASSES = frozenset().union(*(dialect.idle_classes for dialect in DIALECTS))
_UNPOSTED = {levels: item for dialect in DIALECTS for levels, item in dialect.unposted_waits.items()}
_LOG_COUNTERS = {name: pair for dialect in DIALECTS for name, pair in dialect.log_counters.items()}


def is_log_sync(name: str) -> bool:
    """Whether a wait event (`Class:Event`) is a commit waiting for its flush of the log.

    These are the flush and the write before it, the wait for another session that flushes the log, and the
    wait for a synchronous standby. PostgreSQL's sleep of `commit_delay` is one too; up to version 18 it posts
    no event. The session that leads a group then shows as unaccounted, its followers as LWLock:WALWrite.
    """
    return name.lower() in _LOG_SYNC


def is_log_write(name: str) -> bool:
    """Whether a wait event (`Class:Event`) is the log being written or flushed by the waiter itself."""
    return name.lower() in _LOG_WRITE


def is_client_wait(name: str) -> bool:
    """Whether a wait event (`Class:Event`) is a session that waits for its client to send something."""
    return name.lower() in _CLIENT_WAITS


def is_idle_class(wait_class: str) -> bool:
    """Whether a background process in such a wait has nothing to do; no class at all is such a wait too."""
    return not wait_class or wait_class.lower() in _IDLE_CLASSES


def log_counters(name: str) -> Pair | None:
    """The columns of a sample in which the server itself counts and times a wait event; None without."""
    return _LOG_COUNTERS.get(name.lower())


def unposted_wait(
    engine: str, commit_wait: str | None, commit_logging: str | None, posted: Collection[str] = ()
) -> str | None:
    """Why sessions sleep without a wait event under such levels, in words; None where no reason is known.

    Args:
        engine: its name in a manifest: unlike the name of an event, levels do not identify a server. For an
            engine that is not known every dialect is asked.
        commit_wait: the level.
        commit_logging: the level.
        posted: the wait events that were seen (`Class:Event`). A server that posts the event of such a sleep
            shows the sleep, so it does not explain missing events there.
    """
    known = dialect_of(engine)
    sleeps = _UNPOSTED if known is NOTHING_KNOWN else known.unposted_waits
    sleep = sleeps.get((commit_wait or "", commit_logging or ""))
    if sleep is None or sleep.event in {name.lower() for name in posted}:
        return None
    return sleep.why
