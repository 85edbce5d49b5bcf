"""What is told of somebody's server before a run: who and where it is, and what waits for a reload there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from redolab.engine.postgres.parameters.text import same_value
from redolab.records.store import open_run
from tests.conftest import Redolab
from tests.servers import PASSWORD, Ended, Server, made, wait_until

SHORT = ("--quick", "--blocks", "2", "--seconds", "0.1", "--sessions", "1")
Run = Callable[..., Ended]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def run(redolab: Redolab, tmp_path: Path) -> Run:
    numbers = count(1)

    def start(url: str, *more: str) -> Ended:
        out = tmp_path / f"run-{next(numbers)}"
        return redolab("run", "commit-mode", "--engine", url, *SHORT, *more, "--out", out)

    return start


def shown(server: Server) -> str:
    return str(server.ask("select current_setting('wal_writer_delay')"))


def test_the_server_is_named_as_really_connected(
    run: Run, newest: Server, url: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the environment says, and nothing else, is where the load goes."""
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", str(newest.port))
    monkeypatch.setenv("PGUSER", "postgres")
    monkeypatch.setenv("PGDATABASE", database)
    place = f"127.0.0.1:{newest.port}, database {database}"
    asked = run("postgresql://")
    assert asked.code == 2, asked.err
    assert f"at {place}, as the role postgres." in asked.err
    assert "This needs your agreement" in asked.complaint
    assert newest.ask("select count(*) from pg_namespace where nspname = 'redolab'", database) == 0
    done = run("postgresql://", "--yes", "--settings", "wait,nowait")
    assert done.code == 0, done.err
    assert open_run(tmp_path / "run-2").manifest["engine"]["place"] == place


