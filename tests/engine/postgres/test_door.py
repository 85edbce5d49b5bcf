"""How connections to PostgreSQL are opened, and what in between is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from redolab.engine import open_observer
from redolab.engine.postgres.connecting import connection as door
from redolab.engine.postgres.connecting.connection import Connector, list_names
from redolab.engine.postgres.connecting.limited import LimitedConnection, NoAnswerError
from redolab.engine.postgres.observer import observer as observe_postgres
from redolab.engine.postgres.waits import reach
from redolab.errors import UsageError
from redolab.records.load import Amount
from redolab.records.observation import Observation
from tests.conftest import Redolab
from tests.engine.clients import Open, inserts
from tests.servers import PASSWORD, PATIENCE_S, Ended, Server, command, wait_until
from tests.wire import FullPooler, Pooler, listening

SHORT = ("--quick", "--seconds", "0.1", "--blocks", "2", "--sessions", "2", "--settings", "wait,nowait")


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def value(connection: psycopg.Connection[dict[str, Any]], name: str) -> str:
    row = connection.execute("select current_setting(%s) as value", (name,)).fetchone()
    assert row is not None
    return str(row["value"])


# The search path and the customs of a session.


@pytest.mark.parametrize("read_only", [True, False])
def test_a_connection_is_what_it_is_whatever_the_database_and_the_role_say(
    newest: Server, url: str, database: str, read_only: bool
) -> None:
    newest.role(f"custom_{database}", f"alter role custom_{database} set search_path = public, pg_catalog")
    with newest.admin() as admin:
        for custom in ("search_path = public", "client_encoding = 'LATIN1'", "statement_timeout = 7"):
            admin.execute(f"alter database {database} set {custom}".encode())
    target = url.replace("postgres@", f"custom_{database}@")
    with Connector(target).connect("redolab test", read_only) as connection:
        assert value(connection, "search_path") == "pg_catalog,pg_temp"
        assert value(connection, "client_encoding") == "UTF8"
        assert value(connection, "application_name") == "redolab test"
        assert value(connection, "statement_timeout") == "0"
        assert value(connection, "default_transaction_read_only") == ("on" if read_only else "off")


@pytest.mark.parametrize("place", ["URL", "PGOPTIONS", "service", "PGSERVICE"])
def test_options_of_the_user_hold_beside_redolabs_own(
    place: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = "-c work_mem=5MB -c search_path=public"
    file = tmp_path / "services"
    file.write_text(f"[mine]\noptions={mine}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    if place in {"PGOPTIONS", "PGSERVICE"}:
        monkeypatch.setenv(place, mine if place == "PGOPTIONS" else "mine")
    else:
        url += (
            f"?options={mine.replace(' ', '%20').replace('=', '%3D')}" if place == "URL" else "?service=mine"
        )
    with Connector(url).connect("redolab test") as connection:
        assert value(connection, "work_mem") == "5MB"
        assert value(connection, "search_path") == "pg_catalog,pg_temp"


def test_sessions_of_a_client_have_the_same_search_path(opened: Open) -> None:
    engine, settings = opened(inserts(2), {"sessions": "2", "loop": "client"})
    (setting,) = settings.values()
    engine.apply(setting)
    assert engine._sessions["client"].parameter_values("search_path") == ["pg_catalog,pg_temp"] * 2
    assert engine.work(Amount(seconds=0.1), threading.Event()).commits > 0


def test_a_list_has_names_of_its_own_while_it_runs(url: str) -> None:
    with Connector(url).connect("redolab test") as connection:
        with list_names(connection):
            assert value(connection, "search_path") == "redolab, public"
        assert value(connection, "search_path") == "pg_catalog,pg_temp"
        with pytest.raises(psycopg.errors.DivisionByZero), list_names(connection):
            connection.execute("begin; select 1 / 0")
        assert value(connection, "search_path") == "pg_catalog,pg_temp"


# Encodings.


@contextmanager
def of_encoding(server: Server, database: str, encoding: str) -> Iterator[str]:
    make = f"create database {database} encoding '{encoding}' template template0 locale 'C'"
    with server.admin() as admin:
        admin.execute(make.encode())
    try:
        yield server.url(database)
    finally:
        with server.admin() as admin:
            admin.execute(f"drop database {database} with (force)".encode())


@pytest.fixture
def stranger(newest: Server, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The role of a session in another database, as shown: its name is text in few encodings."""
    role = f"caf\udce9\udc81_{database}"
    with of_encoding(newest, f"{database}_ascii", "SQL_ASCII"):
        place = newest.conninfo("postgres", f"{database}_ascii")
        with psycopg.connect(place, autocommit=True, client_encoding="SQL_ASCII") as admin:
            quoted = b'"' + role.encode(errors="surrogateescape") + b'"'
            admin.execute(
                b"create role " + quoted + b" superuser login password '" + PASSWORD.encode() + b"'"
            )
            monkeypatch.setenv("PGUSER", role)
            with psycopg.connect(place.replace("user=postgres", ""), autocommit=True):
                monkeypatch.delenv("PGUSER")
                yield role.encode(errors="surrogateescape").decode(errors="backslashreplace")
            admin.execute(b"drop role " + quoted)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1", "EUC_JP", "UTF8", "EUC_TW", "WIN1252"])
