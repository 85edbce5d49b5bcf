"""What a server may refuse: exit 3, one paragraph with the mend, and nothing changed or left."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from redolab.engine.postgres.own.server_lock import PostgresLock
from redolab.engine.postgres.parameters.before import Parameter
from redolab.engine.postgres.parameters.parameters import check_rights
from redolab.engine.postgres.preflight import standbys
from redolab.engine.private.directory import remove_server
from redolab.engine.server import server_lock
from redolab.errors import RefusedError
from tests.conftest import Redolab
from tests.servers import Ended, Server, made, versions_in_whole, wait_until

SHORT = ("--quick", "--seconds", "0.1", "--blocks", "2", "--sessions", "2")
Run = Callable[..., Ended]


@pytest.fixture
def run(redolab: Redolab, tmp_path: Path) -> Run:
    def start(url: str, *more: str) -> Ended:
        return redolab("run", "commit-mode", "--engine", url, "--yes", *SHORT, *more,
                       "--out", tmp_path / "run")  # fmt: skip

    return start


@pytest.fixture
def untouched(newest: Server, url: str, database: str) -> Iterator[None]:
    """Fails when the refused run changed anything."""
    settings, altered = newest.settings(), newest.altered()
    yield
    newest.assert_left_clean(database)
    assert (newest.settings(), newest.altered()) == (settings, altered)


def refused(done: Ended, *said: str) -> str:
    assert done.code == 3, done.err
    for text in said:
        assert text in done.complaint
    return done.complaint


def test_nobody_listens(run: Run) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and never listens
        port = held.getsockname()[1]
        refused(run(f"postgresql://u@127.0.0.1:{port}/db"), f"127.0.0.1:{port}", "Is the server running")


def test_there_is_no_such_socket(run: Run, tmp_path: Path) -> None:
    refused(run(f"postgresql://u@/db?host={tmp_path}"), "is this its socket directory?")


def test_there_is_no_such_host(run: Run) -> None:
    refused(run("postgresql://u@host.invalid/db"), "Check the host name in the URL")


def test_the_password_is_wrong(run: Run, untouched: None, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "a-wrong-one")
    complaint = refused(run(url), "password authentication failed", "PGPASSWORD or ~/.pgpass")
    assert "a-wrong-one" not in complaint


def test_there_is_no_such_database(run: Run, newest: Server) -> None:
    refused(run(newest.url("no_such_database")), "does not exist", "Check the database")


@pytest.mark.parametrize("version", versions_in_whole())
@pytest.mark.parametrize("scope", ["session", "system"])
def test_the_grants_that_are_named_are_enough(
    servers: Callable[[str], Server], version: str, scope: str, database: str, run: Run
) -> None:
    server, role = servers(version), f"Plain {database}"
    server.role(role)
    before = server.settings()
    with made(server, database):
        as_role = f"postgresql://Plain%20{database}@127.0.0.1:{server.port}/{database}"
        complaint = refused(
            run(as_role, "--scope", scope), "A superuser grants these rights with: ", "Nothing was changed"
        )
        server.assert_left_clean(database)
        grants = re.findall(r'GRANT .*? TO "Plain \w+"', complaint)
        assert len(grants) == complaint.count("GRANT ") >= 4
        assert f'GRANT CREATE ON DATABASE "{database}"' in grants[0]
        with server.admin(database) as admin:
            for grant in grants:
                admin.execute(grant.encode())
        try:
            done = run(as_role, "--scope", scope)
            assert done.code == 0, done.err
            server.assert_left_clean(database)
            assert server.settings() == before
        finally:
            with server.admin(database) as admin:
                for grant in grants:
                    admin.execute(grant.replace("GRANT", "REVOKE").replace(" TO ", " FROM ").encode())


def test_waiting_or_not_needs_create_alone(
    newest: Server, database: str, url: str, untouched: None, run: Run
) -> None:
    newest.role("creator")
    as_role = newest.url(database, "creator")
    complaint = refused(run(as_role, "--settings", "wait,nowait"))
    assert re.findall("GRANT [^;.]*", complaint) == [f'GRANT CREATE ON DATABASE "{database}" TO "creator"']
    with newest.admin() as admin:
        admin.execute(f"grant create on database {database} to creator".encode())
    done = run(as_role, "--settings", "wait,nowait")
    assert done.code == 0, done.err


def test_a_standby_is_read_only(newest: Server, run: Run) -> None:
    place = newest.place.with_name("standby")
    standby = Server(newest.programs, place, copy_of=newest)
    try:
        standby.start()
        refused(run(standby.url()), "read-only standby", "Point --engine at the primary")
    finally:
        standby.stop()
        remove_server(place)


@pytest.fixture
def standbys_required(newest: Server, url: str) -> Iterator[Callable[[str], None]]:
    """Has commits wait for standbys, until the test ends; `url` is that of a database made before."""

    def require(names: str) -> None:
        with newest.admin() as admin:
            admin.execute(f"alter system set synchronous_standby_names = '{names}'".encode())
            admin.execute("select pg_reload_conf()")
        wait_until(
            lambda: newest.ask("select current_setting('synchronous_standby_names')") == names, "it is"
        )

    yield require
    require("")


@pytest.mark.parametrize(
    ("names", "wanted"),
    [("nobody", "asks for 1 standby"), ("ANY 2 (nobody, nowhere)", "asks for 2 standbys")],
)
def test_no_commit_waits_for_a_standby_that_is_not_there(
    names: str,
    wanted: str,
    newest: Server,
    url: str,
    database: str,
    standbys_required: Callable[[str], None],
    run: Run,
    redolab: Redolab,
    tmp_path: Path,
) -> None:
    standbys_required(names)
    why = f"{wanted} to confirm it, but none does. Connect the standbys"
    # A run that sets nothing to wait commits its own rows all the same.
    for settings in ("wait,nowait", "nowait,nowait/batch"):
        refused(run(url, "--settings", settings), why, "pg_stat_replication", "Nothing was changed")
    newest.assert_left_clean(database)
    assert not (tmp_path / "run").exists()
    asked = redolab("doctor", "commit-mode", "--engine", url)
    assert asked.code == 3
    assert why in asked.complaint
    profiled = redolab("profile", url, "--seconds", "0.5", "--json")
    assert profiled.code == 0, profiled.err
    (warning,) = [text for text in json.loads(profiled.out)["warnings"] if "does not return" in text]
    assert wanted in warning


@pytest.mark.parametrize(
    ("names", "confirming", "why"),
    [
        ("one", 1, ""), ("", 0, ""), ("FIRST 2 (a, b, c)", 2, ""), ("any 2(a, b, c)", 3, ""),
        # A row that is hidden from the role may be of a standby that confirms.
        ("one", None, ""),
        ("one", 0, "asks for 1 standby to confirm it, but none does."),
        ("2 (a, b, c)", 1, "asks for 2 standbys to confirm it, but only 1 does."),
        ("FIRST 3 (*)", 2, "asks for 3 standbys to confirm it, but only 2 do."),
    ],
)  # fmt: skip
def test_which_standbys_are_enough(names: str, confirming: int | None, why: str) -> None:
    said = standbys.why_not({"names": names, "confirming": confirming})
    assert said.endswith(why)
    assert bool(said) == bool(why)


def test_an_old_server_is_refused(
    run: Run, url: str, untouched: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psycopg.ConnectionInfo, "server_version", 130_014)
    refused(run(url), "This server is PostgreSQL 13; Redolab needs 14 or newer")


def test_a_foreign_schema_is_never_touched(run: Run, newest: Server, url: str, database: str) -> None:
    with newest.admin(database) as admin:
        admin.execute("create schema redolab; create table redolab.mine (id int)")
    refused(run(url), "that Redolab did not make", "Rename that schema, or use another database")
    assert newest.ask("select count(*) from redolab.mine", database) == 0


@pytest.mark.parametrize("where", ["same database", "another database"])
def test_one_run_at_a_time_on_a_server(
    run: Run, newest: Server, url: str, database: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_lock, "_LIMIT_S", 0.2)
    with newest.admin(database if where == "same database" else "postgres") as other:
        assert PostgresLock(other).take(1) is None
        pid = f"server process {other.info.backend_pid}, user postgres, database {other.info.dbname}"
        refused(
            run(url), "Another Redolab run is at work on this server", pid, "Wait for the end of that run"
        )
    newest.assert_left_clean(database)


def test_more_sessions_than_the_server_takes(run: Run, url: str, untouched: None) -> None:
    refused(run(url, "--sessions", "40"), "too many clients", "Ask for fewer sessions with --sessions")


def test_what_a_command_line_option_overrides_is_not_altered(
    newest: Server, database: str, url: str, untouched: None, run: Run
) -> None:
    newest.role("custom", "alter role custom superuser", "alter role custom set synchronous_commit = off")
    as_role = newest.url(database, "custom")
    refused(run(as_role, "--scope", "system"), "synchronous_commit = off (from: user)", "ALTER ROLE")
    # In its own sessions nothing is nearer than Redolab.
    done = run(as_role, "--scope", "session")
    assert done.code == 0, done.err


def test_the_customs_of_a_database_do_not_stop_a_run(
    newest: Server, database: str, url: str, untouched: None, run: Run
) -> None:
    with newest.admin() as admin:
        for custom in (
            "default_transaction_read_only = on", "statement_timeout = 50", "lock_timeout = 1",
            "idle_session_timeout = 50", "transaction_timeout = 50",
            "default_transaction_isolation = serializable",
        ):  # fmt: skip
            admin.execute(f"alter database {database} set {custom}".encode())
    done = run(url)
    assert done.code == 0, done.err


def test_before_15_no_grant_on_a_parameter_is_asked_for() -> None:
    delay = Parameter("commit_delay", "0", True, "default", False, may_set=False, may_alter_system=False)
    server = {
        "version_num": 140_019, "role": "plain", "database": "orders", "may_create": True,
        "may_reload": False, "may_alter": True, "may_read_settings": False,
    }  # fmt: skip
    with pytest.raises(RefusedError, match="Before PostgreSQL 15 only a superuser may change"):
        check_rights({"commit_delay": delay}, "session", server)
