"""A live MariaDB whose sessions are made to wait in known ways: what the observer says of each."""

from __future__ import annotations

import gc
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pymysql
import pytest

from redolab.commands.profile import watch
from redolab.dialect.log_waits import is_log_sync
from redolab.engine.mariadb.connection import connect, fetch, read_target
from redolab.engine.mariadb.observer import observer as observe_mariadb
from redolab.engine.mariadb.observer import server as mariadb_server
from redolab.engine.mariadb.observer import source as mariadb_source
from redolab.engine.mariadb.observer.observer import MariadbObserver
from redolab.engine.observer import open_observer
from redolab.engine.private.log_device import Log, LogDevice
from redolab.errors import RefusedError, UsageError
from redolab.records.observation import STATES, Observation, Observed, join
from tests.mariadb import PASSWORD, MariaDB, number_of, run, running_mariadb
from tests.servers import wait_until

WATCHED_S = 1.5
EVERY_WAIT = (
    "--performance-schema=ON",
    "--performance-schema-consumer-events-waits-current=ON",
    "--performance-schema-instrument=wait/synch/cond/%=ON",
)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    # The path of a socket may be no longer than 107 bytes.
    made = Path(tempfile.mkdtemp(prefix="redolab-mariadb-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def plain(place: Path) -> Iterator[MariaDB]:
    """As Debian has it: performance_schema off, no binary log."""
    with running_mariadb(place / "plain") as server:
        prepare(server)
        yield server


@pytest.fixture(scope="module")
def instrumented(place: Path) -> Iterator[MariaDB]:
    with running_mariadb(place / "instrumented", "--log-bin", "--sync-binlog=1", *EVERY_WAIT) as server:
        prepare(server)
        yield server


@pytest.fixture(params=["plain", "instrumented"])
def server(request: pytest.FixtureRequest) -> MariaDB:
    found: MariaDB = request.getfixturevalue(request.param)
    return found


def prepare(server: MariaDB) -> None:
    server.ask("create database t")
    server.ask("create table t.counter (id int primary key, n int) engine=innodb")
    server.ask("insert into t.counter select seq, 0 from t.seq_1_to_16")


class Session:
    """A client with one statement under way in a thread, or none."""

    def __init__(self, server: MariaDB, *statements: str, last: str | None = None) -> None:
        self.server = server
        self.connection = server.connect()
        self.number = number_of(self.connection)
        for statement in statements:
            run(self.connection, statement)
        self._thread: threading.Thread | None = None
        if last is not None:
            self._thread = threading.Thread(target=self._run, args=(last,))
            self._thread.start()

    def _run(self, statement: str) -> None:
        try:
            run(self.connection, statement)
        except pymysql.Error as error:
            self.error = error

    def in_stage(self, stage: str) -> bool:
        rows = self.server.ask(f"select state from information_schema.processlist where id = {self.number}")
        return bool(rows) and stage in (rows[0]["state"] or "")

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def end(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self.server.ask(f"kill query {self.number}")
        self.wait()
        self.connection.close()


@contextmanager
def sessions(*made: Session) -> Iterator[None]:
    try:
        yield
    finally:
        for session in made:
            session.end()


def watched(server: MariaDB, seconds: float = WATCHED_S, readings: int = 2) -> Observation:
    with closing(open_observer(server.url, 7)) as observer:
        seen = []
        for _ in range(readings):
            time.sleep(seconds / readings)
            seen.append(observer.read())
    for observation in seen:
        assert_consistent(observation)
    return join(seen)


def assert_consistent(it: Observation) -> None:
    """Looks and accounts agree with each other whatever was seen."""
    assert it.events[0] == ("", "idle")
    assert len(set(it.events)) == len(it.events)
    looks = it.looks
    assert len(looks.tick) == len(looks.process) == len(looks.event) == len(looks.state)
    assert np.all(looks.event > 0)
    assert np.all(looks.event < len(it.events))
    assert np.all(looks.state < len(STATES))
    assert np.all(np.diff(looks.tick.astype(int)) >= 0)
    first = np.array([process.first_tick for process in it.processes])
    last = np.array([process.last_tick for process in it.processes])
    assert np.all(looks.tick >= first[looks.process])
    assert np.all(looks.tick < last[looks.process])
    assert len({(p.pid, p.started) for p in it.processes}) == len(it.processes)
    for process in it.processes:
        assert process.first_tick <= process.last_tick <= it.ticks
        assert 0 <= process.skipped <= process.last_tick - process.first_tick
        # The accounts of all threads are read one after the other, and the clock after them.
        slack_s = 0.1 + 0.05 * it.elapsed_s
        assert 0 <= process.elapsed_s <= it.elapsed_s + slack_s
        if process.cpu_s is not None and process.run_queue_s is not None:
            assert process.cpu_s >= 0
            assert process.run_queue_s >= 0
            assert process.cpu_s + process.run_queue_s <= process.elapsed_s + slack_s


def one(it: Observation, session: Session) -> Observed:
    (found,) = (process for process in it.processes if process.connection == session.number)
    return found


def found(it: Observation, process: Observed) -> Counter[tuple[str, str, str]]:
    """Class, event and scheduler state of every look at a process."""
    mine = it.looks.process == it.processes.index(process)
    pairs = zip(it.looks.event[mine], it.looks.state[mine], strict=True)
    return Counter((*it.events[event], STATES[state]) for event, state in pairs)


def ticks_of(process: Observed) -> int:
    return process.last_tick - process.first_tick - process.skipped


def test_each_session_is_seen_doing_what_it_does(server: MariaDB) -> None:
    idle = Session(server)
    holder = Session(server, "begin", "update t.counter set n = n + 1 where id = 1")
    sleeper = Session(server, last="select sleep(1000)")
    spinner = Session(server, last="select benchmark(100000000000, 1 + 1)")
    waiter = Session(server, last="update t.counter set n = n + 1 where id = 1")
    with sessions(waiter, spinner, sleeper, holder, idle):
        wait_until(lambda: sleeper.in_stage("User sleep"), "the sleeper sleeps")
        wait_until(lambda: spinner.in_stage("Executing"), "the spinner spins")
        wait_until(lambda: waits_for_row(server, waiter), "the waiter waits")
        it = watched(server)
    assert it.server["local"] is True
    assert it.server["name"] == "MariaDB"
    assert found(it, one(it, sleeper)).total() == ticks_of(one(it, sleeper)) > 0
    assert set(found(it, one(it, sleeper))) == {("Stage", "User sleep", "asleep")}
    assert set(found(it, one(it, waiter))) == {("Lock", "row", "asleep")}
    assert found(it, one(it, waiter)).total() == ticks_of(one(it, waiter))
    assert set(found(it, one(it, spinner))) == {("", "", "awake")}
    for session, busy in ((sleeper, False), (waiter, False), (spinner, True), (idle, False), (holder, False)):
        process = one(it, session)
        assert process.scope == "session"
        assert process.client == "local"
        assert not process.ended
        assert process.cpu_s is not None
        assert process.run_queue_s is not None
        assert (process.cpu_s + process.run_queue_s > 0.5 * process.elapsed_s) is busy
    assert not found(it, one(it, idle)) and not found(it, one(it, holder))  # noqa: PT018
    assert one(it, idle).polls_idle > 0 == one(it, idle).polls_in_transaction
    assert one(it, holder).polls_in_transaction > 0 == one(it, holder).polls_idle
    assert one(it, sleeper).polls_idle == one(it, sleeper).polls_in_transaction == 0
    assert it.instrument.cpu_s > 0
    assert it.instrument.server_cpu_s is not None
    assert it.log_sync is None


def waits_for_row(server: MariaDB, session: Session) -> bool:
    # The list of transactions is made anew only when nobody has asked for 0.1 s.
    time.sleep(0.2)
    rows = server.ask(
        "select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT' "
        f"and trx_mysql_thread_id = {session.number}"
    )
    return bool(rows)


def test_a_row_lock_that_ends_is_timed_by_the_server(server: MariaDB) -> None:
    holder = Session(server, "begin", "update t.counter set n = n + 1 where id = 2")
    with sessions(holder), closing(MariadbObserver(server.url, 3)) as observer:
        before_s = time.monotonic()
        waiter = Session(server, last="update t.counter set n = n + 1 where id = 2")
        with sessions(waiter):
            wait_until(lambda: waits_for_row(server, waiter), "the waiter waits")
            certain_s = time.monotonic()
            time.sleep(0.5)
            held_s = time.monotonic() - certain_s
            run(holder.connection, "commit")
            waiter.wait()
            longest_s = time.monotonic() - before_s
            it = observer.read()
    (row,) = (timed for timed in it.timed if it.events[timed.event] == ("Lock", "row"))
    assert row.process is None
    assert row.count == 1
    assert row.time_s is not None
    # The server counts whole milliseconds.
    assert held_s - 0.001 <= row.time_s <= longest_s + 0.001
    assert found(it, one(it, waiter))["Lock", "row", "asleep"] > 0


def test_a_wait_with_a_time_limit_is_no_row_lock_where_the_server_knows_of_none(plain: MariaDB) -> None:
    reader = Session(plain, "begin", "select * from t.counter where id = 1")
    altering = Session(plain, last="alter table t.counter comment = 'x'")
    with sessions(altering, reader):
        wait_until(lambda: altering.in_stage("metadata lock"), "the statement waits for the table")
        it = watched(plain)
    seen = found(it, one(it, altering))
    # It waits in pieces of a second, and a tick may fall on the moment between two of them.
    assert set(seen) - {("", "", "awake")} == {("Stage", "Waiting for table metadata lock", "asleep")}
    assert seen["", "", "awake"] <= 0.2 * seen.total()
    assert ("Lock", "row") not in it.events


def test_performance_schema_knows_waits_threads_and_programs(instrumented: MariaDB) -> None:
    sleeper = Session(instrumented, last="select sleep(1000)")
    with sessions(sleeper):
        wait_until(lambda: sleeper.in_stage("User sleep"), "the sleeper sleeps")
        it = watched(instrumented)
        with closing(instrumented.connect()) as connection:
            waits = fetch(connection, "select_waits", 1011)
    assert it.instrument.source == "performance_schema"
    assert one(it, sleeper).application == "a test"
    assert "innodb/page_cleaner_thread" in {process.kind for process in it.processes}
    names = [row["name"] for row in waits if row["connection"] == sleeper.number]
    assert names == ["wait/synch/cond/sql/Item_func_sleep::cond"]


def commit(server: MariaDB, clients: int, commits: int) -> None:
    """Clients that commit one update each time, from outside: in a procedure commits need not wait."""

    def work(number: int) -> None:
        with closing(server.connect()) as connection:
            for _ in range(commits):
                run(connection, f"update t.counter set n = n + 1 where id = {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3, 3 + clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_commits_are_counted(server: MariaDB) -> None:
    clients, commits = 4, 100
    with closing(MariadbObserver(server.url, 4)) as observer:
        commit(server, clients, commits)
        it = observer.read()
    assert_consistent(it)
    transactions = it.counters["transactions"]
    assert transactions is not None
    # The server has transactions of its own now and then.
    assert clients * commits <= transactions < clients * commits + 20
    assert it.counters["log_flushes"]
    assert it.counters["log_writes"]
    assert it.counters["log_bytes"]
    binlog = bool(server.ask("select @@log_bin as it")[0]["it"])
    assert it.counters["commits"] == (clients * commits if binlog else None)
    flushes = [timed for timed in it.timed if it.events[timed.event] == ("IO", "binlog flush")]
    assert len(flushes) == binlog
    for timed in flushes:
        assert 0 < timed.count <= clients * commits + 5
        assert timed.time_s


@pytest.mark.parametrize("options", [(), ("--log-bin", "--sync-binlog=1")], ids=["no binlog", "binlog"])
def test_commits_on_a_slow_log_wait_for_it(place: Path, options: tuple[str, ...]) -> None:
    directory = Path(tempfile.mkdtemp(dir=place))
    (directory / "data").symlink_to(directory / "slow" / "data")
    device = LogDevice(directory, [Log("redo", "redo log", "ib_logfile")], [0.02], None)
    with (
        closing(device),
        running_mariadb(directory / "slow", *options, environment=device.environment) as server,
    ):
        prepare(server)
        with closing(MariadbObserver(server.url, 5)) as observer:
            commit(server, 4, 60)
            it = observer.read()
    asleep: Counter[bool] = Counter()
    for process in it.processes:
        if process.scope == "session":
            for (kind, event, state), count in found(it, process).items():
                if state == "asleep":
                    asleep[is_log_sync(f"{kind}:{event}")] += count
    assert asleep[True] > 0.9 * asleep.total()


def test_threads_serve_one_session_after_another(plain: MariaDB) -> None:
    with closing(MariadbObserver(plain.url, 6)) as observer:
        numbers = []
        for _ in range(3):
            with closing(plain.connect()) as connection:
                numbers.append(number_of(connection))
                run(connection, "select sleep(0.6)")
        it = observer.read()
    assert_consistent(it)
    assert set(numbers) <= {process.connection for process in it.processes}
    assert all(process.ended for process in it.processes if process.connection in numbers)


def test_nothing_is_lost_while_connections_come_and_go(plain: MariaDB) -> None:
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            with closing(plain.connect()) as connection:
                run(connection, "select 1")

    threads = [threading.Thread(target=come_and_go) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        it = watched(plain)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert it.instrument.lost == 0
    assert any("came and went" in warning for warning in it.warnings)


def test_the_books_of_cpu_balance(plain: MariaDB) -> None:
    pid = plain.process.pid if plain.process else 0
    clock = (~pid << 3) | 2
    before_s = time.clock_gettime(clock)
    with closing(MariadbObserver(plain.url, 8)) as observer:
        inner_before_s = time.clock_gettime(clock)
        commit(plain, 2, 200)
        inner_s = time.clock_gettime(clock) - inner_before_s
        it = observer.read()
        outer_s = time.clock_gettime(clock) - before_s
    assert it.ended_cpu_s is not None
    assert it.instrument.server_cpu_s is not None
    booked_s = sum(process.cpu_s or 0 for process in it.processes)
    booked_s += it.ended_cpu_s + it.instrument.server_cpu_s
    assert inner_s <= booked_s <= outer_s


def test_a_far_server_is_watched_by_its_own_word(server: MariaDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb_server, "find_process", lambda *_: None)
    sleeper = Session(server, last="select sleep(1000)")
    with sessions(sleeper):
        wait_until(lambda: sleeper.in_stage("User sleep"), "the sleeper sleeps")
        it = watched(server)
    assert it.server["local"] is False
    assert it.host_busy_s is None
    assert it.ended_cpu_s is None
    process = one(it, sleeper)
    assert process.cpu_s is None
    assert {state for *_, state in found(it, process)} == {"unknown"}
    assert found(it, process).total() == ticks_of(process)
    assert any("not on this machine" in why for _, why in it.not_available)
    assert {process.scope for process in it.processes} == {"session"}


def test_a_profile_adds_up(server: MariaDB) -> None:
    holder = Session(server, "begin", "update t.counter set n = n + 1 where id = 16")
    waiter = Session(server, last="update t.counter set n = n + 1 where id = 16")
    spinner = Session(server, last="select benchmark(100000000000, 1 + 1)")
    with sessions(waiter, spinner, holder):
        wait_until(lambda: waits_for_row(server, waiter), "the waiter waits")
        wait_until(lambda: spinner.in_stage("Executing"), "the spinner spins")
        results = watch(server.url, 2.0, waiter.number).results
    for group in (results["instance"], *results["sessions"], *results["kinds"]):
        if group["busy_s"]:
            assert sum(row["share"]["point"] for row in group["profile"]) == pytest.approx(1.0)
    (locked,) = (one for one in results["sessions"] if one["connection"] == waiter.number)
    assert {row["row"]: row["share"]["point"] for row in locked["profile"]}["Lock:row"] > 0.9
    assert locked["user"] == "root"
    (held,) = (one for one in results["sessions"] if one["connection"] == holder.number)
    assert held["busy_s"] == 0
    assert held["client_wait"]["in_transaction_share"] == pytest.approx(1.0)
    (spun,) = (one for one in results["sessions"] if one["connection"] == spinner.number)
    shares = {row["row"]: row["share"]["point"] for row in spun["profile"]}
    assert shares["on_cpu"] + shares["run_queue"] > 0.5
    with pytest.raises(UsageError, match="no session 999999") as missing:
        watch(server.url, 0.5, 999_999)
    assert "connection id, as SHOW PROCESSLIST and information_schema.PROCESSLIST do" in str(missing.value)
    assert "pg_" not in str(missing.value)


def test_mysql_shows_its_numbers_elsewhere(plain: MariaDB) -> None:
    with closing(MariadbObserver(plain.url, 1)) as observer:
        observer._server = replace(observer._server, flavour="mysql")
        assert "performance_schema.threads (PROCESSLIST_ID)" in observer.session_numbers


def test_without_the_right_to_look_at_system_calls(plain: MariaDB, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(mariadb_source, "ThreadLooks", refuse)
    idle = Session(plain)
    sleeper = Session(plain, last="select sleep(1000)")
    with sessions(sleeper, idle):
        wait_until(lambda: sleeper.in_stage("User sleep"), "the sleeper sleeps")
        it = watched(plain)
    assert set(found(it, one(it, sleeper))) == {("Stage", "User sleep", "asleep")}
    assert not found(it, one(it, idle))
    assert any("CAP_SYS_PTRACE" in why for _, why in it.not_available)


def test_the_server_restarts(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observe_mariadb, "RESTART_LIMIT_S", 0.0)
    with (
        running_mariadb(Path(tempfile.mkdtemp(dir=place)) / "r") as server,
        closing(MariadbObserver(server.url, 9)) as observer,
    ):
        time.sleep(0.5)
        server.stop()
        with pytest.raises(RefusedError, match="Is the server running"):
            observer.read()
        server.start()
        it = observer.read()
        assert_consistent(it)
        assert any("restarted" in warning for warning in it.warnings)
        assert all(process.ended for process in it.processes)
        assert it.counters["transactions"] is None
        time.sleep(0.5)
        after = observer.read()
        assert_consistent(after)
        assert after.ticks > 0
        assert after.warnings == ()
        assert not any(process.ended for process in after.processes)


def test_the_connection_is_killed(plain: MariaDB) -> None:
    with closing(MariadbObserver(plain.url, 10)) as observer:
        plain.ask(f"kill {number_of(observer._connection)}")
        it = observer.read()
        assert any("made again" in warning for warning in it.warnings)
        time.sleep(0.5)
        assert observer.read().ticks > 0


def test_nothing_is_changed_and_nothing_left(plain: MariaDB) -> None:
    connection = connect(read_target(plain.url))
    with closing(connection), pytest.raises(pymysql.Error, match="READ ONLY"):
        run(connection, "update t.counter set n = 0")
    threads, files = threading.active_count(), open_files()
    watched(plain)
    assert threading.active_count() == threads
    assert open_files() == files
    wait_until(
        lambda: len(plain.ask("select * from information_schema.processlist")) == 1, "its session ends"
    )


def open_files() -> int:
    # What earlier tests left to the collector must not be closed between two counts.
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def refused(url: str) -> str:
    with pytest.raises(RefusedError) as error:
        MariadbObserver(url, 1)
    assert PASSWORD not in str(error.value)
    assert "wrong-one" not in str(error.value)
    return str(error.value)


def test_refusals_say_what_mends_them(
    plain: MariaDB, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    plain.ask(f"create user reader identified by '{PASSWORD}'")
    at = f"127.0.0.1:{plain.port}"
    try:
        assert "GRANT PROCESS ON *.* TO 'reader'@'%';" in refused(f"mysql://reader:{PASSWORD}@{at}/")
        assert "Check the user and the password" in refused(f"mysql://reader:wrong-one@{at}")
        plain.ask("grant process on *.* to reader")
        monkeypatch.setenv("MYSQL_PWD", PASSWORD)
        MariadbObserver(f"mariadb://reader@{at}", 1).close()
        monkeypatch.delenv("MYSQL_PWD")
        assert "Check the user and the password" in refused(f"mariadb://reader@{at}")
        (tmp_path / ".my.cnf").write_text(f"[client]\npassword = {PASSWORD}\n")
        MariadbObserver(f"mariadb://reader@{at}", 1).close()
    finally:
        plain.ask("drop user reader")
    assert "Is the server running" in refused("mysql://root@127.0.0.1:1/")
    assert "Is the server running" in refused(f"mysql://root@/?unix_socket={plain.place}/nowhere")
    assert "Is the server running" in refused("mysql://root@nowhere.invalid/")


def test_performance_schema_needs_a_right_of_its_own(instrumented: MariaDB) -> None:
    instrumented.ask(f"create user reader identified by '{PASSWORD}'")
    instrumented.ask("grant process on *.* to reader")
    try:
        url = f"mysql://reader:{PASSWORD}@127.0.0.1:{instrumented.port}/"
        with closing(MariadbObserver(url, 1)) as observer:
            it = observer.read()
    finally:
        instrumented.ask("drop user reader")
    assert any("GRANT SELECT ON performance_schema.*" in why for _, why in it.not_available)
    assert it.instrument.source == "processlist"


@pytest.mark.parametrize(
    "url",
    [
        "mysql:/root@h",
        "mysql://h:99999/",
        "mysql://h:x/",
        "mysql://u:p@[::1/",
        "mysql://h/?colour=red",
        "mysql://a@b@c/",
    ],
)
def test_a_url_that_cannot_be_read(url: str) -> None:
    with pytest.raises(UsageError, match="mysql://user@host:3306/"):
        read_target(url)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("mysql://u:a%20b@h:3307/d", ("h", 3307, "u", None, "d", "a b")),
        ("mariadb://u:se#cr?et@h", ("h", 3306, "u", None, None, "se#cr?et")),
        ("mysql://u@[::1]:3307/", ("::1", 3307, "u", None, None, None)),
        ("mysql://u@/?unix_socket=/a%2Fs", ("localhost", 3306, "u", "/a/s", None, None)),
    ],
)
def test_the_parts_of_a_url(url: str, parts: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    it = read_target(url)
    assert (it.host, it.port, it.user, it.unix_socket, it.database, it.password) == parts
    assert "a b" not in repr(it)
