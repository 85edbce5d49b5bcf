"""What the words of Oracle Database mean. Reports print events without their class, and views with it.

Source: Oracle Database Reference 19c, "Oracle Wait Events" and "Classes of Wait Events". Idle are those of
V$EVENT_NAME's class Idle that reports of 9.2 to 19c list.
"""

from __future__ import annotations

from redolab.dialect.base import Dialect

LOG_SYNC = "log file sync"
LOG_WRITE = "log file parallel write"
CPU_ROWS = frozenset({"DB CPU", "CPU time"})
"""Rows of a table of timed events that are no wait event."""
IDLE_EVENTS = frozenset(
    {
        "sql*net message from client",
        "sql*net vector data from client",
        "sql*net vector data to client",
        "rdbms ipc message",
        "pmon timer",
        "smon timer",
        "dispatcher timer",
        "virtual circuit status",
        "virtual circuit next request",
        "shared server idle wait",
        "jobq slave wait",
        "lgwr worker group idle",
        "lgwr real time apply sync",
        "diag idle wait",
        "space manager: slave idle wait",
        "class slave wait",
        "watchdog main loop",
        "vktm logical idle wait",
        "vkrm idle",
        "heartbeat redo informer",
        "pl/sql lock timer",
        "pipe get",
        "single-task message",
        "wakeup time manager",
        "null event",
        "i/o slave wait",
        "gcs remote message",
        "ges remote message",
        "asm background timer",
        "ofs idle",
        "px idle wait",
        "px deq: execution msg",
        "px deq: execute reply",
        "px deq: join ack",
        "px deq: parse reply",
        "px deq credit: need buffer",
        "parallel recovery coordinator idle wait",
        "recovery logmerger idle wait",
        "parallel query idle wait - slaves",
    }
)
"""In lower case; what begins with one of `IDLE_BEGINNINGS` is idle too."""
IDLE_BEGINNINGS = ("streams aq:", "logminer ", "data guard: ", "aqpc ")


def is_row_lock(event: str) -> bool:
    """Whether a session in this event waits for rows that another one holds until its commit is done."""
    return event.lower().startswith(("enq: tx - row lock", "enq: tx - allocate itl", "enq: tx - contention"))


def is_idle(event: str) -> bool:
    """Whether a process in this event has nothing to do; names may be cut off, as text reports do."""
    name = event.lower()
    return (
        name in IDLE_EVENTS
        or name.startswith(IDLE_BEGINNINGS)
        or (len(name) >= _CUT and any(idle.startswith(name) for idle in IDLE_EVENTS))
    )


_CUT = 20
"""Characters that the narrowest layouts leave of an event's name."""

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
    row_locks=frozenset(
        {
            "application:enq: tx - row lock contention",
            "configuration:enq: tx - allocate itl entry",
            "other:enq: tx - contention",
        }
    ),
    client_waits=frozenset({"idle:sql*net message from client"}),
    idle_classes=frozenset({"idle"}),
)
