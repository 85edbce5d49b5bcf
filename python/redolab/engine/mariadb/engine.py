"""Whole scans on a private MariaDB: another session updates rows and does not commit.

InnoDB changes a row in place and keeps what it was in the undo log. A scan that may not see the new
values goes back from the row through the undo log, version by version, every time it comes by: what it
builds is kept by nobody. So no page is added to the table, and pages of the undo log are read instead.

Source: MariaDB documentation, "InnoDB Undo Log".
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import pymysql
from pymysql.cursors import Cursor

from redolab import _core
from redolab.engine.base import Engine
from redolab.engine.linux.host_counters import host_counters
from redolab.engine.linux.local_server import process_cpu_ns
from redolab.engine.loops.scan_loop import scan
from redolab.engine.loops.unless_stopped import unless_stopped
from redolab.engine.mariadb.connection import Target, connect, connect_private
from redolab.engine.mariadb.driver_errors import as_engine_errors
from redolab.engine.mariadb.observer.server import identify
from redolab.engine.mariadb.observer.source import RATE_PER_S, ThreadSource, why_blind
from redolab.engine.mariadb.private import PrivateServer
from redolab.engine.private.log_device import emulated
from redolab.engine.sampling.alternation import InTurns, Mark
from redolab.engine.statements import statement
from redolab.errors import RefusedError, UsageError
from redolab.records.design import SEEDS
from redolab.records.load import Amount, Load, Scans
from redolab.records.sample import TIER_TEXT, Setting, Snapshot, TaskAccount, Work

if TYPE_CHECKING:
    Connection = pymysql.Connection[Cursor]
else:
    Connection = pymysql.Connection

_Result = TypeVar("_Result")

_BATCH = 100_000
_CREATE = (
    "create database redolab",
    "create table redolab.scanned (id int not null primary key, value int not null) engine=InnoDB",
)
_INSERT = (
    "insert into redolab.scanned select seq, 1 from redolab.seq_1_to_2000000000 where seq between %s and %s"
)
_UPDATE = "update redolab.scanned set value = value + 1 where id <= %s"
_SCAN = "select sum(value) from redolab.scanned"
_OWN_THREAD = "select tid from information_schema.processlist where id = connection_id()"
_COUNTERS = (
    "show global status where variable_name in "
    "('Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads')"
)


class MariaDBEngine(Engine):
    """One private MariaDB as an `Engine`."""

    @as_engine_errors()
    def __init__(self, server: PrivateServer, seed: int) -> None:
        """Connect to a server that was just started.

        Args:
            server: Redolab's own.
            seed: of the wait sampler's gaps.
        """
        self._server, self._seed = server, seed
        self._stop = threading.Event()
        self._control, self._session, self._other = (connect_private(server.socket) for _ in range(3))
        self._ids = {
            each: int(_rows(each, "select connection_id()")[0][0])
            for each in (self._control, self._session, self._other)
        }
        self._load: Scans | None = None
        self._versions = 0
        self._version = str(_rows(self._control, "select version()")[0][0])
        self._threads = {
            each: int(_rows(each, _OWN_THREAD)[0][0]) for each in (self._control, self._session, self._other)
        }
        self._open_watcher()

    def _open_watcher(self) -> None:
        target = Target("localhost", 3306, "root", str(self._server.socket), None, None)
        self._watcher = connect(target, "redolab sampler", customs=False)
        # Which process it is need not be guessed here.
        self._watched = replace(identify(self._watcher, target), process=self._server.pid)

    def heed(self, stop: threading.Event) -> None:
        """End early whatever takes long, once `stop` is set."""
        self._stop = stop

    def sampler(self) -> Mapping[str, Any]:
        """How wait events are read here, and how often."""
        return {"source": self._watched.source, "rate_per_s": RATE_PER_S}

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest."""
        return {
            "name": "mariadb",
            "version": self._version,
            "local": True,
            "place": "private server",
            "emulated": emulated(self._server.device),
            "log_filesystem": self._server.log_filesystem,
        }

    def conditions(self) -> list[str]:
        """What a reader of its figures must know."""
        return [
            "Every query is a round trip between Redolab and the server; its time contains that of a "
            "socket, some 0.1 ms.",
            "Row versions are counted by the updates that made them: InnoDB does not count its steps "
            "through the undo log. The buffers show them.",
        ]

    def not_measured(self) -> list[str]:
        """What cannot be had here."""
        return [
            "Exact times of file operations, and names of locks inside the server: MariaDB's instruments "
            "are off, because they slow the server down by a sixth. Its process list and the kernel say "
            "what each thread waits for.",
            "What the wait sampler does to the load: a sample is a fixed number of scans, and turning the "
            "sampler on and off needs a load of fixed length.",
            *(f"{what.capitalize()}: {why}." for what, why in why_blind(self._watched.process)),
        ]

    @as_engine_errors()
    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Make the table.

        Raises:
            UsageError: another load than whole scans.
        """
        if not isinstance(load, Scans):
            raise UsageError(f"MariaDB cannot do the load {type(load).__name__.lower()}.")
        self._load = load
        for creating in _CREATE:
            self._execute(self._control, creating)
        for first in range(1, load.rows + 1, _BATCH):
            self._execute(self._control, _INSERT, first, min(first + _BATCH - 1, load.rows))
        return tuple(
            Setting("/".join(levels.values()), levels, {}, {}, "disk", TIER_TEXT["disk"])
            for levels in combinations
        )

    @as_engine_errors()
    def apply(self, setting: Setting) -> None:
        """Roll back what was updated, and make the setting's rounds anew."""
        load = self._ready()
        self._execute(self._other, "rollback")
        self._execute(self._other, "begin")
        self._versions = load.rows
        for _ in range(2 * int(setting.levels["rounds"])):
            self._versions += self._execute(self._other, _UPDATE, load.touched)

    @as_engine_errors()
    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Whole scans, one after the other."""
        load = self._ready()

        def query() -> int:
            return int(_rows(self._session, _SCAN)[0][0])

        def run() -> Work:
            return scan(amount, stop, query, load.rows, self._versions)

        return self._unless_stopped(self._session, run, stop)

    @as_engine_errors()
    def snapshot(self) -> Snapshot:
        """The threads' accounts and the buffer pool's counters."""
        status = dict(_rows(self._control, _COUNTERS))
        requests = float(status["Innodb_buffer_pool_read_requests"])
        reads = float(status["Innodb_buffer_pool_reads"])
        tasks = _core.process_threads(self._server.pid)
        used_ns = process_cpu_ns(self._server.pid)
        watcher = self._watched.own_thread
        own = {self._threads[self._control], watcher}
        return Snapshot(
            time.monotonic(),
            str(self._server.pid),
            {
                "buffer_hits": requests - reads,
                "buffer_reads": reads,
                "sampler_cpu_s": sum(t.cpu_ns for t in tasks if t.pid == watcher) / 1e9,
                **host_counters(),
            },
            tuple(
                TaskAccount(t.pid, self._kind(t), t.start_ticks, t.cpu_ns, t.run_queue_ns)
                for t in tasks
                if t.pid not in own
            ),
            # What the whole process used beside its living threads.
            None if used_ns is None else used_ns - sum(t.cpu_ns for t in tasks),
            (self._threads[self._session],),
        )

    def _kind(self, task: _core.Task) -> str:
        """What a thread is, in the words that its ticks have."""
        return "session" if task.pid in self._threads.values() else task.kind

    def watch(self, in_turns_s: float = 0.0) -> InTurns:
        """Sample waits while the `with` block runs, in turns on and off over `in_turns_s` seconds."""
        self._seed = (self._seed + 1) % SEEDS
        sessions = [self._threads[self._session]]
        return InTurns(self._begin_watching, self._edge, in_turns_s, self._seed, sessions)

    def _begin_watching(self) -> ThreadSource | None:
        """The source; None while the server is going down."""
        with suppress(pymysql.Error, OSError, RefusedError):
            if not self._watcher.open:
                self._open_watcher()
            own = [self._threads[self._control]]
            return ThreadSource(self._watcher, self._watched, self._seed, own)
        return None

    def _edge(self) -> Mark | None:
        """The server's clock and its transactions that wrote; None when the connection is lost."""
        with suppress(pymysql.Error):
            at_s, numbers = _rows(self._control, statement("mariadb/sql", "select_transactions", 1000))[0]
            return Mark(float(at_s), int(numbers) // 2)
        return None

    @as_engine_errors()
    def close(self) -> None:
        """Close the connections, and remove the server."""
        try:
            for connection in (self._session, self._other, self._control, self._watcher):
                if connection.open:
                    connection.close()
        finally:
            self._server.stop()

    def _ready(self) -> Scans:
        assert self._load is not None, "prepare() comes first"
        return self._load

    def _execute(self, connection: Connection, statement: str, *values: int) -> int:
        """Run what may take long; returns how many rows it touched."""

        def run() -> int:
            with connection.cursor() as cursor:
                return cursor.execute(statement, values or None)

        return self._unless_stopped(connection, run, self._stop)

    def _unless_stopped(
        self, connection: Connection, run: Callable[[], _Result], stop: threading.Event
    ) -> _Result:
        def cancel() -> None:
            helper = connect_private(self._server.socket)
            with helper, helper.cursor() as cursor:
                cursor.execute("kill query %s", (self._ids[connection],))

        return unless_stopped(stop, run, cancel)


def _rows(connection: Connection, statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())
