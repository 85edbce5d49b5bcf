"""Which wait events are the log's: a commit's wait for its flush, and the write and flush themselves."""

from __future__ import annotations

# Spelled WALSync, WALWrite before PostgreSQL 17: names are compared in lower case.
_LOG_WRITE = frozenset(
    {
        "io:walsync",
        "io:walwrite",
        # MariaDB and MySQL, by the file that is written (engine/mariadb/observer/waits.py).
        "io:redo log flush",
        "io:redo log write",
        "io:binlog flush",
        "io:binlog write",
    }
)
_LOG_SYNC = _LOG_WRITE | {
    "lwlock:walwrite",
    "ipc:syncrep",
    # A MariaDB session asleep in these stages waits for the flush that another session does: with a
    # binary log in the first two, without one in the last (MariaDB 10.6, MDEV-24341).
    "stage:commit",
    "stage:waiting for prior transaction to commit",
    "stage:updating status",
}


def is_log_sync(name: str) -> bool:
    """Whether a wait event (`Class:Event`) is a commit waiting for its flush of the log.

    These are the flush and the write before it, the lock that followers of a group commit wait
    on, and a synchronous standby's answer. The sleep of `commit_delay` posts no event up to
    PostgreSQL 18: the session that leads a group then shows as unaccounted, its followers as
    LWLock:WALWrite. A later version's event for it (Timeout, commit delay) counts.

    Source: PostgreSQL manual, "Wait Events"; XLogFlush in PostgreSQL's xlog.c.
    """
    lowered = name.lower()
    return lowered in _LOG_SYNC or (
        lowered.startswith("timeout:") and "commit" in lowered and "delay" in lowered
    )


def is_log_write(name: str) -> bool:
    """Whether a wait event (`Class:Event`) is the log being written or flushed by the waiter itself."""
    return name.lower() in _LOG_WRITE