def test_a_service_file_is_seen_through(
    run: Run, newest: Server, url: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "services"
    file.write_text(f"[night]\nhost={newest.place}\nport={newest.port}\nuser=postgres\ndbname={database}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    asked = run("postgresql:///?service=night")
    assert f"at {newest.place}:{newest.port}, database {database}, as the role postgres." in asked.err


def test_what_waits_for_a_reload_is_told_and_kept(own_server: Server, run: Run) -> None:
    """Redolab's reload puts everybody's edits in force: it says which, and loses none of them."""
    with made(own_server, "orders") as url:
        with own_server.admin() as admin:
            admin.execute("alter system set wal_writer_delay = '300ms'")  # and no reload
        with (own_server.data / "postgresql.conf").open("a") as file:
            file.write("work_mem = 7MB\n")
        with (own_server.data / "pg_hba.conf").open("a") as file:
            file.write("# edited\n")
        # The server counts the times of files in whole seconds, and has only just begun.
        later = time.time() + 2
        os.utime(own_server.data / "pg_hba.conf", (later, later))
        altered = own_server.altered()
        assert shown(own_server) == "200ms"
        asked = run(url)
        assert asked.code == 2
        for told in (
            "wal_writer_delay = 300ms (postgresql.auto.conf line ", "work_mem = 7MB (postgresql.conf line ",
            "pg_hba.conf changed after the last reload",
        ):  # fmt: skip
            assert told in asked.err, asked.err
        # Asking alone reloads nothing.
        assert shown(own_server) == "200ms"
        done = run(url, "--yes")
        assert done.code == 0, done.err
        assert own_server.altered() == altered, "the other one's edit is still there"
        assert shown(own_server) == "300ms"
        os.utime(own_server.data / "pg_hba.conf", (0, 0))
        again = run(url)
        assert "wait for a reload" not in again.err
        assert "wal_writer_delay is set in postgresql.auto.conf, and Redolab puts that line back" in again.err


def test_a_pending_reset_is_kept_too(own_server: Server, run: Run) -> None:
    with made(own_server, "orders") as url:
        with own_server.admin() as admin:
            admin.execute("alter system set wal_writer_delay = '300ms'")
            admin.execute("select pg_reload_conf()")
        wait_until(lambda: shown(own_server) == "300ms", "a reload")
        with own_server.admin() as admin:
            admin.execute("alter system reset wal_writer_delay")  # and no reload
        altered = own_server.altered()
        done = run(url, "--yes")
        assert done.code == 0, done.err
        assert "wal_writer_delay back to its default" in done.err
        assert own_server.altered() == altered
        assert shown(own_server) == "200ms"


def test_what_may_not_be_read_is_said_with_the_grant(
    run: Run, newest: Server, database: str, url: str
) -> None:
    role = f"reader_{database}"
    newest.role(
        role, f"grant create on database {database} to {role}",
        f"grant set on parameter commit_delay to {role}",
        f"grant alter system on parameter wal_writer_delay, wal_writer_flush_after to {role}",
        f"grant pg_read_all_settings to {role}",
    )  # fmt: skip
    with newest.admin(database) as admin:
        admin.execute(f"grant execute on function pg_reload_conf() to {role}".encode())
    asked = run(newest.url(database, role))
    assert asked.code == 2, asked.err
    assert f'GRANT SELECT ON pg_file_settings TO "{role}"' in asked.err
    with newest.admin(database) as admin:
        for grant in (
            "select on pg_file_settings", "execute on function pg_show_all_file_settings()",
            "execute on function pg_stat_file(text)", "pg_read_server_files",
        ):  # fmt: skip
            admin.execute(f"grant {grant} to {role}".encode())
        try:
            assert "may not be read" not in run(newest.url(database, role)).err
        finally:
            for held in ("select on pg_file_settings", "execute on function pg_show_all_file_settings()",
                         "execute on function pg_stat_file(text)", "pg_read_server_files"):  # fmt: skip
                admin.execute(f"revoke {held} from {role}".encode())


def test_a_run_that_changes_the_sessions_alone_does_not_look(run: Run, url: str) -> None:
    asked = run(url, "--settings", "wait,nowait")
    assert "reload" not in asked.err


def forbid(server: Server, event: str, said: str) -> None:
    """Let an event trigger in the database orders refuse what would be done."""
    with server.admin("orders") as admin:
        admin.execute(
            "create function no() returns event_trigger language plpgsql as "
            f"$$begin raise exception '{said}'; end$$;"
            f"create event trigger no on {event} execute function no()".encode()
        )


def test_a_refused_drop_says_what_is_left_and_no_more(
    own_server: Server, redolab: Redolab, tmp_path: Path
) -> None:
    with made(own_server, "orders") as url:
        forbid(own_server, "sql_drop", "no drops here")
        done = redolab("run", "commit-mode", "--engine", url, "--yes", *SHORT, "--out", tmp_path / "run")
        assert done.code == 3, done.err
        assert "Every parameter is put back. The schema redolab is still there" in done.complaint
        assert "ALTER SYSTEM" not in done.complaint
        assert shown(own_server) == "200ms"


def test_nothing_measured_is_not_said_to_be_kept(
    own_server: Server, redolab: Redolab, tmp_path: Path
) -> None:
    with made(own_server, "orders") as url:
        forbid(own_server, "ddl_command_end", "nothing is made here")
        done = redolab("run", "commit-mode", "--engine", url, "--yes", *SHORT, "--out", tmp_path / "run")
        assert done.code == 3, done.err
        assert "nothing is made here" in done.complaint
        assert "kept" not in done.complaint
        assert not (tmp_path / "run").exists()
        own_server.assert_left_clean("orders")


@pytest.mark.parametrize(
    ("one", "other", "unit", "kind", "same"),
    [
        ("300ms", "300", "ms", "integer", True),
        ("0.3s", "300", "ms", "integer", True),
        ("1MB", "128", "8kB", "integer", True),
        ("7MB", "4096", "kB", "integer", False),
        ("4096kB", "4MB", "kB", "integer", True),
        ("5", "7", None, "integer", False),
        ("0.90", "0.9", None, "real", True),
        ("true", "on", None, "bool", True),
        ("no", "on", None, "bool", False),
        ("ISO, MDY", "iso,mdy", None, "string", True),
        ("remote_apply", "on", None, "enum", False),
        ("what?", "300", "ms", "integer", False),
    ],
)
def test_values_that_say_the_same(one: str, other: str, unit: str | None, kind: str, same: bool) -> None:
    assert same_value(one, other, unit, kind) == same
    assert same_value(other, one, unit, kind) == same


def test_the_password_is_not_in_the_question(run: Run, newest: Server, database: str, url: str) -> None:
    assert PASSWORD not in run(url).err
