"""Whatever others do to the schema `redolab` during a run, the parameters are put back or named."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.engine.postgres.own.schema import MARKS
from redolab.engine.postgres.parameters.parameters import Parameters
from redolab.engine.postgres.preflight.preflight import check_unclaimed
from redolab.engine.private.marks import Marks
from redolab.engine.server.kept import Kept
from redolab.errors import RefusedError
from redolab.experiment.forecast_load import check_load
from tests.servers import PASSWORD, Server, made, wait_until

DELAY, COMMIT = "wal_writer_delay", "synchronous_commit"
OURS = "1s"
NAMES = (DELAY, COMMIT, "commit_delay", "commit_siblings", "wal_writer_flush_after")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def engine(newest: Server, url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresEngine]:
    """A run whose second setting is in force."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    it = begun(url)
    yield it
    with suppress(RefusedError):
        it.close()


LEVELS = (
    {"commit_wait": "wait", "commit_logging": "immediate"},
    {"commit_wait": "nowait", "commit_logging": "batch"},
)


def begun(url: str, *after: int) -> PostgresEngine:
    """A run whose second setting is in force, and then those `after` it."""
    it = PostgresEngine(Connector(url), None, 1)
    try:
        settings = it.prepare(check_load(1, "server", "system"), LEVELS)
    except RefusedError:
        it.close()
        raise
    for number in (1, *after):
        it.apply(settings[number])
    return it


def changed(engine: PostgresEngine) -> set[str]:
    return {it.parameter for it in parameters_of(engine).changes if it.setting != "restore"}


def parameters_of(engine: PostgresEngine) -> Parameters:
    assert engine._hold.parameters is not None
    return engine._hold.parameters


def lines(server: Server) -> list[str]:
    """What ALTER SYSTEM has written."""
    return [line for line in server.altered() if not line.startswith("#")]


def leave_to_colleague(server: Server, admin: psycopg.Connection[Any]) -> None:
    """Make sure that a colleague's line still stands alone, and take it out as they would."""
    assert lines(server) == [f"{DELAY} = '33ms'"]
    admin.execute(f"alter system reset {DELAY}".encode())
    admin.execute("select pg_reload_conf()")


def restored(engine: PostgresEngine) -> set[str]:
    changes = parameters_of(engine).changes
    return {it.parameter for it in changes if it.setting == "restore" and it.scope == "system"}


TIDY = {
    "journal dropped": "drop table redolab.parameter_journal",
    "journal emptied": "delete from redolab.parameter_journal",
    "journal edited": "update redolab.parameter_journal set value_before = '7ms'",
    "a view in its place": "drop table redolab.parameter_journal; "
    "create view redolab.parameter_journal as select 1 as it",
    "comment changed": "comment on schema redolab is 'mine'",
    "renamed": "alter schema redolab rename to other",
    "dropped": "drop schema redolab cascade",
}


