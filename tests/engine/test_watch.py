"""A loaded server watched: what is stored agrees with what its clients counted, whatever happens to it."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

from redolab.commands.watch import watch
from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.connection import log_in
from redolab.errors import RefusedError, UsageError
from redolab.measure import watching
from redolab.measure.watching import PeriodLengths
from redolab.records.run import Run
from redolab.records.watched import LOG_SYNC, LOG_WRITE, SESSIONS
from tests.mariadb import MariaDB, running_mariadb
from tests.server_programs import INSTALLED, program_of
from tests.servers import PASSWORD, Server, versions_in_whole

ROWS, SESSIONS_AT_WORK = 3, 4
Connect = Callable[[], Any]


@dataclass
class Live:
    """A server under test: how it is named, reached and restarted."""

    url: str
    connect: Connect
    restart: Callable[[], None]
    sessions: Callable[[], int]
    """Redolab's sessions in it."""
    table: str = "watched_load"


class Load:
    """Sessions that commit so many rows at a time until they are told to end; reconnects when it must."""

    def __init__(self, connect: Connect, table: str) -> None:
        self._insert = f"insert into {table} values {', '.join(['(1)'] * ROWS)}"
        self.commits, self.begun, self._connect = 0, threading.Event(), connect
        self._end, self._lock = threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._work) for _ in range(SESSIONS_AT_WORK)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while not self._end.is_set():
            with suppress(psycopg.Error, pymysql.Error, RefusedError, OSError), self._connect() as connection:
                cursor = connection.cursor()
                while not self._end.is_set():
                    cursor.execute(self._insert)
                    with self._lock:
                        self.commits += 1
                    time.sleep(0.002)
            time.sleep(0.05)


@contextmanager
def loaded(live: Live, after_s: float, for_s: float) -> Iterator[Load]:
    """Begin a load after a while, and end it after another."""
    load = Load(live.connect, live.table)

    def drive() -> None:
        time.sleep(after_s)
        load.start()
        time.sleep(for_s)
        load.end()

    driver = threading.Thread(target=drive)
    driver.start()
    try:
        yield load
    finally:
        driver.join()


def counting(run: Run, name: str) -> int:
    """The sum of a column over the stretches that count."""
    spoiled = run.samples["spoiled"].to_pylist()
    return sum(
        value or 0 for value, why in zip(run.samples[name].to_pylist(), spoiled, strict=True) if why is None
    )


@pytest.fixture
def postgres(own_server: Server, monkeypatch: pytest.MonkeyPatch) -> Live:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with own_server.admin() as admin:
        admin.execute("create table watched_load (a int)")

    def restart() -> None:
        own_server.stop()
        time.sleep(1.5)
        own_server.start()

    def connect() -> Any:
        return psycopg.connect(own_server.conninfo("postgres"), autocommit=True)

    return Live(own_server.url(), connect, restart, own_server.redolab_sessions)


@contextmanager
def family(name: str, *options: str) -> Iterator[Live]:
    place = Path(tempfile.mkdtemp(prefix="redolab-watch-"))
    try:
        with running_mariadb(place / "server", *options, name=name) as server:
            server.ask("create database watched")
            server.ask("create table watched.watched_load (a int) engine=innodb")
            yield Live(
                server.url,
                lambda: log_in(read_target(server.url), "a test"),
                lambda: restart_mariadb(server),
                lambda: len(server.ask("select 1 from information_schema.processlist")) - 1,
                "watched.watched_load",
            )
    finally:
        shutil.rmtree(place)


def restart_mariadb(server: MariaDB) -> None:
    server.stop()
    time.sleep(1.5)
    server.start()


@pytest.fixture(params=["postgresql", INSTALLED, f"{INSTALLED}, binlog", "mysql 9.7"])
def live(request: pytest.FixtureRequest) -> Iterator[Live]:
    """Each database, MariaDB with a binary log and without."""
    if request.param == "postgresql":
        yield request.getfixturevalue("postgres")
        return
    name, _, binlog = request.param.partition(", ")
    program_of(name)
    with family(name, *(["--log-bin", "--sync-binlog=1"] if binlog else [])) as it:
        yield it


