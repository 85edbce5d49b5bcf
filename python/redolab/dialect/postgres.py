"""The words of PostgreSQL, with their meaning, and how wait/nowait and immediate/batch are set there.

Oracle's commit-write facility has no single counterpart. `commit_wait` is whether a session waits until its
log is flushed: `synchronous_commit`. `commit_logging` is whether the log is written at once or gathers first.
PostgreSQL decides the second in two places:

- A session that waits may pause before it flushes so that others join. The pause is `commit_delay`; it is
  made once `commit_siblings` others are active.
- For sessions that do not wait the WAL writer decides, by `wal_writer_delay` and `wal_writer_flush_after`.

Source: PostgreSQL manual, "Write Ahead Log" (runtime configuration), "Asynchronous Commit" and "Wait Events";
`XLogFlush` in PostgreSQL's xlog.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from redolab.dialect import postgres_statements
from redolab.dialect.base import Dialect, Loss, Unposted

COMMIT_SIBLINGS = 5
"""The server's default; settings with a commit delay use it, whatever the server's own value."""
LOG_WRITERS = frozenset({"walwriter"})
"""Processes for the log alone. A session that waits for its commit flushes the log itself."""
ROW_HEADER_BYTES = 48
"""Bytes of a small row: line pointer, tuple header and two integers."""
SCANNED_PART_OF_CACHE = 4
"""A scan keeps its table in the cache where the table is smaller than the cache over this."""

_TIME = re.compile(r"(\d{1,9}) ?(us|ms|s|min|)")
_TIME_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "": 1e-3}
_COMMIT_DELAY = "timeout:commitdelay"
_ROUNDS = 3
"""Rounds of the WAL writer after which a commit is flushed at the latest."""


def longest_loss_s(parameters: Mapping[str, Any]) -> float | None:
    """Seconds of acknowledged commits that a crash may lose under `synchronous_commit = off`.

    Three times `wal_writer_delay`; None where the parameters do not have it.

    Source: PostgreSQL documentation, "Asynchronous Commit".
    """
    found = _TIME.fullmatch(str(parameters.get("wal_writer_delay", "")))
    return None if found is None else _ROUNDS * int(found[1]) * _TIME_S[found[2]]


def losses(parameters: Mapping[str, Any]) -> tuple[Loss, ...]:
    """Possible losses in crashes, by `synchronous_commit` and `fsync`.

    Args:
        parameters: of a setting, and those of the server that it does not name; `tier`, its durability tier.
    """
    waits = parameters.get("synchronous_commit", "off" if parameters.get("tier") == "memory" else "on")
    unflushed = "fsync = off leaves every flush to the operating system, which sets no limit"
    no_flush = parameters.get("fsync") == "off"
    if waits != "off":
        return (Loss("power", unknown=unflushed),) if no_flush else ()
    window_s = longest_loss_s(parameters)
    why = "" if window_s is not None else "the run did not note wal_writer_delay, which limits it"
    power = Loss("power", unknown=unflushed) if no_flush else Loss("power", window_s, unknown=why)
    return (Loss("server", window_s, unknown=why), power)


def chosen(levels: Mapping[str, str]) -> frozenset[str]:
    """The parameters that `commit_wait`, `commit_logging` and `commit_delay_us` decide."""
    pair = (levels.get("commit_wait", ""), levels.get("commit_logging", ""))
    decided = {"synchronous_commit"} if "commit_wait" in levels else set()
    pause = {"commit_delay"} if pair == ("wait", "batch") else set()
    delay = set(_DELAY) if "commit_delay_us" in levels else set()
    return frozenset(decided | pause | delay | _CHANGES.get(pair, {}).keys())


def realised(levels: Mapping[str, str], _: Mapping[str, Any]) -> Mapping[str, str]:
    """Parameters of one level of `commit_wait` or `commit_delay_us`; its siblings only with a delay.

    >>> realised({"commit_wait": "nowait"}, {}), realised({"commit_delay_us": "0"}, {})
    ({'synchronous_commit': 'off'}, {'commit_delay': '0'})
    """
    found = commit_parameters(levels, 0, {})
    return {"commit_delay": "0"} if found.get("commit_delay") == "0" else found


DIALECT = Dialect(
    products={"embedded": "PostgreSQL", "postgresql": "PostgreSQL", "postgres": "PostgreSQL"},
    event_names={
        "io:walsync": "log sync",
        "io:walwrite": "log write",
        "lwlock:walwrite": "log sync by another",
        "lwlock:walinsert": "log insert lock",
        "lwlock:walbufmapping": "log buffer lock",
        "lwlock:buffercontent": "page lock",
        "buffer:bufferexclusive": "page lock",
        "buffer:buffershareexclusive": "page lock to write",
        "buffer:buffershared": "page lock to read",
        "lwlock:procarray": "process array lock",
        "lwlock:xidgen": "transaction id lock",
        "lwlock:xactslru": "commit status lock",
        "lock:transactionid": "row lock",
        "lock:tuple": "row lock queue",
        "io:datafileread": "data file read",
        "io:datafilewrite": "data file write",
        "io:datafileextend": "data file extend",
        "ipc:procarraygroupupdate": "group transaction end",
        "ipc:xactgroupupdate": "group status update",
        _COMMIT_DELAY: "commit delay",
        "client:clientread": "waiting for the client",
    },
    event_meanings={
        "io:walsync": "the process itself waits until the log device has stored the log",
        "io:walwrite": "the process itself hands log pages to the operating system",
        "lwlock:walwrite": "another process is writing or flushing the log; this one waits for it to end",
        "lwlock:walinsert": "copying a record into the log buffer waits for other copies",
        "lwlock:walbufmapping": "the log buffer is full and its pages are being replaced",
        "lwlock:buffercontent": "another process holds the data page",
        "buffer:bufferexclusive": "another process holds the data page, which this one is about to change",
        "buffer:buffershareexclusive": "another process holds the data page, which this one writes out",
        "buffer:buffershared": "another process changes the data page, which this one is about to read",
        "lock:transactionid": "another transaction holds the row",
        "ipc:procarraygroupupdate": "another process ends this transaction in a group",
        "ipc:xactgroupupdate": "another process records this commit in a group",
        _COMMIT_DELAY: "the session that leads a group commit sleeps commit_delay before it flushes",
    },
    log_write=frozenset({"io:walsync", "io:walwrite"}),
    # The lock that the followers of a group commit wait on, a synchronous standby's answer, and the sleep of
    # commit_delay, which posts this event from PostgreSQL 19 on.
    log_sync=frozenset({"lwlock:walwrite", "ipc:syncrep", _COMMIT_DELAY}),
    row_locks=frozenset({"lock:transactionid", "lock:tuple"}),
    client_waits=frozenset({"client:clientread"}),
    # A main loop's sleep, and a WAL sender with nothing to send.
    idle_classes=frozenset({"activity", "client"}),
    log_counters={
        "io:walsync": ("log_flushes", "log_flush_time_s"),
        "io:walwrite": ("log_writes", "log_write_time_s"),
    },
    unposted_waits={
        ("wait", "batch"): Unposted(
            _COMMIT_DELAY,
            "the session that leads a group commit sleeps commit_delay before it flushes, and PostgreSQL up "
            "to 18 posts no wait event for that sleep.",
        ),
    },
    losses=losses,
    ways=dict.fromkeys(("embedded", "postgresql", "postgres"), postgres_statements.ways),
    chosen=chosen,
    realised=realised,
)

# Changes for each pair of levels. A parameter that is not named stays as the server had it: the WAL writer
# has no part in a commit that waits, and a WAL writer that wakes often would only compete for the log.
_CHANGES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("wait", "immediate"): {"commit_delay": "0"},
    ("wait", "batch"): {"commit_siblings": "1"},
    # 0 wakes the WAL writer for every completed page, and makes it flush everything that it writes.
    ("nowait", "immediate"): {"wal_writer_flush_after": "0", "wal_writer_delay": "10ms"},
    ("nowait", "batch"): {"wal_writer_flush_after": "1MB", "wal_writer_delay": "1s"},
}
_DELAY = ("commit_delay", "commit_siblings")
GATHERING = (*_DELAY, "wal_writer_delay", "wal_writer_flush_after")
"""The parameters that decide how long the log gathers."""
WITHOUT_SESSION = postgres_statements.OF_SERVER
"""Parameters among these that cannot be set for one session."""


def parameter_names(combinations: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Every parameter that the settings need; for `commit_wait` alone only synchronous_commit."""
    factors = {factor for levels in combinations for factor in levels}
    gathering = GATHERING if "commit_logging" in factors else _DELAY if "commit_delay_us" in factors else ()
    return (*(("synchronous_commit",) if "commit_wait" in factors else ()), *gathering)


