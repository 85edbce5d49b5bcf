"""The words of MariaDB and MySQL, with their meaning.

Neither names wait events as `Class:Event`. Redolab does, by the file that is written or by the stage that
the process list shows. Source: MariaDB 10.6 and later, MDEV-24341 for the stages of a commit; MySQL 9.7.
How commits share flushes: `group_commit_lock` of InnoDB, `trx_group_commit_leader` of MariaDB's binary log,
and `Commit_stage_manager` of MySQL's, whose groups are formed once, before the redo log's flush.
"""

from __future__ import annotations

from redolab.dialect import innodb, innodb_statements
from redolab.dialect.base import Dialect, Grouping

_FLUSH_BY_ANOTHER = "the session sleeps until another session has flushed the log for it"

DIALECT = Dialect(
    products={"mariadb": "MariaDB", "mysql": "MySQL"},
    groupings={
        "mariadb": Grouping(handed_on=True),
        "mysql": Grouping(handed_on=True, in_groups=True),
    },
    # No longer than 20 characters, for a terminal of 80 columns.
    event_names={
        "client:sleep": "waiting for the client",
        "io:redo log flush": "redo log sync",
        "io:redo log write": "redo log write",
        "io:binlog flush": "binlog sync",
        "io:binlog write": "binlog write",
        "io:data file read": "data file read",
        "io:data file write": "data file write",
        "io:data file flush": "data file sync",
        "kernel:futex": "inside the server",
        "lock:row": "row lock",
        "stage:commit": "log sync in commit",
        "stage:waiting for handler commit": "log sync in commit",
        "stage:waiting for prior transaction to commit": "log sync in line",
        "stage:updating status": "log sync at the end",
        "stage:updating main table": "main table update",
        "stage:waiting for table metadata lock": "metadata lock",
        "stage:waiting for table level lock": "table lock",
        "stage:waiting for table flush": "table flush",
        "stage:waiting for global read lock": "global read lock",
        "stage:waiting for backup lock": "backup lock",
    },
    event_meanings={
        "io:redo log flush": "the session itself waits until the device has stored the redo log",
        "io:redo log write": "the session itself hands the redo log to the operating system",
        "io:binlog flush": "the session itself waits until the device has stored the binary log",
        "io:binlog write": "the session itself hands the binary log to the operating system",
        "kernel:futex": "its stage was not known: the statement had just begun, ended or changed its stage",
        "stage:commit": _FLUSH_BY_ANOTHER,
        "stage:waiting for handler commit": _FLUSH_BY_ANOTHER,
        "stage:waiting for prior transaction to commit": _FLUSH_BY_ANOTHER,
        "stage:updating status": _FLUSH_BY_ANOTHER,
    },
    log_write=frozenset({"io:redo log flush", "io:redo log write", "io:binlog flush", "io:binlog write"}),
    # In MariaDB with a binary log a session sleeps in the first two of these stages, without one in the
    # third; in MySQL it sleeps in the last.
    row_locks=frozenset({"lock:row"}),
    log_sync=frozenset(
        {
            "stage:commit",
            "stage:waiting for prior transaction to commit",
            "stage:updating status",
            "stage:waiting for handler commit",
        }
    ),
    losses=innodb.losses,
    ways={"mariadb": innodb_statements.ways_of_mariadb, "mysql": innodb_statements.ways_of_mysql},
    chosen=innodb.chosen,
    realised=innodb.realised,
)
