"""A live server whose sessions are made to wait in known ways: what the observer says of each."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from redolab.commands.profile import watch
from redolab.engine.mariadb.connection import fetch
from redolab.engine.mariadb.observer import server as mariadb_server
from redolab.engine.mariadb.observer import source as mariadb_source
from redolab.engine.mariadb.observer.observer import MariadbObserver
from redolab.errors import UsageError
from tests.engine.mariadb.observer.conftest import INSTRUMENTED, Start
from tests.engine.mariadb.observer.watching import (
    Session,
    found,
    one,
    sessions,
    ticks_of,
    waits_for_row,
    watched,
)
from tests.mariadb import MariaDB, run
from tests.servers import wait_until


def test_each_session_is_seen_doing_what_it_does(server: MariaDB) -> None:
    idle = Session(server)
    holder = Session(server, "begin", "update t.counter set n = n + 1 where id = 1")
    sleeper = Session(server, last="select sleep(1000)")
    spinner = Session(server, last="select benchmark(100000000000, 1 + 1)")
    waiter = Session(server, last="update t.counter set n = n + 1 where id = 1")
    with sessions(waiter, spinner, sleeper, holder, idle):
        wait_until(lambda: sleeper.in_stage("user sleep"), "the sleeper sleeps")
        wait_until(lambda: spinner.in_stage("executing"), "the spinner spins")
        wait_until(lambda: waits_for_row(server, waiter), "the waiter waits")
        it = watched(server)
    assert it.server["local"] is True
    assert it.server["name"] == ("MySQL" if server.flavour == "mysql" else "MariaDB")
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


@pytest.mark.parametrize(
    ("kind", "thread"),
    [(INSTRUMENTED, "innodb/page_cleaner_thread"), ("mysql 9.7", "innodb/page_flush_coordinator_thread")],
)
def test_performance_schema_knows_threads_and_programs(start: Start, kind: str, thread: str) -> None:
    server = start(kind)
    with sessions(sleeper := Session(server, last="select sleep(1000)")):
        it = watched(server)
    assert one(it, sleeper).application == "a test"
    assert thread in {process.kind for process in it.processes}


def test_performance_schema_knows_waits(instrumented: MariaDB) -> None:
    sleeper = Session(instrumented, last="select sleep(1000)")
    with sessions(sleeper):
        wait_until(lambda: sleeper.in_stage("user sleep"), "the sleeper sleeps")
        it = watched(instrumented)
        with closing(instrumented.connect()) as connection:
            waits = fetch(connection, "select_waits", 1011)
    assert it.instrument.source == "performance_schema"
    names = [row["name"] for row in waits if row["connection"] == sleeper.number]
    assert names == ["wait/synch/cond/sql/Item_func_sleep::cond"]


def test_a_far_server_is_watched_by_its_own_word(server: MariaDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb_server, "find_server", lambda *_: None)
    sleeper = Session(server, last="select sleep(1000)")
    with sessions(sleeper):
        wait_until(lambda: sleeper.in_stage("user sleep"), "the sleeper sleeps")
        it = watched(server)
    assert it.server["local"] is False
    assert it.host_busy_s is None
    assert it.ended_cpu_s is None
    process = one(it, sleeper)
    assert process.cpu_s is None
    assert {state for *_, state in found(it, process)} == {"unknown"}
    assert found(it, process).total() == ticks_of(process)
    assert any("on another machine" in why for _, why in it.not_available)
    # Threads are not seen, but those that serve a connection, as MySQL's scheduler of events does.
    assert all(process.connection is not None for process in it.processes)


def test_a_profile_adds_up(server: MariaDB) -> None:
    holder = Session(server, "begin", "update t.counter set n = n + 1 where id = 16")
    waiter = Session(server, last="update t.counter set n = n + 1 where id = 16")
    spinner = Session(server, last="select benchmark(100000000000, 1 + 1)")
    with sessions(waiter, spinner, holder):
        wait_until(lambda: waits_for_row(server, waiter), "the waiter waits")
        wait_until(lambda: spinner.in_stage("executing"), "the spinner spins")
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
    with pytest.raises(UsageError, match="Session 999999 was not found") as missing:
        watch(server.url, 0.5, 999_999)
    where = "performance_schema.threads (PROCESSLIST_ID)"
    where = where if server.flavour == "mysql" else "information_schema.PROCESSLIST"
    assert f"connection id, as SHOW PROCESSLIST and {where} do" in str(missing.value)
    assert "pg_" not in str(missing.value)


def test_without_the_right_to_look_at_system_calls(plain: MariaDB, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(mariadb_source, "ThreadLooks", refuse)
    idle = Session(plain)
    sleeper = Session(plain, last="select sleep(1000)")
    with sessions(sleeper, idle):
        wait_until(lambda: sleeper.in_stage("user sleep"), "the sleeper sleeps")
        it = watched(plain)
    assert set(found(it, one(it, sleeper))) == {("Stage", "User sleep", "asleep")}
    assert not found(it, one(it, idle))
    assert any("CAP_SYS_PTRACE" in why for _, why in it.not_available)