@pytest.mark.parametrize("what", TIDY)
def test_the_parameters_are_put_back_from_memory(
    what: str, engine: PostgresEngine, newest: Server, database: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with newest.admin(database) as admin:
        assert newest.ask(f"show {DELAY}") == OURS
        admin.execute(TIDY[what].encode())
    engine.close()
    assert newest.ask(f"show {DELAY}") == "200ms"
    assert lines(newest) == []
    assert restored(engine) == changed(engine) >= {DELAY, COMMIT}
    newest.assert_left_clean(database)
    assert newest.ask("select count(*) from pg_namespace where nspname = 'other'", database) == 0
    assert ("Somebody has renamed the schema redolab to other." in capfd.readouterr().err) == (
        what == "renamed"
    )
    assert MARKS.kept() == {}


def test_a_schema_of_somebody_else_by_now_is_named_and_left(
    url: str, newest: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    role = f"other_{database}"
    newest.role(role, f"grant create on database {database} to {role}")
    engine = begun(url)
    with newest.admin(database) as admin:
        admin.execute(f"alter schema redolab owner to {role}".encode())
        with pytest.raises(
            RefusedError, match=rf"The schema redolab is still there: the role {role} owns it"
        ):
            engine.close()
        assert newest.ask(f"show {DELAY}") == "200ms"
        assert lines(newest) == []
        admin.execute("drop schema redolab cascade")


@pytest.mark.parametrize("reloaded", [True, False], ids=["reloaded", "not reloaded yet"])
def test_a_colleagues_value_ends_the_run_and_is_left_and_named(
    reloaded: bool, engine: PostgresEngine, newest: Server, database: str
) -> None:
    with newest.admin(database) as admin:
        admin.execute(f"alter system set {DELAY} = '33ms'".encode())
        if reloaded:
            admin.execute("select pg_reload_conf()")
        with pytest.raises(RefusedError, match=f"Somebody else changed {DELAY} .*it was 1s.*is 33ms"):
            engine._hold.ensure()
        with pytest.raises(RefusedError, match=f"Somebody else set {DELAY} to 33ms") as told:
            engine.close()
        assert lines(newest) == [f"{DELAY} = '33ms'"]
        assert restored(engine) == changed(engine) - {DELAY}
        wait_until(lambda: newest.ask(f"show {DELAY}") == "33ms", "it is in force")
        assert f'ALTER SYSTEM RESET "{DELAY}"; SELECT pg_reload_conf();' in str(told.value)
        admin.execute(f"alter system reset {DELAY}".encode())
        admin.execute("select pg_reload_conf()")
    newest.assert_left_clean(database)


def test_a_colleague_before_the_first_change_is_not_overruled(
    newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    engine = PostgresEngine(Connector(url), None, 1)
    settings = engine.prepare(check_load(1, "server", "system"), LEVELS)
    with newest.admin(database) as admin:
        admin.execute(f"alter system set {DELAY} = '33ms'".encode())
        with pytest.raises(RefusedError, match=f"Somebody else changed {DELAY}"):
            engine.apply(settings[1])
        engine.close()
        leave_to_colleague(newest, admin)
    newest.assert_left_clean(database)


def test_a_colleague_while_a_change_is_noted_is_not_overruled(
    newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    engine = PostgresEngine(Connector(url), None, 1)
    settings = engine.prepare(check_load(1, "server", "system"), LEVELS)
    note = Marks.note
    with newest.admin(database) as admin:

        def noted_while_somebody_works(self: Marks, kept: Kept) -> None:
            admin.execute(f"alter system set {DELAY} = '33ms'".encode())
            note(self, kept)

        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(Marks, "note", noted_while_somebody_works)
            with pytest.raises(RefusedError, match=f"Somebody else changed {DELAY} .*now it is 33ms"):
                engine.apply(settings[1])
        engine.close()
        leave_to_colleague(newest, admin)
    newest.assert_left_clean(database)


def test_what_a_colleague_took_out_is_left_out(engine: PostgresEngine, newest: Server, database: str) -> None:
    with newest.admin(database) as admin:
        admin.execute(f"alter system reset {DELAY}".encode())
        admin.execute("select pg_reload_conf()")
    engine.close()
    assert restored(engine) == changed(engine) - {DELAY}
    assert lines(newest) == []
    newest.assert_left_clean(database)


def test_a_setting_of_a_role_is_not_taken_for_the_servers(
    engine: PostgresEngine, newest: Server, database: str
) -> None:
    with newest.admin(database) as admin:
        admin.execute(f"alter database {database} set commit_siblings = 9".encode())
        engine.close()
    assert lines(newest) == []
    assert restored(engine) == changed(engine) >= {DELAY, COMMIT}
    newest.assert_left_clean(database)


ALTER = f"alter system on parameter {', '.join(NAMES)}"


@contextmanager
def role_of(newest: Server, database: str) -> Iterator[str]:
    """A role with what a run needs and no more: it may not read the lines of postgresql.auto.conf."""
    role = f"bench_{database}"
    newest.role(role)
    with newest.admin(database) as admin:
        admin.execute(
            f"grant create on database {database} to {role}; grant {ALTER} to {role}; "
            f"grant execute on function pg_reload_conf() to {role}; "
            f"grant pg_read_all_settings to {role}".encode()
        )
        yield role
        wait_until(lambda: newest.redolab_sessions() == 0, "the guard ends")
        admin.execute(f"drop schema if exists redolab cascade; drop owned by {role} cascade".encode())
        admin.execute(f"drop role {role}".encode())


@pytest.mark.parametrize("after", [(), (0,), (0, 1)], ids=["batch", "baseline", "batch again"])
def test_a_role_that_may_not_read_the_lines_leaves_none(
    after: tuple[int, ...], newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with role_of(newest, database) as role:
        engine = begun(newest.url(database, role), *after)
        assert not parameters_of(engine).sees_lines
        assert lines(newest)
        engine._hold.ensure()
        engine.close()
        assert lines(newest) == []
        assert parameters_of(engine).changes[-1].after != OURS


def test_such_a_role_leaves_what_a_colleague_wrote(
    newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with role_of(newest, database) as role, newest.admin(database) as admin:
        engine = begun(newest.url(database, role))
        admin.execute(f"alter system set {DELAY} = '33ms'".encode())
        with pytest.raises(RefusedError, match=f"Somebody else set {DELAY} to 33ms"):
            engine.close()
        leave_to_colleague(newest, admin)


def test_such_a_role_does_not_write_over_what_a_colleague_wrote_in_the_middle(
    newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with role_of(newest, database) as role, newest.admin(database) as admin:
        engine = PostgresEngine(Connector(newest.url(database, role)), None, 1)
        settings = engine.prepare(check_load(1, "server", "system"), LEVELS)
        engine.apply(settings[1])
        admin.execute(f"alter system set {DELAY} = '33ms'".encode())
        with pytest.raises(RefusedError, match=f"Somebody else changed {DELAY} .*now it is 33ms"):
            engine.apply(settings[0])
        with pytest.raises(RefusedError, match=f"Somebody else set {DELAY} to 33ms"):
            engine.close()
        leave_to_colleague(newest, admin)


@pytest.mark.parametrize("right", [ALTER, "pg_read_all_settings"])
def test_rights_that_were_taken_away_are_named_with_what_to_run(
    right: str, newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with role_of(newest, database) as role, newest.admin(database) as admin:
        engine = begun(newest.url(database, role))
        admin.execute(f"revoke {right} from {role}".encode())
        with pytest.raises(RefusedError, match="Redolab could not put back") as told:
            engine.close()
        text = str(told.value)
        assert "the list in its table parameter_journal" in text
        assert restored(engine) == set()
        for name in changed(engine):
            statement = f'ALTER SYSTEM RESET "{name}"; SELECT pg_reload_conf();'
            assert statement in text
            for part in statement.split(";")[:-1]:
                admin.execute(part.encode())
        assert lines(newest) == []


def kill_both(engine: PostgresEngine) -> None:
    """Let go of it as a run and its guard do that are both killed."""
    guard = engine._hold._guarded._guard
    assert guard is not None
    os.kill(guard.pid, signal.SIGKILL)
    guard.close()
    for sessions in engine._sessions.values():
        sessions.close()
    assert engine._watcher is not None
    engine._watcher.close()
    engine._control.close()


LOST = {**TIDY, "database renamed": "", "database dropped": ""}


@pytest.mark.parametrize("what", LOST)
def test_where_both_die_the_next_run_puts_back_what_this_machine_noted(
    what: str, newest: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    of_server = {
        "database renamed": "alter database first rename to first_2",
        "database dropped": "drop database first",
    }
    with made(newest, "first") as url, made(newest, "second") as other:
        engine = begun(url)
        kill_both(engine)
        wait_until(lambda: newest.redolab_sessions() == 0, "its connections end")
        with newest.admin("second" if what in of_server else "first") as admin:
            admin.execute((of_server.get(what) or LOST[what]).encode())
        assert lines(newest)
        with Connector(other).connect("a test") as control:
            assert check_unclaimed(control)
        begun(other).close()
        told = capfd.readouterr().err
        assert "An earlier run had left parameters changed, and they are put back: " in told
        assert f"{DELAY} = 200ms" in told
        assert "is still there" not in told
        assert lines(newest) == []
        assert MARKS.kept() == {}
        if what == "database dropped":
            with newest.admin("second") as admin:
                admin.execute("create database first")
            return
        if what == "database renamed":
            with newest.admin("second") as admin:
                admin.execute("alter database first_2 rename to first")
        newest.assert_left_clean("first")


def test_a_name_that_somebody_took_meanwhile_stops_no_putting_back(
    newest: Server,
    url: str,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    kill_both(begun(url))
    wait_until(lambda: newest.redolab_sessions() == 0, "its connections end")
    with newest.admin(database) as admin:
        admin.execute("drop schema redolab cascade; create schema redolab")
        with pytest.raises(RefusedError, match="a schema named redolab that Redolab did not make"):
            begun(url)
        assert f"{DELAY} = 200ms" in capfd.readouterr().err
        assert lines(newest) == []
        assert MARKS.kept() == {}
        admin.execute("drop schema redolab")


def test_what_is_put_back_once_is_not_put_back_again(
    newest: Server,
    url: str,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A colleague may want the very value by now, and the schema may still be there."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    role = f"other_{database}"
    newest.role(role, f"grant create on database {database} to {role}")
    kill_both(begun(url))
    wait_until(lambda: newest.redolab_sessions() == 0, "its connections end")
    with newest.admin(database) as admin:
        admin.execute(f"alter schema redolab owner to {role}".encode())
        with pytest.raises(RefusedError, match=f"put back: .*{DELAY} = 200ms.*the role {role} owns it"):
            begun(url)
        assert lines(newest) == []
        admin.execute(f"alter system set {DELAY} = '{OURS}'".encode())
        admin.execute("select pg_reload_conf()")
        admin.execute(b"alter schema redolab owner to postgres")
        begun_again = PostgresEngine(Connector(url), None, 1)
        with suppress(RefusedError):
            begun_again.prepare(check_load(1, "server", "session"), LEVELS[:1])
        begun_again.close()
        assert lines(newest) == [f"{DELAY} = '{OURS}'"]
        admin.execute(f"alter system reset {DELAY}".encode())
        admin.execute("select pg_reload_conf()")


def test_what_this_machine_failed_to_note_is_taken_from_the_database(
    newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    engine = begun(url)
    kept = engine._hold._guarded.kept
    assert kept.changed
    MARKS.note(replace(kept, changed=()))
    kill_both(engine)
    wait_until(lambda: newest.redolab_sessions() == 0, "its connections end")
    begun(url).close()
    assert lines(newest) == []


def test_a_copy_of_the_server_is_not_taken_for_it(
    newest: Server, url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A standby, a clone or a base backup says that it is the same; only its address differs."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    engine = begun(url)
    kept = engine._hold._guarded.kept
    kill_both(engine)
    wait_until(lambda: newest.redolab_sessions() == 0, "its connections end")
    MARKS.note(replace(kept, address="192.0.2.1:5432"))
    with Connector(url).connect("a test") as control:
        check_unclaimed(control)
        assert "that it reached at 192.0.2.1:5432" in capfd.readouterr().err
    # Its own schema is a copy too, whose list it obeys.
    begun(url).close()
    assert lines(newest) == []
    assert MARKS.noted(kept.mark) == replace(kept, address="192.0.2.1:5432")


def test_a_guard_that_was_killed_is_started_anew(
    engine: PostgresEngine, newest: Server, database: str, capfd: pytest.CaptureFixture[str]
) -> None:
    first = engine._hold._guarded._guard
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    wait_until(lambda: first.is_gone, "the guard ends")
    engine._hold.ensure()
    second = engine._hold._guarded._guard
    assert second is not None
    assert "was ended by somebody; a new one took over" in capfd.readouterr().err
    newest.ask("select 1")
    with newest.admin(database) as admin:
        admin.execute("drop table redolab.parameter_journal")
    engine._control.close()
    second.close()
    assert lines(newest) == []
    assert newest.ask("select count(*) from pg_namespace where nspname = 'redolab'", database) == 0


def test_a_guard_waits_for_a_server_that_is_not_there(
    own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with made(own_server, "app") as url:
        engine = begun(url)
        own_server.stop(signal.SIGQUIT)
        engine._control.close()
        guard = engine._hold._guarded._guard
        assert guard is not None
        ended = threading.Thread(target=guard.close)
        ended.start()
        own_server.start()
        ended.join(60)
        assert not ended.is_alive()
        assert lines(own_server) == []
        with suppress(RefusedError):
            engine.close()
        own_server.assert_left_clean("app")


def test_a_server_that_became_a_standby_is_put_back_as_far_as_it_takes_it(
    own_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with made(own_server, "app") as url:
        engine = begun(url)
        own_server.stop(signal.SIGINT)
        (own_server.data / "standby.signal").touch()
        own_server.start()
        with pytest.raises(RefusedError, match=r"read-only standby.*Point --engine at the primary\.$"):
            engine._hold.ensure()
        with pytest.raises(RefusedError, match=r"Every parameter is put back\. The schema redolab is still"):
            engine.close()
        assert lines(own_server) == []
        own_server.stop(signal.SIGINT)
        (own_server.data / "standby.signal").unlink()
        own_server.start()
        wait_until(lambda: own_server.redolab_sessions() == 0, "the guard ends")
        again = begun(url)
        again.close()
        own_server.assert_left_clean("app")


def test_a_view_in_the_schema_ends_the_run(engine: PostgresEngine, newest: Server, database: str) -> None:
    engine._hold.ensure()
    with newest.admin(database) as admin:
        admin.execute("create view redolab.beside as select 1 as it")
    with pytest.raises(RefusedError, match="Somebody else put relations next to Redolab's tables"):
        engine._hold.ensure()
    engine.close()
    newest.assert_left_clean(database)
