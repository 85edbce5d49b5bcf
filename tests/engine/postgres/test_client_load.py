"""Sessions that work over the wire: what they count is true, and nothing of them hangs or stays."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from redolab import _core, open_run
from redolab.engine.client_job import ClientJob
from redolab.engine.loops.client_work import work as client_work
from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.sessions.client import ClientSessions
from redolab.errors import InterruptedRunError, RefusedError, UsageError
from redolab.records.load import Amount, Inserts, Updates
from tests.conftest import Redolab
from tests.engine.clients import Open, inserts, work
from tests.servers import PASSWORD, Server, made, wait_until


def next_transaction(server: Server) -> int:
    """The next transaction id; only transactions that change something take one."""
    return int(server.ask("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint"))


@pytest.mark.parametrize("rows_per_commit", [1, 7])
def test_what_a_client_counts_is_what_the_server_has(
    opened: Open, newest: Server, database: str, rows_per_commit: int
) -> None:
    engine, settings = opened(inserts(3), {"rows_per_commit": str(rows_per_commit)})
    engine.apply(settings[str(rows_per_commit)])
    engine.settle()
    before = next_transaction(newest)
    done = engine.work(Amount(1.0, 1_000), threading.Event())

    assert done.trouble is None
    # Whole commits alone: a session with a share of 333 rows does 48 of seven.
    shares = [334, 333, 333]
    commits = sum(-(-share // rows_per_commit) for share in shares)
    assert (done.units, done.rows, done.commits, done.failed) == (
        commits * rows_per_commit,
        commits * rows_per_commit,
        commits,
        0,
    )
    assert newest.ask("select count(*) from redolab.item", database) == done.rows
    assert newest.ask("select count(distinct (session, entry)) from redolab.item", database) == done.rows
    assert next_transaction(newest) - before == done.commits
    assert sum(count for _, count in done.latency) == done.commits
    assert 0 < done.session_elapsed_max_s <= done.session_elapsed_s
    assert done.client_cpu_s is not None
    assert 0 < done.client_cpu_s < done.session_elapsed_max_s * 2


def test_client_and_server_leave_the_same_rows(opened: Open, newest: Server, database: str) -> None:
    engine, settings = opened(
        inserts(3, "server"),
        *({"rows_per_commit": "5", "loop": loop} for loop in ("server", "client")),
    )
    left = {}
    for name, setting in settings.items():
        done = work(engine, setting, Amount(1.0, 100))
        left[name] = newest.ask(
            "select array_agg((session, entry, length(padding))::text order by session, entry) "
            "from redolab.item",
            database,
        )
        assert (done.rows, done.commits) == (105, 21)
        assert (done.client_cpu_s is None, done.latency == ()) == ((name == "5/server",) * 2)
    assert left["5/server"] == left["5/client"]


def test_only_the_sessions_of_the_setting_are_connected(opened: Open, newest: Server, database: str) -> None:
    engine, settings = opened(
        inserts(6), *({"sessions": n, "loop": loop} for n in ("6", "2") for loop in ("client", "server"))
    )
    for name in ("6/client", "2/server", "2/client", "6/server", "6/client"):
        engine.apply(settings[name])
        there = newest.ask(
            "select count(*) from pg_stat_activity where application_name like 'redolab session %'"
        )
        assert there == int(name[0])
        assert len(engine.snapshot().session_pids) == int(name[0])


def test_a_client_works_for_so_long_and_not_much_longer(opened: Open) -> None:
    engine, settings = opened(inserts(2), {"sessions": "2"})
    done = work(engine, settings["2"], Amount(0.3))
    assert done.units == done.commits > 0
    assert done.session_elapsed_max_s >= 0.3
    # The last transaction begins inside the time, so both sessions are inside it for most of it.
    assert done.session_elapsed_s > 0.5


@pytest.mark.parametrize("scope", ["session", "transaction"])
def test_parameters_are_in_force_in_the_transactions_of_a_client(
    opened: Open, newest: Server, database: str, scope: Any
) -> None:
    engine, settings = opened(
        Inserts("", 2, scope, 20, loop="client"), {"commit_wait": "nowait"}, {"commit_wait": "wait"}
    )
    with newest.admin(database) as admin:
        admin.execute("create table public.seen (value text)")
        admin.execute(
            "create function public.note() returns trigger language plpgsql security definer as $$ begin "
            "insert into public.seen values (current_setting('synchronous_commit')); return new; end $$"
        )
        admin.execute(
            "create trigger note before insert on redolab.item for each row execute function public.note()"
        )
    for name, value in (("nowait", "off"), ("wait", "on")):
        done = work(engine, settings[name], Amount(1.0, 6))
        assert done.rows == 6
        seen = newest.ask("select array_agg(value) from public.seen", database)
        assert seen == [value] * 6
        with newest.admin(database) as admin:
            admin.execute("truncate public.seen")


def test_an_interruption_ends_the_work_at_once(opened: Open) -> None:
    engine, settings = opened(inserts(4), {"sessions": "4"})
    engine.apply(settings["4"])
    stop = threading.Event()
    amount = Amount(60.0)
    timer = threading.Timer(0.2, stop.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(InterruptedRunError):
        engine.work(amount, stop)
    assert time.monotonic() - began < amount.seconds / 10
    # The sessions that were stopped are opened anew for the next sample.
    assert work(engine, settings["4"], Amount(1.0, 40)).rows == 40


def test_an_interruption_does_not_wait_for_a_statement_that_hangs(
    opened: Open, newest: Server, database: str
) -> None:
    engine, settings = opened(inserts(2), {"sessions": "2"})
    engine.apply(settings["2"])
    stop = threading.Event()
    with newest.admin(database) as admin, admin.transaction():
        admin.execute("lock table redolab.item in access exclusive mode")
        timer = threading.Timer(0.2, stop.set)
        timer.start()
        began = time.monotonic()
        with pytest.raises(InterruptedRunError):
            engine.work(Amount(60.0, 10), stop)
        assert time.monotonic() - began < 6.0


def test_a_killed_backend_spoils_the_sample_and_no_other(opened: Open, newest: Server, database: str) -> None:
    engine, settings = opened(inserts(3), {"sessions": "3"})
    engine.apply(settings["3"])
    victim = engine.snapshot().session_pids[1]

    def kill() -> None:
        wait_until(lambda: newest.ask("select count(*) from redolab.item", database) > 0, "rows come")
        assert newest.ask(f"select pg_terminate_backend({victim})")

    killer = threading.Thread(target=kill)
    killer.start()
    done = engine.work(Amount(1.5), threading.Event())
    killer.join()
    assert done.trouble == "session 2 died: terminating connection due to administrator command"
    assert done.rows > 0
    after = work(engine, settings["3"], Amount(1.0, 30))
    assert (after.trouble, after.rows) == (None, 30)
    assert victim not in engine.snapshot().session_pids


def test_a_session_lost_between_samples_is_opened_anew(opened: Open, newest: Server) -> None:
    engine, settings = opened(inserts(3), {"sessions": "3"})
    engine.apply(settings["3"])
    victim = engine.snapshot().session_pids[0]
    assert newest.ask(f"select pg_terminate_backend({victim})")
    done = work(engine, settings["3"], Amount(1.0, 30))
    assert (done.trouble, done.rows) == (None, 30)


def test_a_wrong_password_is_refused_and_not_shown(newest: Server) -> None:
    sessions = _core.ClientSessions(
        "127.0.0.1", newest.port, "postgres", "wr0ng-of-the-test", "postgres", "", tls=None,
        channel_binding="prefer", allowed=["scram-sha-256"], peer_uid=None, connect_timeout_s=10.0,
    )  # fmt: skip
    try:
        with pytest.raises(ConnectionError, match="password authentication failed") as refused:
            sessions.resize(2)
        assert "wr0ng" not in str(refused.value)
        assert "wr0ng" not in repr(sessions)
    finally:
        sessions.close()
    with pytest.raises(ValueError, match="closed"):
        sessions.resize(1)


def test_jobs_of_every_kind_but_a_text_of_several_statements(newest: Server) -> None:
    sessions = _core.ClientSessions(
        "127.0.0.1", newest.port, "postgres", PASSWORD, "postgres", "", tls=None, channel_binding="prefer",
        allowed=["scram-sha-256"], peer_uid=None, connect_timeout_s=10.0,
    )  # fmt: skip
    never, key = threading.Event(), _core.ClientArgument.key(10)
    with closing(sessions):
        sessions.resize(2)
        # Each session finds its own number and keys of its own, or would change no row.
        job = ClientJob("select 1 where $1::int8 / 10 = {session}", (key,), rows_per_commit=5)
        done = client_work(sessions, job, Amount(1.0, 100), 1, never, {})
        assert (done.trouble, done.rows, done.commits, done.failed) == (None, 100, 20, 0)
        nobody = ClientJob("select 1 where $1::int8 / 10 = 7", (key,))
        assert client_work(sessions, nobody, Amount(1.0, 10), 1, never, {}).failed == 10
        several = client_work(sessions, ClientJob("select 1; select 2", text=True), Amount(1.0), 1, never, {})
        assert several.trouble is not None
        assert "not for PostgreSQL's protocol" in several.trouble


def test_more_sessions_than_the_server_takes_are_refused_with_what_to_do(newest: Server, url: str) -> None:
    connector = Connector(f"{url}?password={PASSWORD}")
    with connector.connect("redolab control") as control, pytest.raises(RefusedError) as refused:
        ClientSessions(connector, control, 200, 1)
    assert "raise max_connections" in str(refused.value)
    assert PASSWORD not in str(refused.value)
    wait_until(lambda: newest.redolab_sessions() == 0, "none of the sessions stays")


def test_another_load_is_refused_before_anything_is_made(opened: Open) -> None:
    with pytest.raises(UsageError, match="only inside the server"):
        opened(Updates("", 1, "session", rows_per_session=10, padding_bytes=0), {"loop": "client"})


def test_a_whole_run_from_a_client(server: Server, database: str, redolab: Redolab, tmp_path: Path) -> None:
    with made(server, database) as url:
        done = redolab(
            "run", "session-count", "--engine", url, "--yes", "--quick", "--sessions", "2,6", "--blocks", "2",
            "--seconds", "0.3", "--seed", "1", "--out", tmp_path / "run",
        )  # fmt: skip
        assert done.code == 0, done.err
        server.assert_left_clean(database)
    run = open_run(tmp_path / "run")
    samples = run.samples.to_pylist()
    assert [sample["sessions"] for sample in samples if sample["setting"] == "6"] == [6, 6]
    inserts_in_all = run.manifest["design"]["units"]
    for sample in samples:
        assert sample["spoiled"] is None
        assert sample["units"] == sample["commits"] == sample["rows"] == inserts_in_all
        assert sample["server_rows"] == inserts_in_all
    latency = run.latency.to_pylist()
    for sample in samples:
        assert sum(row["commits"] for row in latency if row["sample"] == sample["sample"]) == inserts_in_all
    assert PASSWORD not in (tmp_path / "run" / "manifest.json").read_text()
    assert redolab("verify", tmp_path / "run").code == 0
    (tmp_path / "run" / "latency.parquet").write_bytes(b"changed")
    with pytest.raises(Exception, match="latency"):
        open_run(tmp_path / "run")
