"""The waits of a MariaDB or MySQL thread: the kernel's look, the server's stage and its own instruments.

The kernel says whether a thread is asleep and in which call, at the very moment. The server's process
list says in which stage its statement is, a few hundred microseconds earlier. Where the two disagree the
kernel is believed, and the stage is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from redolab.dialect.log_waits import is_log_sync
from redolab.engine.linux.thread_looks import Doing, Look
from redolab.engine.sampling.event_codes import IDLE, NOTHING, Event
from redolab.records.observation import STATES

State = int

CLIENT: Event = ("Client", "Sleep")
"""The wait of an idle session, by the server's own word for it in its process list."""
ROW_LOCK: Event = ("Lock", "row")
TIMED_WAIT: Event = ("Stage", "timed wait")
ASLEEP, UNKNOWN, AWAKE = map(STATES.index, ("asleep", "unknown", "awake"))
"""Codes of `observation.STATES`. The kernel does not say of another process's thread which of the
runnable ones is on a CPU."""

_REDO_LOG = re.compile(r"ib_logfile\d+|#ib_redo\d+(_tmp)?")
# The second form is that of a binary log inside InnoDB.
_BINLOG = re.compile(r"(?!aria_log)(?!.*relay).*\.\d{6,}|binlog-\d{6,}\.ibb")
_RELAY_LOG = re.compile(r".*relay.*\.\d{6,}")
_TABLESPACE = re.compile(r"ibdata\d+|undo_?\d+|ibtmp\d+|.*\.(ibd|ibu|ibt)")
# Stages in which the session waits for its client.
_CLIENT_STAGES = frozenset({"Writing to net", "Reading from net", "Sending to client"})
# Stages that say themselves what is waited for.
_NAMED_STAGE = re.compile(r"Waiting|User |Master has|Slave has|Has ")
# Stages in which a session works. Asleep by the kernel's word it has gone on since, to an unknown one.
_WORK_STAGES = frozenset(
    {
        "starting", "checking permissions", "opening tables", "init", "init for update", "system lock",
        "executing hook on transaction begin.", "end", "end of update loop", "query end", "closing tables",
        "freeing items", "reset for next command", "cleaning up",
    }
)  # fmt: skip
_IDLE_BACKGROUND = frozenset({"futex", "timed futex", "socket", "sleep", "aio"})
_FILES = {
    "wait/io/file/sql/binlog": ("binlog", True),
    "wait/io/file/innodb/innodb_log_file": ("redo log", True),
    "wait/io/file/innodb/innodb_data_file": ("data file", False),
}


@dataclass(frozen=True)
class Active:
    """A session's statement as the server's process list had it."""

    stage: str
    statement: int | None
    wait: str | None = None
    """Instrument of the wait under way, where performance_schema keeps it."""

    @property
    def works(self) -> bool:
        """Whether a session works in this stage instead of waiting."""
        return self.stage.lower() in _WORK_STAGES


@dataclass(frozen=True)
class ObservedWait:
    """The result of one look."""

    event: Event
    state: State
    torn: bool = False
    """The kernel and the server's list showed different moments."""


def name_session(
    look: Look | None, active: Active | None, in_row_lock: bool, running: bool | None
) -> ObservedWait:
    """The activity in which a session was found; an idle one has the event `IDLE`.

    Args:
        look: the kernel's, where it may be had.
        active: None when the server's list showed no statement.
        in_row_lock: the server listed the same statement as waiting for a row lock.
        running: where there is no `look`, the scheduler's word; None when the kernel cannot be asked.
    """
    if look is None:
        return _by_the_list(active, in_row_lock, running)
    if look.doing == "running":
        return ObservedWait(NOTHING, AWAKE, active is None)
    if look.doing == "socket":
        return ObservedWait(IDLE, ASLEEP, active is not None and active.stage not in _CLIENT_STAGES)
    event = _call_event(look)
    if event is None:
        event = _blocked_event(active, in_row_lock, look.doing)
    return ObservedWait(event, ASLEEP, active is None or active.works)