def test_what_is_stored_is_what_the_clients_did(live: Live, tmp_path: Path) -> None:
    with loaded(live, 3.0, 14.0) as load:
        outcome = watch(live.url, tmp_path / "watch", 22.0, "test", PeriodLengths(4.4))
    run = outcome.run
    assert outcome.error is None
    assert run.manifest["status"] == "finished"
    assert run.samples.num_rows in (4, 5, 6)
    assert run.samples["spoiled"].to_pylist() == [None] * run.samples.num_rows
    assert sum(run.samples["elapsed_s"].to_pylist()) == pytest.approx(22.0, abs=1.0)
    commits = load.commits
    assert commits > 100
    # The server has transactions of its own now and then; the client misses the one it was stopped in.
    assert commits <= counting(run, "transactions") <= commits + 40
    written = counting(run, "rows_written")
    assert ROWS * commits <= written <= ROWS * (commits + SESSIONS_AT_WORK) + 40
    assert counting(run, "log_flushes") > 0
    at_work = max(run.samples["worked_sessions"].to_pylist())
    assert at_work >= SESSIONS_AT_WORK
    assert counting(run, "session_cpu_s") > 0
    assert counting(run, "log_sync_s") > 0
    connected = run.samples["connected_s"].to_pylist()
    assert max(connected) == pytest.approx(SESSIONS_AT_WORK * 4.4, rel=0.25)
    for name in ("host_cpus", "host_cores", "host_busy_s", "instance_cpu_s", "sampler_cpu_s"):
        assert all(value is not None and value > 0 for value in run.samples[name].to_pylist()), name
    sections = set(run.entries["section"].to_pylist())
    assert SESSIONS in sections
    engine = run.manifest["engine"]
    if engine["name"] == "postgresql":
        assert {LOG_SYNC, LOG_WRITE} <= sections
        assert counting(run, "log_flush_time_s") > 0
    else:
        binlog = engine["binlog"]
        flushes = counting(run, "binlog_flushes")
        assert 0 < flushes <= commits + 20 if binlog else flushes == 0
    if engine["name"] == "mariadb":
        assert run.samples["log_flush_time_s"].null_count == run.samples.num_rows
        assert any(note.startswith("Time of log flushes") for note in run.manifest["not_measured"])


def test_a_restart_spoils_one_stretch_and_is_outlived(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_LONGEST_WAIT_S", 2.0)
    restarted = threading.Timer(6.0, live.restart)
    restarted.start()
    with loaded(live, 0.0, 20.0) as load:
        outcome = watch(live.url, tmp_path / "watch", 24.0, "test", PeriodLengths(4.0))
    restarted.join()
    run = outcome.run
    assert outcome.error is None
    spoiled = run.samples["spoiled"].to_pylist()
    lost = [why for why in spoiled if why is not None]
    assert len(lost) == 1
    assert "lost" in lost[0]
    place = spoiled.index(lost[0])
    assert place > 0
    after = run.samples.slice(place + 1)
    assert after.num_rows > 0
    assert all(count for count in after["transactions"].to_pylist()[:1])
    # The gap is in no stretch.
    starts, lengths = run.samples["start_s"].to_pylist(), run.samples["elapsed_s"].to_pylist()
    gaps = [then - (start + length) for start, length, then in zip(starts, lengths, starts[1:], strict=False)]
    assert max(gaps) > 0.5
    assert gaps.index(max(gaps)) == place
    assert min(gaps) >= 0
    assert 0 < counting(run, "transactions") <= load.commits + 40


def test_nothing_is_left_in_the_server(postgres: Live, tmp_path: Path) -> None:
    watch(postgres.url, tmp_path / "watch", 3.0, "test")
    with postgres.connect() as connection:
        found = connection.execute(
            "select (select count(*) from pg_class where relnamespace = 'public'::regnamespace),"
            " (select count(*) from pg_namespace where nspname !~ '^(pg_|information_schema$)')"
        ).fetchone()
    assert found == (1, 1)
    deadline = time.monotonic() + 10
    while postgres.sessions():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_watch_goes_on_with_its_own_server_alone(
    postgres: Live, servers: Callable[[str], Server], tmp_path: Path
) -> None:
    out = tmp_path / "watch"
    watch(postgres.url, out, 2.0, "test")
    again = watch(postgres.url, out, 2.0, "test").run
    assert again.samples["block"].to_pylist() == [1, 2]
    assert again.samples["sample"].to_pylist() == [1, 2]
    with pytest.raises(UsageError, match="is not the server watched in"):
        watch(servers(versions_in_whole()[0]).url(), out, 2.0, "test")
    postgres.restart()
    assert watch(postgres.url, out, 2.0, "test").run.samples.num_rows == 3
