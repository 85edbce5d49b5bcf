"""Whole scans of a private SQLite database: another connection updates rows and does not commit.

In write-ahead mode a writer appends whole pages to the log, and a reader looks up in the log's index
only what was committed when its query began. What another connection has not committed is in that
connection's own cache, or behind the end of the log that the reader knows: there is no version for the
reader to pass. So the expectation is that nothing is paid, and that is what can be measured here.

Source: SQLite documentation, "Write-Ahead Logging".
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from redolab import _core
from redolab.dialect.durability import TIER_TEXT
from redolab.engine.base import Engine, MachineProbe
from redolab.engine.linux.host_counters import cpu_times, host_counters
from redolab.engine.linux.local_server import filesystem
from redolab.engine.loops.scan_loop import scan
from redolab.engine.loops.unless_stopped import unless_stopped
from redolab.engine.private.directory import remove_server
from redolab.engine.private.flushed_file import FlushedFile
from redolab.engine.private.guard import Guard
from redolab.engine.private.place import base_directory, check_room, take_charge
from redolab.engine.private.probe import cpu_loop_s
from redolab.errors import EngineError, UsageError
from redolab.records.load import Amount, Load, Scans
from redolab.records.sample import Setting, Snapshot, TaskAccount, Work

_Result = TypeVar("_Result")
# The reader's cache holds the table; the writer's is small, so that its pages do go into the log.
_READER_CACHE_KIB = 1_000_000
_WRITER_CACHE_KIB = 2_000
_CREATE = "create table scanned (id integer primary key, value integer not null)"
_INSERT = (
    "insert into scanned with recursive n(id) as (select 1 union all select id + 1 from n where id < ?) "
    "select id, 1 from n"
)
_UPDATE = "update scanned set value = value + 1 where id <= ?"
_SCAN = "select sum(value) from scanned"
_ADVICE = "SQLite keeps no log: check the free space and the health of the disk with the private file."


@contextmanager
def _as_engine_errors() -> Iterator[None]:
    """Turn SQLite's errors into `EngineError`; it encloses all that others ask of the engine."""
    try:
        yield
    except sqlite3.Error as error:
        raise EngineError(str(error).rstrip("."), _ADVICE) from error


class SQLiteEngine(Engine):
    """One private SQLite database as an `Engine`; its sessions are connections of this process."""

    @_as_engine_errors()
    def __init__(self, disk_bytes: int) -> None:
        """Make the database's directory.

        Args:
            disk_bytes: how much disk it will need.

        Raises:
            RefusedError: there is no place or no room for it.
        """
        base = base_directory(None)
        check_room(base, disk_bytes)
        self.directory = base / secrets.token_hex(6)
        self._file = self.directory / "database"
        self._stop = threading.Event()
        self._load: Scans | None = None
        self._connections: list[sqlite3.Connection] = []
        self._session = ThreadPoolExecutor(1, thread_name_prefix="session")
        self._guard = Guard()
        self._flushed: FlushedFile | None = None
        try:
            self._thread = self._session.submit(threading.get_native_id).result()
            take_charge(self.directory, self._guard, {"directory": str(self.directory)})
            self._flushed = FlushedFile(self.directory)
            self._reader = self._connect(_READER_CACHE_KIB)
            self._writer = self._connect(_WRITER_CACHE_KIB)
        except BaseException:
            self.close()
            raise

    def heed(self, stop: threading.Event) -> None:
        """End early whatever takes long, once `stop` is set."""
        self._stop = stop

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest."""
        return {
            "name": "sqlite",
            "version": sqlite3.sqlite_version,
            "local": True,
            "place": "private file",
            "emulated": {},
            "log_filesystem": filesystem(self.directory),
        }

    def conditions(self) -> list[str]:
        """Conditions that a reader of its figures must know."""
        return [
            "SQLite has no server: the queries run in Redolab's own process, in write-ahead mode.",
        ]

    def not_measured(self) -> list[str]:
        """Figures that are not available here."""
        return [
            "Row versions: a reader in write-ahead mode does not pass any row versions, however much other "
            "sessions have not committed.",
            "Buffers: this build of SQLite does not report its page cache to Python.",
            "Wait events: SQLite reports none.",
        ]

    @_as_engine_errors()
    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Make the table.

        Raises:
            UsageError: another load than whole scans.
        """
        if not isinstance(load, Scans):
            raise UsageError(f"SQLite cannot do the load {type(load).__name__.lower()}.")
        self._load = load
        self._execute(_CREATE)
        self._execute(_INSERT, load.rows)
        self._execute("pragma wal_checkpoint(truncate)")
        return tuple(
            Setting("/".join(levels.values()), levels, {}, {}, "disk", TIER_TEXT["disk"])
            for levels in combinations
        )

    @_as_engine_errors()
    def apply(self, setting: Setting) -> None:
        """Roll back what was updated, and make the setting's rounds anew."""
        load = self._ready()
        if self._writer.in_transaction:
            self._execute("rollback")
        self._execute("begin immediate")
        for _ in range(2 * int(setting.levels["rounds"])):
            self._execute(_UPDATE, load.touched)

    def probe(self) -> MachineProbe:
        """How fast this machine is."""
        return MachineProbe(cpu_loop_s(), self._flushed.flush_s() if self._flushed else None)

    @_as_engine_errors()
    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Whole scans, one after the other, in the session's thread."""
        expected = self._ready().rows

        def query() -> int:
            return int(self._reader.execute(_SCAN).fetchone()[0])

        return self._unless_stopped(
            self._reader, lambda: scan(amount, stop, query, expected, None), stop, self._session
        )

    def snapshot(self) -> Snapshot:
        """The account of the session's thread."""
        tasks = tuple(
            TaskAccount(task.pid, "session", task.start_ticks, task.cpu_ns, task.run_queue_ns)
            for task in _core.process_threads(os.getpid())
            if task.pid == self._thread
        )
        at_s, name, session = time.monotonic(), str(self._thread), (self._thread,)
        return Snapshot(at_s, name, host_counters(), tasks, None, session, cpu_times=cpu_times())

    @_as_engine_errors()
    def close(self) -> None:
        """Roll back, close the database, and remove it."""
        self._session.shutdown(wait=True)
        for connection in self._connections:
            connection.close()
        if self._flushed:
            self._flushed.close()
        self._guard.close()
        if self.directory.exists():  # The guard was killed, or had not taken charge yet.
            remove_server(self.directory)

    def _connect(self, cache_kib: int) -> sqlite3.Connection:
        connection = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        self._connections.append(connection)
        connection.execute("pragma journal_mode = wal")
        # A pragma takes no bound value; this one is a constant of this file.
        connection.execute(f"pragma cache_size = -{cache_kib}")
        return connection

    def _ready(self) -> Scans:
        assert self._load is not None, "prepare() comes first"
        return self._load

    def _execute(self, statement: str, *values: int) -> None:
        """Run what may take long, on the writer's side."""
        self._unless_stopped(self._writer, lambda: self._writer.execute(statement, values), self._stop, None)

    def _unless_stopped(
        self,
        connection: sqlite3.Connection,
        run: Callable[[], _Result],
        stop: threading.Event,
        pool: ThreadPoolExecutor | None,
    ) -> _Result:
        return unless_stopped(stop, run, connection.interrupt, pool)
