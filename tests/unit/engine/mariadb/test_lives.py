"""Which connections of a server of MariaDB's family are sessions of clients."""

from __future__ import annotations

from typing import Any

import pytest

from redolab.engine.mariadb.observer.lives import Lives


def row(command: str, user: str, thread: int = 7) -> dict[str, Any]:
    return {
        "connection": 1, "thread": thread, "user": user, "host": "localhost", "db": None, "command": command,
        "query": None, "transaction": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "user", "scope", "kind"),
    [
        ("Query", "shop", "session", "session"), ("Sleep", "shop", "session", "session"),
        ("Connect", "shop", "session", "session"),
        # MariaDB's own words, and MySQL's, where a replica's threads have the commands of clients.
        ("Slave_worker", "system user", "background", "slave_worker"),
        ("Query", "system user", "background", "sql/replica_worker"),
        ("Connect", "system user", "background", "sql/replica_worker"),
        ("Binlog Dump GTID", "copier", "background", "binlog dump gtid"),
        ("Daemon", "event_scheduler", "background", "daemon"),
    ],
)  # fmt: skip
def test_threads_of_replication_are_no_sessions(command: str, user: str, scope: str, kind: str) -> None:
    lives = Lives(own=())
    lives.names = {7: ("sql/replica_worker" if user == "system user" else "sql/one_connection", None)}
    lives.poll([row(command, user)], None, 0, 0.0)
    (life,) = lives.all
    assert (life.scope, life.kind) == (scope, kind)


def test_a_thread_of_replication_without_a_name_is_called_so() -> None:
    lives = Lives(own=())
    lives.poll([row("Query", "system user")], None, 0, 0.0)
    assert lives.all[0].kind == "replication"
