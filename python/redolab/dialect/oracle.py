"""The words of Oracle Database, with their meaning. Reports print events without their class, views with it.

Source: Oracle Database Reference 19c, "Oracle Wait Events" and "Classes of Wait Events".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.dialect import oracle_statements
from redolab.dialect.base import Dialect, Loss

LOG_SYNC = "log file sync"
LOG_WRITE = "log file parallel write"
CPU_ROWS = frozenset({"DB CPU", "CPU time"})
"""Rows of a table of timed events that are not wait events."""


def is_row_lock(event: str) -> bool:
    """Whether a session in this event waits for a lock that another holds until its commit is done."""
    name = event.lower()
    # Before 10g all locks had one event.
    return name == "enqueue" or name.startswith(
        ("enq: tx - row lock", "enq: tx - allocate itl", "enq: tx - contention", "enq: tm - ")
    )


def losses(parameters: Mapping[str, Any]) -> tuple[Loss, ...]:
    """Possible losses in crashes where a commit does not wait."""
    mode = f"{parameters.get(oracle_statements.STATEMENT, '')} {parameters.get('COMMIT_WAIT', '')}".upper()
    if "NOWAIT" not in mode.split():
        return ()
    why = "Oracle documents no limit for how long a commit that does not wait stays in memory"
    return (Loss("server", unknown=why), Loss("power", unknown=why))


def realised(levels: Mapping[str, str], _: Mapping[str, Any]) -> Mapping[str, str]:
    """Parameters of a session for one level of `commit_wait`; Oracle does not have a commit delay.

    >>> realised({"commit_wait": "nowait"}, {})
    {'COMMIT_WAIT': 'NOWAIT', 'COMMIT_LOGGING': 'IMMEDIATE'}
    """
    if "commit_wait" not in levels:
        return {}
    return {"COMMIT_WAIT": levels["commit_wait"].upper(), "COMMIT_LOGGING": "IMMEDIATE"}


DIALECT = Dialect(
    products={"oracle": "Oracle Database"},
    event_names={
        "commit:log file sync": "log file sync",
        "system i/o:log file parallel write": "log file write",
        "application:enq: tx - row lock contention": "row lock",
        "configuration:log buffer space": "log buffer full",
        "configuration:log file switch (checkpoint incomplete)": "log switch",
        "user i/o:db file sequential read": "data file read",
        "network:sql*net message to client": "sending to the client",
        "idle:sql*net message from client": "waiting for the client",
    },
    event_meanings={
        "commit:log file sync": "the session waits until the log writer has its commit on disk",
        "system i/o:log file parallel write": "the log writer waits for the log's device",
    },
    log_sync=frozenset({"commit:log file sync"}),
    log_write=frozenset({"system i/o:log file parallel write"}),
    write_flushes=True,
    row_locks=frozenset(
        {
            "application:enq: tx - row lock contention",
            "configuration:enq: tx - allocate itl entry",
            "other:enq: tx - contention",
        }
    ),
    client_waits=frozenset({"idle:sql*net message from client"}),
    idle_classes=frozenset({"idle"}),
    losses=losses,
    ways={"oracle": oracle_statements.ways},
    realised=realised,
)
