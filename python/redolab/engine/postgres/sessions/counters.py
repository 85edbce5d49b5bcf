"""When a session's counters are added to those that everybody sees."""

from __future__ import annotations

import time

from redolab.engine.postgres.connecting.connection import Connection


def publish_counters(connection: Connection) -> None:
    """Make the server add this session's counters to the shared ones now, not a second later."""
    if connection.info.server_version >= 150_000:
        connection.execute("select pg_stat_force_next_flush()")
    else:
        # Before 15 a session reports at most twice a second, at the end of a statement.
        time.sleep(0.6)
        connection.execute("select 1")
        time.sleep(0.6)