def name_background(look: Look | None, running: bool | None) -> ObservedWait:
    """The activity in which a background thread was found. Asleep without work in hand is idle."""
    if look is None:
        return ObservedWait(NOTHING, AWAKE) if running else ObservedWait(IDLE, ASLEEP)
    if look.doing == "running":
        return ObservedWait(NOTHING, AWAKE)
    if look.doing in _IDLE_BACKGROUND:
        return ObservedWait(IDLE, ASLEEP)
    return ObservedWait(_call_event(look) or NOTHING, ASLEEP)


def file_event(path: str, doing: str) -> Event:
    """An operation on a file, named by what the file is for.

    >>> file_event("/var/lib/mysql/ib_logfile0", "flush")
    ('IO', 'redo log flush')
    """
    name = PurePath(path).name
    if _REDO_LOG.fullmatch(name):
        kind = "redo log"
    elif _TABLESPACE.fullmatch(name):
        kind = "data file"
    elif _BINLOG.fullmatch(name):
        kind = "binlog"
    elif _RELAY_LOG.fullmatch(name):
        kind = "relay log"
    else:
        kind = "other file"
    return ("IO", f"{kind} {doing}")


def instrument_event(name: str) -> Event | None:
    """A wait instrument of performance_schema as an event, None where it only nests other waits.

    >>> instrument_event("wait/synch/cond/sql/MDL_context::COND_wait_status")
    ('Synch', 'cond/sql/MDL_context::COND_wait_status')
    """
    _, kind, rest = (*name.split("/", 2), "", "")[:3]
    if kind in ("synch", "lock") and rest:
        return (kind.capitalize(), rest)
    return None


def timed_files(name: str, row: dict[str, int]) -> list[tuple[Event, int, float]]:
    """Operations on one kind of file as the server counted and timed them: event, count, seconds.

    `MISC` is the flush for logs; for data files it also holds opens and closes, so it is left out there.
    """
    kind, flushes = _FILES.get(name, ("", False))
    if not kind:
        return []
    parts = [("read", "reads_n", "read_ps"), ("write", "writes_n", "write_ps")]
    parts += [("flush", "misc_n", "misc_ps")] if flushes else []
    return [(("IO", f"{kind} {word}"), row[count], row[time] / 1e12) for word, count, time in parts]


def _call_event(look: Look) -> Event | None:
    if look.doing in ("read", "write", "flush"):
        return file_event(look.detail, look.doing)
    if look.doing == "call":
        return ("Kernel", "page fault" if look.detail == "-1" else f"system call {look.detail}")
    return None


def _blocked_event(active: Active | None, in_row_lock: bool, doing: Doing | None) -> Event:
    """The event of a session asleep inside the server: a lock, a stage, a condition.

    Args:
        active: the session's statement, None when the server's list showed none.
        in_row_lock: the server listed the statement as waiting for a row lock.
        doing: the kernel's word, where it may be had.
    """
    stage = active.stage if active else ""
    if in_row_lock:
        return ROW_LOCK
    if _NAMED_STAGE.match(stage):
        return ("Stage", stage)
    if doing == "timed futex":
        return ROW_LOCK
    instrument = instrument_event(active.wait) if active and active.wait else None
    if instrument is not None and not is_log_sync(f"Stage:{stage}"):
        return instrument
    if active and stage and not active.works:
        return ("Stage", stage)
    return ("Kernel", doing) if doing else NOTHING


def _by_the_list(active: Active | None, in_row_lock: bool, running: bool | None) -> ObservedWait:
    """Without a look at the system call: the server's list, and the scheduler where it can be asked."""
    if running:
        return ObservedWait(NOTHING, AWAKE, active is None)
    if active is None or active.stage in _CLIENT_STAGES:
        return ObservedWait(IDLE, ASLEEP)
    state = UNKNOWN if running is None else ASLEEP
    return ObservedWait(_blocked_event(active, in_row_lock, None), state)
