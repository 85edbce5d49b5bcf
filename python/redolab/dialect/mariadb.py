"""What the words of MariaDB and MySQL mean.

Neither names wait events as `Class:Event`. Redolab does, by the file that is written or by the stage that
the process list shows. Source: MariaDB 10.6 and later, MDEV-24341 for the stages of a commit.
"""

from __future__ import annotations

from redolab.dialect.base import Dialect

_FLUSH_BY_ANOTHER = "the session sleeps until another session has flushed the log for it"

DIALECT = Dialect(
    products={"mariadb": "MariaDB", "mysql": "MySQL"},
    event_names={"client:sleep": "waiting for the client"},
    event_meanings={
        "io:redo log flush": "the session itself waits until the device has stored the redo log",
        "io:redo log write": "the session itself hands the redo log to the operating system",
        "io:binlog flush": "the session itself waits until the device has stored the binary log",
        "io:binlog write": "the session itself hands the binary log to the operating system",
        "stage:commit": _FLUSH_BY_ANOTHER,
        "stage:waiting for prior transaction to commit": _FLUSH_BY_ANOTHER,
        "stage:updating status": _FLUSH_BY_ANOTHER,
    },
    log_write=frozenset({"io:redo log flush", "io:redo log write", "io:binlog flush", "io:binlog write"}),
    # With a binary log a session sleeps in the first two of these stages, without one in the last.
    log_sync=frozenset(
        {"stage:commit", "stage:waiting for prior transaction to commit", "stage:updating status"}
    ),
)
