"""A live PostgreSQL under observation, against sessions whose doings are known."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from redolab.analysis.live.profile import profile_observation
from redolab.engine import open_observer
from redolab.engine.postgres.connecting.connection import fetch
from redolab.engine.postgres.observer import link
from redolab.engine.postgres.observer import observer as observe_postgres
from redolab.engine.postgres.observer.observer import PostgresObserver
from redolab.engine.postgres.waits import memory as memory_watch
from redolab.engine.postgres.waits import reach
from redolab.engine.postgres.waits.events import event_names
from redolab.errors import RefusedError, UsageError
from redolab.records.observation import STATES, Observation, Observed, join
from tests.servers import NEWEST, PASSWORD, Server, made, versions_in_whole, wait_until

Sights = Counter[tuple[str, str]]


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


@pytest.fixture
def target(server: Server, database: str) -> Iterator[str]:
    """The URL of a database of this test's own, in a server of each version."""
    with made(server, database) as url:
        yield url


@pytest.fixture(params=["server memory", "pg_stat_activity"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Either way of watching; the second as where the memory may not be read."""
    if request.param == "pg_stat_activity":
        monkeypatch.setattr(reach, "why_not_readable", lambda *_: "the test forbids it")
    return str(request.param)


@contextmanager
def watching(url: str) -> Iterator[PostgresObserver]:
    observer = open_observer(url, seed=1)
    assert isinstance(observer, PostgresObserver)
    try:
        yield observer
    finally:
        observer.close()


def watched(observer: PostgresObserver, readings: int = 2) -> Observation:
    """Readings of half a second each, joined."""
    seen = []
    for _ in range(readings):
        time.sleep(0.5)
        seen.append(observer.read())
    return join(seen)


class Work:
    """Sessions of known doings in one database, until the `with` block ends."""

    def __init__(self, url: str) -> None:
        self._url, self._stack, self._pool = url, ExitStack(), ThreadPoolExecutor(8)
        self._busy: list[psycopg.Connection[Any]] = []

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._busy:
            connection.cancel_safe()
        self._pool.shutdown()
        self._stack.close()

    def session(self, name: str, autocommit: bool = True) -> psycopg.Connection[Any]:
        """A session that waits for its client."""
        return self._stack.enter_context(
            psycopg.connect(self._url, autocommit=autocommit, application_name=name)
        )

    def busy(self, name: str, statement: str) -> int:
        """A session that runs one statement until the end; its pid."""
        connection = self.session(name)
        self._busy.append(connection)
        self._pool.submit(connection.execute, statement.encode())
        return connection.info.backend_pid


def by_name(observation: Observation) -> dict[str | None, Observed]:
    return {p.application: p for p in observation.processes if p.scope == "session"}


def sights(observation: Observation, process: Observed) -> Sights:
    """How often a process was seen in which event and state."""
    mine = observation.looks.process == observation.processes.index(process)
    events, states = observation.looks.event[mine].tolist(), observation.looks.state[mine].tolist()
    named = [":".join(observation.events[event]).strip(":") for event in events]
    return Counter(zip(named, [STATES[state] for state in states], strict=True))


def is_consistent(observation: Observation) -> bool:
    """Whether every look is at a process that was there, at a tick that was."""
    looks = observation.looks
    for tick, place in zip(looks.tick.tolist(), looks.process.tolist(), strict=True):
        process = observation.processes[place]
        assert process.first_tick <= tick < process.last_tick <= observation.ticks
    assert observation.events[0] == ("", "idle")
    assert 0 not in looks.event
    for process in observation.processes:
        if process.cpu_s is not None and process.run_queue_s is not None:
            assert -0.01 <= process.cpu_s <= process.elapsed_s * 1.02 + 0.02
            assert process.elapsed_s <= observation.elapsed_s * 1.02 + 0.02
    return True


def test_each_session_is_seen_for_what_it_does(server: Server, target: str, source: str) -> None:
    assert_sessions_are_seen(server, target, source)


def test_the_memory_of_a_further_version_is_read(further: Server, database: str) -> None:
    with made(further, database) as url:
        assert_sessions_are_seen(further, url, "server memory")


def assert_sessions_are_seen(server: Server, target: str, source: str) -> None:
    with Work(target) as work:
        work.session("maker").execute("create table thing (id int primary key, n int)")
        work.session("maker 2").execute("insert into thing values (1, 0)")
        holder = work.session("holder", autocommit=False)
        holder.execute("update thing set n = 1")
        work.session("idler")
        pids = {
            "sleeper": work.busy("sleeper", "select pg_sleep(60)"),
            # It looks for a deadlock once, after a second of waiting, and may wait for a CPU then.
            "waiter": work.busy("waiter", "set deadlock_timeout = '1h'; update thing set n = 2"),
            "spinner": work.busy("spinner", "do $$ begin loop end loop; end $$"),
        }
        waits = "select count(*) from pg_stat_activity where wait_event in ('PgSleep', 'transactionid')"
        wait_until(lambda: server.ask(waits) == 2, "the sessions wait")
        with watching(target) as observer:
            seen = watched(observer)
        holder.rollback()
    assert seen.instrument.source == source
    assert seen.server["local"] is True
    assert seen.server["version"].startswith(str(server.major))
    assert is_consistent(seen)
    found = by_name(seen)
    assert {"sleeper", "waiter", "spinner", "idler", "holder"} <= found.keys()
    assert not any(name and name.startswith("redolab") for name in found)
    for name, pid in pids.items():
        assert (found[name].pid, found[name].connection) == (pid, pid)
    for process in found.values():
        assert (process.user, process.client, process.kind) == ("postgres", "127.0.0.1", "client backend")
        assert process.elapsed_s == pytest.approx(seen.elapsed_s, rel=0.1)
    ticks = seen.ticks
    assert ticks > 0
    # A sleeper is woken by signals now and then, and a tick may fall on that moment.
    assert sights(seen, found["sleeper"])["Timeout:PgSleep", "asleep"] >= 0.9 * ticks
    assert sights(seen, found["waiter"])["Lock:transactionid", "asleep"] >= 0.9 * ticks
    spun = sights(seen, found["spinner"])
    assert spun["", "awake"] + spun["", "on_cpu"] + spun["", "runnable"] >= 0.9 * ticks
    spinner = found["spinner"]
    assert spinner.cpu_s is not None
    assert spinner.run_queue_s is not None
    assert spinner.cpu_s + spinner.run_queue_s == pytest.approx(spinner.elapsed_s, rel=0.1)
    for name in ("idler", "holder"):
        assert sum(sights(seen, found[name]).values()) <= 0.1 * ticks
    assert found["idler"].polls_idle > 0 == found["idler"].polls_in_transaction
    assert found["holder"].polls_in_transaction > 0 == found["holder"].polls_idle
    assert found["sleeper"].polls_idle == found["sleeper"].polls_in_transaction == 0
    kinds = {p.kind for p in seen.processes if p.scope == "background"}
    assert {"checkpointer", "walwriter", "background writer"} <= kinds
    for process in seen.processes:
        if process.scope == "background" and not process.ended:
            assert process.last_tick - process.first_tick - process.skipped >= 0.9 * ticks
    assert (seen.log_sync is None) == (source == "pg_stat_activity")


PARALLEL = """
do $$ begin
    set local max_parallel_workers_per_gather = 2; set local min_parallel_table_scan_size = 0;
    set local parallel_setup_cost = 0; set local parallel_tuple_cost = 0;
    loop perform count(*) from many; end loop;
end $$"""


def test_parallel_workers_are_no_sessions(target: str, source: str) -> None:
    with Work(target) as work:
        work.session("maker").execute(
            "create table many as select n from generate_series(1, 100000) n; analyze many"
        )
        work.busy("leader", PARALLEL)
        with watching(target) as observer:
            seen = watched(observer)
    assert seen.instrument.source == source
    assert by_name(seen).keys() == {"maker", "leader"}
    workers = [one for one in seen.processes if one.kind == "parallel worker"]
    assert workers
    results = profile_observation(seen)
    everybody = results["all_sessions"]
    assert everybody["sessions"] == 2
    assert everybody["busy_s"] <= 1.02 * seen.elapsed_s
    (told,) = (text for text in results["warnings"] if "parallel worker" in text)
    assert told.startswith(f"{len(workers)} parallel workers ")


def test_a_session_that_ends_and_one_that_begins(target: str, source: str) -> None:
    with Work(target) as work, watching(target) as observer:
        first = psycopg.connect(target, autocommit=True, application_name="first")
        one = watched(observer, 1)
        first.execute("select pg_sleep(0.2)")
        first.close()
        work.busy("second", "select pg_sleep(60)")
        two = watched(observer, 2)
    assert not by_name(one)["first"].ended
    assert "second" not in by_name(one)
    found = by_name(two)
    assert found["first"].ended
    assert found["first"].elapsed_s < two.elapsed_s
    assert not found["second"].ended
    assert is_consistent(two)
    both = join([one, two])
    assert is_consistent(both)
    assert by_name(both)["first"].elapsed_s == pytest.approx(
        by_name(one)["first"].elapsed_s + found["first"].elapsed_s
    )


@pytest.mark.parametrize(("version", "event"), [(NEWEST, ""), ("19", "Timeout:CommitDelay")])
def test_the_sleep_of_commit_delay_has_an_event_from_19_on(
    version: str, event: str, servers: Callable[[str], Server]
) -> None:
    server = servers(version)
    delay = quote("-c commit_delay=100000 -c commit_siblings=0")
    with Work(f"{server.url()}?options={delay}") as work:
        work.busy(
            "committer",
            "do $$ begin loop perform pg_logical_emit_message(true, '', ''); commit; end loop; end $$",
        )
        with watching(server.url()) as observer:
            seen = watched(observer)
    assert seen.instrument.source == "server memory"
    assert sights(seen, by_name(seen)["committer"])[event, "asleep"] >= 0.7 * seen.ticks
    share = profile_observation(seen)["all_sessions"]["log_sync_share"]["point"]
    assert share == pytest.approx(1.0 if event else 0.0, abs=0.3)


def test_counters_are_the_servers(server: Server, target: str) -> None:
    with Work(target) as work, watching(target) as observer:
        session = work.session("writer")
        session.execute("create table thing (id int)")
        observer.read()
        for number in range(50):
            session.execute("insert into thing values (%s)", (number,))
        # A session publishes its counts up to a second late, and the rest when it ends.
        session.close()
        there = "select count(*) from pg_stat_activity where application_name = 'writer'"
        wait_until(lambda: server.ask(there) == 0, "the session ends")
        seen = observer.read()
    assert seen.counters["transactions"] == 50
    for name in ("log_flushes", "log_writes", "log_bytes", "log_flush_time_s", "log_write_time_s"):
        value = seen.counters[name]
        assert value is not None
        assert value > 0
    assert (seen.counters["log_flushes"] or 0) >= 45
    assert seen.host_cpus == os.cpu_count()
    assert seen.host_busy_s is not None
    assert seen.host_steal_s is not None
    assert seen.warnings == ()


@pytest.mark.parametrize("met_between", [False, True], ids=["as it is met", "met between two transactions"])
def test_counters_of_a_procedure_that_loops_are_left_out(
    server: Server, target: str, met_between: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if met_between:
        monkeypatch.setattr(link, "fetch", between_transactions(fetch, askings=3))
    with Work(target) as work:
        session = work.session("maker")
        session.execute("create table thing (n int)")
        session.execute(
            "create procedure looping() language plpgsql as "
            "'begin loop insert into thing values (1); commit; end loop; end'"
        )
        with watching(target) as observer:
            work.busy("looper", "call looping()")
            inside = "select count(*) from pg_stat_activity where xact_start > query_start + interval '1.5 s'"
            wait_until(lambda: server.ask(inside) == 1, "the procedure runs")
            seen = observer.read()
    assert (seen.counters["transactions"] or 0) > 50
    assert (seen.counters["log_bytes"] or 0) > 0
    assert (
        seen.counters["log_flushes"] is seen.counters["log_flush_time_s"] is seen.counters["commits"] is None
    )
    (warning,) = seen.warnings
    assert "procedure that commits in a loop" in warning


def between_transactions(ask: Callable[..., Any], askings: int) -> Callable[..., Any]:
    """Shows a procedure between two of its transactions, as happens once in some 10,000 askings."""
    left = askings

    def asked(connection: Any, name: str, *values: Any) -> Any:
        nonlocal left
        rows = ask(connection, name, *values)
        if name == "select_sessions":
            for row in rows:
                if row["inside_call"] and left:
                    row["inside_call"], row["between_transactions"] = False, True
                    left -= 1
        return rows

    return asked


def test_nothing_is_changed_and_nothing_left(server: Server, target: str, source: str) -> None:
    facts = (
        "select jsonb_build_array(pg_snapshot_xmax(pg_current_snapshot())::text, "
        "(select sum(temp_files) from pg_stat_database), (select count(*) from pg_class), "
        "(select jsonb_object_agg(name, setting) from pg_settings))"
    )
    before = server.ask(facts)
    with watching(target) as observer:
        watched(observer)
        for connection in (observer._link._connection, getattr(observer._link._source, "_connection", None)):
            if connection is not None:
                with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                    connection.execute("create table thing (id int)")
    assert server.ask(facts) == before
    server.assert_left_clean(target.rpartition("/")[2])
    assert "wait sampler" not in {thread.name for thread in threading.enumerate()}


def test_a_role_that_may_not_see_others(server: Server, target: str, source: str) -> None:
    name = target.rpartition("/")[2]
    role = f"plain_{name}_{source[:2]}"
    server.role(role)
    own = target.replace("postgres@", f"{role}@")
    with Work(own) as mine, Work(target) as others:
        mine.busy("mine", "select pg_sleep(60)")
        others.busy("theirs", "select pg_sleep(60)")
        waits = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
        wait_until(lambda: server.ask(waits) == 2, "both sleep")
        with watching(own) as observer:
            seen = watched(observer)
    assert seen.instrument.source == source
    found = by_name(seen)
    assert sights(seen, found["mine"])["Timeout:PgSleep", "asleep"] >= 0.9 * seen.ticks
    assert any(f'GRANT pg_read_all_stats TO "{role}"' in why for _, why in seen.not_available)
    if source == "server memory":
        # The memory tells no secrets of roles: names are public, and the wait is seen.
        assert found["theirs"].user == "postgres"
        assert sights(seen, found["theirs"])["Timeout:PgSleep", "asleep"] >= 0.9 * seen.ticks
    else:
        assert "theirs" not in found


def test_a_server_elsewhere_is_watched_by_queries(
    newest: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "find_postmaster", lambda *_: None)
    with Work(url) as work:
        work.busy("sleeper", "select pg_sleep(60)")
        with watching(url) as observer:
            seen = watched(observer)
    assert seen.server["local"] is False
    assert seen.instrument.source == "pg_stat_activity"
    assert {STATES[state] for state in seen.looks.state.tolist()} == {"unknown"}
    sleeper = by_name(seen)["sleeper"]
    assert sleeper.cpu_s is sleeper.run_queue_s is seen.ended_cpu_s is seen.host_busy_s is None
    assert seen.instrument.server_cpu_s is None
    missing = dict(seen.not_available)
    assert "Run Redolab on the server's host" in missing["CPU and run queue"]


def test_processes_that_are_not_all_its_own_are_not_read(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose process ids mean other processes here."""
    monkeypatch.setattr(reach, "find_postmaster", lambda *_: os.getpid())
    with watching(url) as observer:
        seen = watched(observer, 1)
    assert seen.server["local"] is False
    assert all(process.cpu_s is None for process in seen.processes)
    assert "not all of them belong to the server" in dict(seen.not_available)["CPU and run queue"]


@pytest.mark.parametrize("version", versions_in_whole())
def test_a_table_that_names_wrongly_is_not_believed(
    version: str, servers: Callable[[str], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, names = servers(version), event_names(int(version))
    assert names is not None
    shifted = {number + (number >> 24 == 0x09): pair for number, pair in names.items()}
    monkeypatch.setattr(reach, "event_names", lambda _: shifted)
    with Work(server.url()) as work:
        work.busy("sleeper", "select pg_sleep(60)")
        with watching(server.url()) as observer:
            seen = watched(observer)
    assert seen.instrument.source == "pg_stat_activity"
    assert sights(seen, by_name(seen)["sleeper"])["Timeout:PgSleep", "asleep"] >= 0.9 * seen.ticks
    assert any("cannot be trusted" in why for _, why in seen.not_available)


def test_a_restart_is_lived_through(own_server: Server, source: str) -> None:
    with watching(own_server.url()) as observer:
        one = watched(observer, 1)
        own_server.stop()
        own_server.start()
        two = observer.read()
        with Work(own_server.url()) as work:
            work.busy("sleeper", "select pg_sleep(60)")
            three = watched(observer)
    assert one.warnings == ()
    (warning,) = two.warnings
    assert warning.startswith("The server restarted at ")
    assert all(value is None for value in two.counters.values())
    assert three.warnings == ()
    assert three.instrument.source == source
    assert sights(three, by_name(three)["sleeper"])["Timeout:PgSleep", "asleep"] > 0
    assert is_consistent(join([one, two, three]))


def test_a_crash_of_one_process_is_lived_through(own_server: Server, source: str) -> None:
    with watching(own_server.url()) as observer:
        watched(observer, 1)
        with (
            psycopg.connect(own_server.conninfo("postgres")) as other,
            psycopg.connect(own_server.conninfo("postgres")) as victim,
        ):
            os.kill(victim.info.backend_pid, signal.SIGKILL)
            # It answers for a moment more, until it has noticed: then it ends every other session too.
            with pytest.raises(psycopg.OperationalError):
                other.execute("select pg_sleep(60)")
            wait_until(own_server._answers, "the server recovers")
        two = observer.read()
        with Work(own_server.url()) as work:
            work.busy("sleeper", "select pg_sleep(60)")
            three = watched(observer)
    assert "ended and opened again" in two.warnings[0] or "restarted" in two.warnings[0]
    assert sights(three, by_name(three)["sleeper"])["Timeout:PgSleep", "asleep"] > 0
    assert is_consistent(three)


def test_a_session_that_an_administrator_ends_is_opened_again(newest: Server, url: str, source: str) -> None:
    with watching(url) as observer:
        newest.ask(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity "
            "where application_name = 'redolab profile'"
        )
        (warning,) = watched(observer).warnings
    assert "Redolab's session was ended and opened again" in warning


def test_a_server_that_stays_away_is_given_up(
    own_server: Server, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe_postgres.PostgresObserver, "restart_limit_s", 0.3)
    with watching(own_server.url()) as observer:
        watched(observer, 1)
        own_server.stop()
        with pytest.raises(RefusedError, match="No connection to PostgreSQL at"):
            observer.read()


def as_nobody(ask: Callable[[], Any]) -> Any:
    """The answer of `ask` in a process of the user nobody.

    A fork, because nobody may not even be allowed to read this Python; so `ask` must have run before.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(writer, json.dumps(ask()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


def test_another_user_of_the_machine_falls_back_and_says_so(url: str) -> None:
    if os.geteuid() != 0:  # An ordinary user need not become another one to be refused.
        assert "may not be read" in str(memory_watch.why_not_readable(1, event_names(18)))
        return

    def ask() -> Any:
        with watching(url) as observer:
            seen = watched(observer, 1)
        accounted = any(process.cpu_s is not None for process in seen.processes)
        return seen.instrument.source, seen.server["local"], accounted, dict(seen.not_available)

    assert ask()[0] == "server memory"
    source, local, accounted, missing = as_nobody(ask)
    assert (source, local, accounted) == ("pg_stat_activity", True, True)
    assert any("as the server's user, or with CAP_SYS_PTRACE" in why for why in missing.values())


@pytest.mark.parametrize("target", ["embedded", "sqlite:///file", "postgres", ""])
def test_what_cannot_be_watched_is_refused(target: str) -> None:
    with pytest.raises(UsageError, match="Redolab cannot watch"):
        open_observer(target, seed=1)


def test_a_server_that_is_not_there_is_refused() -> None:
    with pytest.raises(RefusedError, match="Is the server running on that host"):
        open_observer("postgresql://nobody@127.0.0.1:1/none", seed=1)