def commit_parameters(
    levels: Mapping[str, str], commit_delay_us: int, before: Mapping[str, str]
) -> dict[str, str]:
    """The parameters that realise `commit_wait`, `commit_logging` and `commit_delay_us` in the levels.

    Args:
        levels: factor name to level.
        commit_delay_us: the pause under `wait/batch`, microseconds. The manual's starting point is
            half the time of one flush.
        before: the server's own values of the parameters in `GATHERING`.
    """
    delayed = delay_parameters(levels["commit_delay_us"]) if "commit_delay_us" in levels else {}
    if "commit_wait" not in levels:
        return delayed
    parameters = {"synchronous_commit": "on" if levels["commit_wait"] == "wait" else "off"}
    if "commit_logging" not in levels:
        return {**parameters, **delayed}
    pair = (levels["commit_wait"], levels["commit_logging"])
    pause = {"commit_delay": str(commit_delay_us)} if pair == ("wait", "batch") else {}
    gathering = {name: before[name] for name in GATHERING}
    return {**parameters, **gathering, **pause, **_CHANGES[pair], **delayed}


def delay_parameters(commit_delay_us: str) -> dict[str, str]:
    """The parameters of a commit delay: its length, and how many other transactions must be under way."""
    return {"commit_delay": commit_delay_us, "commit_siblings": str(COMMIT_SIBLINGS)}
