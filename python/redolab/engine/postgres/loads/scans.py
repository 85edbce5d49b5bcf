"""Whole scans of a table that another session updates and does not commit, in a loop inside the server.

PostgreSQL keeps every version of a row in the table itself: an update adds one, and a scan passes them
all and judges for each whether it may see it. The other session is the load's own. A setting's rounds
are made anew each time: what was updated is rolled back, and a vacuum takes the versions away.

Source: PostgreSQL manual, "Concurrency Control" and "Routine Vacuuming".
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

import psycopg
from psycopg.pq import TransactionStatus

from redolab.engine.loops.unless_stopped import unless_stopped
from redolab.engine.postgres.connecting.connection import Connection, Connector, run_script
from redolab.engine.postgres.loads.base import Call, PostgresLoad, Turn, call
from redolab.engine.postgres.sessions.counters import publish_counters
from redolab.errors import RefusedError
from redolab.records.load import Scans

_BATCH = 1_000_000
_CANCEL_LIMIT_S = 5.0


class PostgresScans(PostgresLoad):
    """`Scans` on PostgreSQL."""

    def __init__(self, load: Scans, connector: Connector, stop: threading.Event) -> None:
        self._load, self._connector, self._stop = load, connector, stop
        self._other: Connection | None = None
        self._versions = load.rows
        self._pages = 0

    def create(self, control: Connection) -> None:
        """The table, all of whose pages are known to be visible to all, and the loop."""
        run_script(control, "create_scans")
        for first in range(1, self._load.rows + 1, _BATCH):
            last = min(first + _BATCH - 1, self._load.rows)
            self._run(
                control,
                "insert into redolab.scanned select n, 1 from generate_series(%s::int, %s::int) n",
                (first, last),
            )
        self._run(control, "vacuum (freeze, analyze) redolab.scanned")
        self._pages = _pages(control)
        self._other = self._connect()

    def apply(self, control: Connection, levels: Mapping[str, str]) -> None:
        """Roll back what was updated, take its versions away, and make the setting's rounds anew.

        Raises:
            RefusedError: the versions could not be taken away.
        """
        assert self._other is not None, "create() comes first"
        if self._other.closed:
            self._other = self._connect()
        self._other.rollback()
        self._run(control, "vacuum redolab.scanned")
        if _pages(control) > self._pages:
            raise RefusedError(
                "The versions of rows that were rolled back could not be removed from redolab.scanned: "
                "another transaction on this server is so old that it might still see these versions. End it "
                "(see backend_xmin in pg_stat_activity, pg_prepared_xacts and pg_replication_slots), or run "
                "on a quiet server."
            )
        publish_counters(control)  # The vacuum's pages are not the sample's.
        self._versions = self._load.rows
        self._other.execute("begin")
        for _ in range(2 * int(levels["rounds"])):
            self._versions += self._run(
                self._other,
                "update redolab.scanned set value = value + 1 where id <= %s",
                (self._load.touched,),
            )

    def call(self, turn: Turn) -> Call:
        """The loop."""
        return call("scan_loop", turn.share, turn.deadline, self._load.rows, self._versions)

    def close(self) -> None:
        """Break off and roll back the other session's transaction."""
        if self._other is None:
            return
        if self._other.info.transaction_status == TransactionStatus.ACTIVE:
            _cancel(self._other)
        self._other.close()

    def _connect(self) -> Connection:
        """The other session; in the middle of an update it notices within seconds that Redolab is gone."""
        other = self._connector.connect("redolab updates")
        other.execute("set client_connection_check_interval = '1s'")
        other.execute("set idle_in_transaction_session_timeout = 0")
        return other

    def _run(self, connection: Connection, statement: str, values: tuple[int, ...] = ()) -> int:
        """Execute what may take long; returns how many rows it touched."""
        cursor = unless_stopped(
            self._stop,
            lambda: connection.execute(statement.encode(), values),
            lambda: _cancel(connection),
        )
        return cursor.rowcount


def _cancel(connection: Connection) -> None:
    try:
        connection.cancel_safe(timeout=_CANCEL_LIMIT_S)
    except psycopg.Error:
        connection.close()


def _pages(control: Connection) -> int:
    row = control.execute(
        "select pg_relation_size('redolab.scanned') / current_setting('block_size')::int as pages"
    ).fetchone()
    assert row is not None
    return int(row["pages"])
