"""The wait sampler that reads the server's memory, against waits made on purpose."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.engine.postgres.private import EmbeddedServer
from redolab.engine.postgres.waits import memory as memory_watch
from redolab.engine.postgres.waits.events import event_names, name_event
from redolab.engine.postgres.waits.memory import MemorySource, why_not_readable
from redolab.engine.sampling.tick_counts import ticks_of
from redolab.experiment.base import Wish
from redolab.experiment.commit_mode.plan import EXPERIMENT
from redolab.records.load import Amount
from redolab.records.sample import Ticks

WATCHED_S = 1.5
AWAKE = ("on_cpu", "runnable", "awake")
Sights = Counter[tuple[str, str, str]]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    running = EmbeddedServer(8, log_device_s=(0.005,))
    yield running
    running.stop()


@pytest.fixture
def postmaster(server: EmbeddedServer) -> int:
    return int((server.directory / "data" / "postmaster.pid").read_text().splitlines()[0])


def session_sights(ticks: Ticks) -> Sights:
    """Ticks of the watched sessions by class, event and state, without the wait for their client."""
    found: Sights = Counter()
    for count in ticks.counts:
        if count.scope == "session" and count.wait_class != "Client":
            found[count.wait_class, count.event, count.state] += count.ticks
    return found


def test_every_number_has_the_servers_own_name(server: EmbeddedServer) -> None:
    with psycopg.connect(server.target) as connection:
        listed = set(connection.execute("select type, name from pg_wait_events").fetchall())
    names = event_names(18)
    assert names is not None
    assert set(names.values()) == listed


def test_a_number_in_no_table_is_shown_as_itself() -> None:
    names = event_names(18)
    assert names is not None
    assert name_event(names, 0) == ("", "")
    assert name_event(names, 0x0A00004E) == ("IO", "WalSync")
    assert name_event(names, 0x01FFFFFF) == ("LWLock", "#16777215")
    assert name_event(names, 0x77000001) == ("Class0x77", "#1")
    assert event_names(13) is None


def test_sleep_lock_and_cpu_are_seen_as_what_they_are(server: EmbeddedServer, postmaster: int) -> None:
    names = event_names(18)
    assert names is not None
    assert why_not_readable(postmaster, names) is None
    target = server.target
    with (
        psycopg.connect(target, autocommit=True) as holder,
        psycopg.connect(target, autocommit=True) as sleeper,
        psycopg.connect(target, autocommit=True) as waiter,
        psycopg.connect(target, autocommit=True) as spinner,
        ThreadPoolExecutor(3) as pool,
    ):
        holder.execute("select pg_advisory_lock(7)")
        sleeping = pool.submit(sleeper.execute, "select pg_sleep(60)")
        waiting = pool.submit(waiter.execute, "select pg_advisory_lock(7)")
        spinning = pool.submit(spinner.execute, "do $$ begin loop end loop; end $$")
        await_states(holder, {"PgSleep", "advisory"})
        pids = [c.info.backend_pid for c in (sleeper, waiter, spinner)]
        source = MemorySource(postmaster, names, [holder.info.backend_pid], seed=1)
        threading.Event().wait(WATCHED_S)
        ticks = ticks_of(source.stop(), pids)
        holder.execute("select pg_advisory_unlock(7)")
        for connection in (sleeper, spinner):
            connection.cancel_safe()
        for future in (sleeping, spinning):
            assert isinstance(future.exception(), psycopg.errors.QueryCanceled)
        waiting.result()
    found, rounds = session_sights(ticks), ticks.rounds
    assert rounds > 0
    # The server wakes a sleeper now and then: on a busy machine it waits for a CPU before it sleeps again.
    for wait in (("Timeout", "PgSleep"), ("Lock", "advisory")):
        assert found[*wait, "asleep"] > found[*wait, "runnable"]
        assert found[*wait, "asleep"] + found[*wait, "runnable"] >= 0.95 * rounds
    assert sum(found["", "", state] for state in AWAKE) >= 0.95 * rounds
    assert ticks.lost == 0
    assert ticks.cpu_s > 0


def test_a_session_that_begins_later_is_followed(server: EmbeddedServer, postmaster: int) -> None:
    names = event_names(18)
    assert names is not None
    source = MemorySource(postmaster, names, [], seed=2)
    with psycopg.connect(server.target, autocommit=True) as late:
        late.execute("select pg_sleep(0.5)")
    slept = [count for count in ticks_of(source.stop(), []).counts if count.event == "PgSleep"]
    assert [(count.scope, count.kind, count.state) for count in slept] == [
        ("background", "client backend", "asleep")
    ]


def test_ticks_agree_with_the_kernels_accounts_under_load(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sessions wake together, so looks of one tick say the same: of the usual 150 ticks, chance alone
    # may take the share of time awake further from the truth than a sampler's error would.
    monkeypatch.setattr(memory_watch, "RATE_PER_S", 200.0)
    with closing(PostgresEngine(Connector(server.target), server, seed=3)) as engine:
        plan = EXPERIMENT.plan(Wish())
        (setting,) = engine.prepare(plan.load, [plan.combinations["wait/immediate"]])
        engine.apply(setting)
        assert engine.sampler()["source"] == "server memory"
        before = engine.snapshot()
        with engine.watch() as watch:
            work = engine.work(Amount(6.0), threading.Event())
        after = engine.snapshot()
    assert before.tasks is not None
    assert after.tasks is not None
    pids = set(after.session_pids)
    used_ns = sum(
        (1 if snapshot is after else -1) * (task.cpu_ns + (task.run_queue_ns or 0))
        for snapshot in (before, after) for task in snapshot.tasks or () if task.pid in pids
    )  # fmt: skip
    exact = used_ns / 1e9 / work.session_elapsed_s
    found = session_sights(watch.ticks)
    seen = sum(found.values())
    awake = sum(ticks for (_, _, state), ticks in found.items() if state in AWAKE) / seen
    assert awake == pytest.approx(exact, abs=0.05)
    # On a 5 ms device what is asleep is at the log: flushing it, or waiting for who does.
    asleep = sum(ticks for (_, _, state), ticks in found.items() if state == "asleep")
    log = found["IO", "WalSync", "asleep"] + found["LWLock", "WALWrite", "asleep"]
    assert log / asleep > 0.9


def await_states(connection: psycopg.Connection, events: set[str]) -> None:
    """Return once some session waits for each of `events`."""
    while True:
        rows = connection.execute(
            "select wait_event from pg_stat_activity where wait_event is not null"
        ).fetchall()
        if events <= {row[0] for row in rows}:
            return