def test_a_profile_shows_names_that_are_no_text(
    encoding: str, newest: Server, database: str, stranger: str, redolab: Redolab,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    with of_encoding(newest, database, encoding) as url:
        for memory in (True, False):
            if not memory:
                monkeypatch.setattr(reach, "why_not_readable", lambda *_: "the test forbids it")
            ended = redolab("profile", url, "--seconds", "0.5", "--json")
            assert ended.code == 0, ended.err
            users = {session["user"] for session in json.loads(ended.out)["sessions"]}
            assert any(str(user).endswith(database) for user in users), users
            if encoding in {"SQL_ASCII", "UTF8"}:
                assert stranger in users


@pytest.mark.parametrize(
    ("encoding", "memory"), [("SQL_ASCII", True), ("LATIN1", True), ("EUC_JP", True), ("EUC_JP", False)]
)
def test_a_run_in_any_encoding(
    encoding: str, memory: bool, newest: Server, database: str, stranger: str, redolab: Redolab,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if not memory:
        monkeypatch.setattr(reach, "why_not_readable", lambda *_: "the test forbids it")
    with of_encoding(newest, database, encoding) as url:
        ended = redolab(
            "run", "commit-mode", "--engine", url, "--yes", *SHORT, "--json", "--out", tmp_path / "run"
        )
        assert ended.code == 0, ended.err
        instrument = json.loads(ended.out)["instrument"]
        assert instrument["source"] == ("server memory" if memory else "pg_stat_activity")
        assert instrument["lost"] == 0
        newest.assert_left_clean(database)


def test_a_url_that_is_no_text_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="not a connection URL"):
        Connector("postgresql://caf%E9@127.0.0.1/db")


# What is in between.


def run(redolab: Redolab, url: str, tmp_path: Path) -> Ended:
    return redolab("run", "commit-mode", "--engine", url, "--yes", *SHORT, "--out", tmp_path / "run")


@pytest.mark.parametrize("drops_options", [False, True])
def test_a_pooler_is_refused(
    drops_options: bool, newest: Server, url: str, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    pooler = Pooler(newest.port, another_pid=not drops_options, drops_options=drops_options)
    with listening(pooler):
        there = url.replace(f":{newest.port}/", f":{pooler.port}/")
        for ended in (run(redolab, there, tmp_path), redolab("profile", there, "--seconds", "0.5")):
            assert (ended.code, ended.out) == (3, "")
            assert "A pooler such as PgBouncer answers at that address" in ended.complaint
            assert "Connect to the server itself" in ended.complaint
            said = "search_path=pg_catalog,pg_temp" if drops_options else "server process 4000000"
            assert said in ended.complaint
    newest.assert_left_clean(database)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "said",
    [
        "unsupported startup parameter in options: search_path", "unsupported startup parameter: options",
        "no more connections allowed (max_client_conn)", "no such user: bench", "no such database: orders",
        "client_login_timeout (server down)", "query_wait_timeout",
        "server login has been failing, cached error: connect failed (server_login_retry)",
        "bouncer config error", "pgbouncer cannot connect to server",
        "extended query protocol not supported by admin console",
    ],
)  # fmt: skip
def test_what_pgbouncer_says_names_the_pooler(said: str) -> None:
    assert "A pooler such as PgBouncer answers at that address" in str(Connector("").refused(said))


def test_a_limit_of_the_server_is_no_log_in_without_an_answer() -> None:
    for limit in ("transaction timeout", "idle-session timeout", "statement timeout"):
        refused = str(Connector("").refused(f"terminating connection due to {limit}"))
        assert "A session limit of the server, the database or the role" in refused
        assert "in time" not in refused
    assert "Nothing answered the log-in in time" in str(Connector("").refused("connection timeout expired"))


@pytest.mark.parametrize(
    "said",
    [
        'database "orders" does not exist', 'role "bench" does not exist', "connection timeout expired",
        "sorry, too many clients already",
        'password authentication failed for user "pgbouncer"', 'database "pgbouncer" does not exist',
    ],
)  # fmt: skip
def test_what_servers_say_is_not_taken_for_a_pooler(said: str) -> None:
    assert "such as PgBouncer" not in str(Connector("").refused(said))


def test_a_tunnel_is_not_taken_for_a_pooler(newest: Server, url: str, redolab: Redolab) -> None:
    with listening(Pooler(newest.port, another_pid=False)) as tunnel:
        ended = redolab("profile", url.replace(f":{newest.port}/", f":{tunnel.port}/"), "--seconds", "0.5")
        assert ended.code == 0, ended.err


def test_a_server_made_read_only_is_not_written_to(
    newest: Server, url: str, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    with newest.admin() as admin:
        admin.execute("alter system set default_transaction_read_only = on")
        admin.execute("select pg_reload_conf()")
    try:
        with newest.admin(database) as admin:
            wait_until(lambda: value(admin, "default_transaction_read_only") == "on", "it is read-only")
        ended = run(redolab, url, tmp_path)
        assert ended.code == 3
        for said in (
            "This server accepts no writes", "from: configuration file)",
            "ALTER SYSTEM RESET default_transaction_read_only", "Nothing was changed",
        ):  # fmt: skip
            assert said in ended.complaint
        profiled = redolab("profile", url, "--seconds", "0.5")
        assert profiled.code == 0, profiled.err
    finally:
        with newest.admin() as admin:
            admin.execute("set default_transaction_read_only = off")
            admin.execute("alter system reset default_transaction_read_only")
            admin.execute("select pg_reload_conf()")
    with newest.admin() as admin:
        wait_until(lambda: value(admin, "default_transaction_read_only") == "off", "it takes writes")
    newest.assert_left_clean(database)
    assert run(redolab, url, tmp_path).code == 0


def test_a_connection_that_the_user_made_read_only_is_not_written_over(
    url: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as mine:
        mine.setenv("PGOPTIONS", "-c default_transaction_read_only=on")
        ended = run(redolab, url, tmp_path)
    assert ended.code == 3
    assert "from: client)" in ended.complaint
    assert "PGOPTIONS" in ended.complaint


# Limits.


def test_a_statement_without_an_answer_ends_at_the_limit(newest: Server) -> None:
    connection: LimitedConnection[tuple[int]]
    with LimitedConnection.connect(newest.conninfo("postgres"), autocommit=True) as connection:
        connection.limit_s = 0.3
        assert connection.execute("select 1").fetchone() == (1,)
        with pytest.raises(NoAnswerError, match=r"no answer within 0\.3 s"):
            connection.execute("select pg_sleep(60)")
        assert connection.closed


@pytest.mark.parametrize("which", ["run", "profile"])
def test_a_log_in_and_nothing_more(
    which: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_ANSWER_LIMIT_S", 0.3)
    with listening(FullPooler()) as full:
        there = f"postgresql://u@127.0.0.1:{full.port}/db"
        ended = (
            run(redolab, there, tmp_path) if which == "run" else redolab("profile", there, "--seconds", "1")
        )
    assert ended.code == 3
    assert "no answer within 0.3 s" in ended.complaint
    assert "is it a pooler without free connections?" in ended.complaint


@pytest.mark.parametrize("answers_log_in", [True, False])
def test_an_interruption_ends_a_profile_that_nobody_answers(answers_log_in: bool) -> None:
    with listening(FullPooler(answers_log_in)) as full:
        process = subprocess.Popen(
            command("profile", f"postgresql://u@127.0.0.1:{full.port}/db", "--seconds", "600"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert full.reached.wait(PATIENCE_S)
            process.send_signal(signal.SIGINT)
            # The limits of log-in and answer, 10 and 15 s, have no part in it.
            out, err = process.communicate(timeout=8)
        finally:
            process.kill()
            process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "Interrupted before anything was seen." in err
    assert "Traceback" not in err


@pytest.mark.parametrize("memory", [True, False])
def test_a_server_that_falls_silent_ends_the_profile_with_what_was_seen(
    memory: bool, newest: Server, url: str, redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_ANSWER_LIMIT_S", 0.5)
    monkeypatch.setattr(observe_postgres.PostgresObserver, "restart_limit_s", 0.3)
    if not memory:
        monkeypatch.setattr(reach, "why_not_readable", lambda *_: "the test forbids it")
    pooler = Pooler(newest.port, another_pid=False)
    read = observe_postgres.PostgresObserver.read

    def read_and_fall_silent(observer: observe_postgres.PostgresObserver) -> Observation:
        seen = read(observer)
        pooler.silent.set()
        return seen

    monkeypatch.setattr(observe_postgres.PostgresObserver, "read", read_and_fall_silent)
    with listening(pooler):
        there = url.replace(f":{newest.port}/", f":{pooler.port}/")
        ended = redolab("profile", f"{there}?connect_timeout=2", "--seconds", "600", "--json")
    assert ended.code == 3
    assert "No connection to PostgreSQL" in ended.complaint
    assert json.loads(ended.out)["format"] == 1


def test_an_interruption_does_not_wait_for_a_server_that_fell_silent(newest: Server, url: str) -> None:
    pooler, stop = Pooler(newest.port, another_pid=False), threading.Event()
    with listening(pooler):
        observer = open_observer(url.replace(f":{newest.port}/", f":{pooler.port}/"), 1, stop)
        observer.read()
        pooler.silent.set()
        threading.Timer(0.2, stop.set).start()
        began = time.monotonic()
        seen = observer.read()
        assert time.monotonic() - began < door._ANSWER_LIMIT_S
        assert "The server did not answer when Redolab stopped watching it." in seen.warnings
        observer.close()
