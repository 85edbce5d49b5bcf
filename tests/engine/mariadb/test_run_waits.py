"""A private MariaDB's run is watched as a live profile is: ticks, threads' CPU, on and off in turns."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator

import pymysql
import pytest

from redolab.engine import open_engine
from redolab.engine.mariadb.connection import connect_private
from redolab.engine.mariadb.engine import MariaDBEngine
from redolab.engine.mariadb.observer.source import RATE_PER_S
from redolab.engine.mariadb.private import PrivateServer
from redolab.engine.mariadb.snapshots import threads_of
from redolab.measure.difference import instance_cpu_s, process_times
from redolab.records.load import Amount, Scans
from redolab.records.sample import Ticks
from tests.mariadb import number_of
from tests.server_programs import FAMILY, first_on_path
from tests.servers import wait_until

NEVER = threading.Event()
# With so many versions of its rows a scan takes long beside the moment before the client asks for the next.
SCANS = Scans("", 1, "session", 360_000, 20_000, 30)
LEVELS = [{"rounds": str(SCANS.rounds)}]
HELD_S = 2.0


@pytest.fixture(scope="module", params=[name for name in FAMILY if name.startswith("mariadb")])
def engine(request: pytest.FixtureRequest) -> Iterator[MariaDBEngine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", first_on_path(request.param))
        ready = open_engine("mariadb", SCANS, 0, (), 1)
    assert isinstance(ready, MariaDBEngine)
    (setting,) = ready.prepare(SCANS, LEVELS)
    ready.apply(setting)
    yield ready
    ready.close()


def private(engine: MariaDBEngine) -> PrivateServer:
    assert engine._own is not None
    return engine._own


def sights(ticks: Ticks, scope: str) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for count in ticks.counts:
        if count.scope == scope:
            found[count.wait_class, count.event, count.state] += count.ticks
    return found


def test_the_session_is_seen_scanning_and_every_thread_has_its_cpu(engine: MariaDBEngine) -> None:
    assert engine.sampler() == {"source": "processlist", "rate_per_s": RATE_PER_S}
    before = engine.snapshot()
    with engine.watch() as watch:
        engine.work(Amount(HELD_S), NEVER)
    after = engine.snapshot()
    ticks = watch.ticks
    assert 0 < ticks.rounds <= 3 * RATE_PER_S * ticks.sampled_s
    assert ticks.lost == 0
    assert ticks.cpu_s > 0
    assert sum(count.ticks for count in ticks.counts) == ticks.looks
    scanning = sights(ticks, "session")
    # A look finds the session between two scans now and then.
    assert scanning["", "", "awake"] >= 0.8 * scanning.total()
    assert scanning.total() == ticks.rounds
    processes = process_times(1, before, after)
    whole = instance_cpu_s(before, after)
    assert processes is not None
    assert whole is not None
    (session,) = [process for process in processes if process.scope == "session"]
    assert 0 < session.cpu_ns / 1e9 <= whole
    assert {count.kind for count in ticks.counts} <= {process.kind for process in processes}
    # Redolab's own two sessions are in neither.
    threads = {process.pid for process in processes}
    assert engine._watched.own_thread not in threads
    own = threads_of(engine._control, engine._server, engine._own_connections())
    assert own
    assert not threads & {*own, engine._watched.own_thread}
    assert (after.counters["sampler_cpu_s"] or 0) > (before.counters["sampler_cpu_s"] or 0)


def test_cpu_of_threads_that_have_ended_is_the_instances(engine: MariaDBEngine) -> None:
    connection = connect_private(private(engine).socket)
    with connection.cursor() as cursor:
        cursor.execute("set global thread_cache_size = 0")
        before = engine.snapshot()
        cursor.execute("select benchmark(20000000, 1 + 1)")
        cursor.execute("select tid from information_schema.processlist where id = connection_id()")
        ((thread,),) = cursor.fetchall()
    spent_ns = next(task.cpu_ns for task in engine.snapshot().tasks or () if task.pid == thread)
    connection.close()
    wait_until(lambda: thread not in {task.pid for task in engine.snapshot().tasks or ()}, "the thread ends")
    whole = instance_cpu_s(before, engine.snapshot())
    assert whole is not None
    assert whole >= 0.99 * spent_ns / 1e9 > 0


def test_turns_tell_the_servers_transactions(engine: MariaDBEngine) -> None:
    done = threading.Event()
    made = 0

    def commit() -> None:
        nonlocal made
        connection = connect_private(private(engine).socket)
        with connection.cursor() as cursor:
            cursor.execute("create table redolab.turns (id int) engine=InnoDB")
            while not done.is_set():
                cursor.execute("insert into redolab.turns values (1)")
                made += 1
        connection.close()

    writer = threading.Thread(target=commit)
    writer.start()
    try:
        wait_until(lambda: made > 10, "the writer writes")
        first, before = made, engine._edge()
        with engine.watch(HELD_S) as watch:
            time.sleep(HELD_S)
        last, after = made, engine._edge()
    finally:
        done.set()
        writer.join()
    assert before is not None
    assert after is not None
    # The counter moves when a transaction begins to write, and `made` when its client knows of the end.
    # MariaDB gives each transaction two numbers.
    assert after.transactions - before.transactions == pytest.approx(2 * (last - first), abs=50)
    ticks = watch.ticks
    assert ticks.pairs
    assert all(rate > 0 for pair in ticks.pairs for rate in (pair.on_per_s, pair.off_per_s))
    assert 0 < ticks.sampled_s < 0.8 * HELD_S


def test_a_lost_watcher_costs_ticks_and_no_sample(engine: MariaDBEngine) -> None:
    number = number_of(engine._watcher)
    with engine.watch() as watch:
        with connect_private(private(engine).socket) as helper, helper.cursor() as cursor:
            cursor.execute("kill %s", (number,))
        work = engine.work(Amount(HELD_S / 2), NEVER)
    assert work.trouble is None
    assert watch.ticks.lost > 0
    with engine.watch() as again:
        engine.work(Amount(HELD_S / 2), NEVER)
    assert again.ticks.lost == 0
    assert again.ticks.rounds > 0


def test_what_is_not_measured_is_what_is_true(engine: MariaDBEngine) -> None:
    missing = " ".join(engine.not_measured())
    assert "performance_schema is off" in missing
    assert "MariaDB counts flushes but does not time them" in missing
    assert "Wait events" not in missing
    assert "CPU" not in missing
    with pymysql.connect(unix_socket=str(private(engine).socket), user="root") as asked:  # noqa: SIM117
        with asked.cursor() as cursor:
            cursor.execute("select @@performance_schema")
            assert cursor.fetchall() == ((0,),)
