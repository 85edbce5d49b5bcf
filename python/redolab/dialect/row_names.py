"""The rows of a time account in words: what is CPU, what is a wait, and what people call it."""

from __future__ import annotations

from collections.abc import Mapping

_NAMED_ROWS: Mapping[str, str] = {
    "on_cpu": "on CPU",
    "run_queue": "run queue",
    "steal": "steal",
    "on_cpu_or_unknown": "on CPU or unknown",
    "unaccounted": "unaccounted",
}
# PostgreSQL 17 renamed the WAL events' case, hence the lower-case keys.
_EVENT_NAMES = {
    "io:walsync": "log sync",
    "io:walwrite": "log write",
    "lwlock:walwrite": "log sync by another",
    "lwlock:walinsert": "log insert lock",
    "lwlock:walbufmapping": "log buffer lock",
    "lwlock:buffercontent": "page lock",
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
    "client:clientread": "waiting for the client",
    # MariaDB and MySQL (engine/mariadb/observer/waits.py).
    "client:sleep": "waiting for the client",
}


def is_wait(row: str) -> bool:
    """Whether a row is a wait event of the server."""
    return row not in _NAMED_ROWS


def row_name(row: str) -> str:
    """Name a row of the time profile in words; the server's own event name where it has none."""
    return _NAMED_ROWS.get(row) or _EVENT_NAMES.get(row.lower(), row)
