"""Whatever others do to the database `redolab` during a run, the parameters are put back or named."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from redolab.console import say
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import ask
from redolab.engine.mariadb.engine import MariaDBEngine
from redolab.engine.mariadb.own import guard_database
from redolab.engine.mariadb.own.schema import MARKS
from redolab.engine.mariadb.preflight.claim import check_unclaimed
from redolab.engine.private.guard import Guard
from redolab.engine.private.marks import Marks
from redolab.engine.server.guard_database import PATIENCE_S
from redolab.engine.server.kept import Kept
from redolab.errors import RefusedError
from redolab.experiment.forecast_load import check_load
from tests.engine.mariadb.held.holding import (
    BINLOG,
    REDO,
    account,
    apply,
    begin,
    databases,
    end,
    grants_of,
    guard_of,
    held_elsewhere,
    hold_of,
    is_alive,
    settings,
)
from tests.mariadb import MariaDB
from tests.servers import wait_until

TIDY = {
    "database dropped": ("drop database redolab",),
    "journal dropped": ("drop table redolab.parameter_journal",),
    "lists dropped": ("drop table redolab.parameter_journal, redolab.teardown, redolab.session",),
    "journal emptied": ("delete from redolab.parameter_journal",),
    "journal edited": (
        f"update redolab.parameter_journal set value_before = '2' where parameter = '{REDO}'",
    ),
    "comment changed": ("alter table redolab.parameter_journal comment = 'mine'",),
    "a view beside": ("create view redolab.beside as select 1 as it",),
    "a view in its place": (
        "drop table redolab.parameter_journal",
        "create view redolab.parameter_journal as select 'innodb_flush_log_at_timeout' as parameter, "
        "'9' as value_before, '' as values_set, '' as seal",
    ),
    "a trigger": (
        "create trigger redolab.t before insert on redolab.parameter_journal for each row set @a = 1",
    ),
}


@pytest.mark.parametrize("what", TIDY)
def test_the_parameters_are_put_back_from_memory(what: str, server: MariaDB, url: str) -> None:
    before = settings(server)
    hold = hold_of(url)
    parameters = begin(hold)
    assert settings(server) != before
    for statement in TIDY[what]:
        server.ask(statement)
    with suppress(RefusedError):
        end(hold)
    assert settings(server) == before
    assert [(it.parameter, it.after) for it in parameters.changes if it.setting == "restore"] == [
        (REDO, str(before["redo"])),
        (BINLOG, str(before["binlog"])),
    ]
    assert "redolab" not in databases(server), "it is provably ours by what is left of it"


def test_a_database_that_is_nothing_of_ours_any_more_is_named_and_left(server: MariaDB, url: str) -> None:
    before = settings(server)
    hold = hold_of(url)
    begin(hold)
    server.ask("drop database redolab")
    server.ask("create database redolab")
    server.ask("create table redolab.theirs (a int)")
    try:
        with pytest.raises(RefusedError, match=r"is still there: Redolab did not make it.*DROP DATABASE"):
            end(hold)
        assert settings(server) == before
        assert server.ask("select count(*) as n from redolab.theirs") == [{"n": 0}]
    finally:
        server.ask("drop database redolab")


@contextmanager
def set_by_a_colleague(server: MariaDB, name: str, value: int) -> Iterator[None]:
    """Somebody else's value, which stays until they take it back."""
    server.ask(f"set global {name} = {value}")
    try:
        yield
        assert server.ask(f"select @@global.{name} as it") == [{"it": value}]
    finally:
        server.ask(f"set global {name} = 1")


def test_a_colleagues_value_ends_the_run_and_is_left_and_named(server: MariaDB, url: str) -> None:
    before = settings(server)
    hold = hold_of(url)
    parameters = begin(hold, {REDO: "0", BINLOG: "0"})
    with set_by_a_colleague(server, BINLOG, 77):
        with pytest.raises(RefusedError, match=f"Somebody else changed {BINLOG} .*it was 0.*is 77"):
            hold.ensure()
        with pytest.raises(RefusedError, match=f"Somebody else set {BINLOG} to 77") as told:
            end(hold)
        assert settings(server) == {"redo": before["redo"], "binlog": 77}
        assert [it.parameter for it in parameters.changes if it.setting == "restore"] == [REDO]
        assert f"SET GLOBAL {BINLOG} = {before['binlog']};" in str(told.value)
    assert "redolab" not in databases(server)


def test_a_colleague_before_the_first_change_is_not_overruled(server: MariaDB, url: str) -> None:
    hold = hold_of(url)
    hold.check_rights((REDO, BINLOG))
    hold.make_schema()
    hold.change((REDO, BINLOG))
    with set_by_a_colleague(server, REDO, 2):
        with pytest.raises(RefusedError, match=f"Somebody else changed {REDO} .*now it is 2"):
            hold.ensure()
        end(hold)


def test_a_colleague_while_a_change_is_noted_is_not_overruled(
    server: MariaDB, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = MariaDBEngine(Connector.to_url(url), None, 1)
    levels = {"commit_wait": "nowait", "commit_logging": "immediate"}
    (setting,) = engine.prepare(check_load(1, "server", "system"), [levels])
    note = Marks.note

    def noted_while_somebody_works(self: Marks, kept: Kept) -> None:
        server.ask(f"set global {REDO} = 0")
        note(self, kept)

    monkeypatch.setattr(Marks, "note", noted_while_somebody_works)
    with set_by_a_colleague(server, REDO, 0):
        with pytest.raises(RefusedError, match=f"Somebody else changed {REDO} .*it was 1, and now it is 0"):
            engine.apply(setting)
        monkeypatch.undo()
        engine.close()


def test_a_colleague_who_sets_what_the_run_had_set_before_is_one(server: MariaDB, url: str) -> None:
    hold = hold_of(url)
    begin(hold, {REDO: "2"})
    apply(hold, {REDO: "0"})
    apply(hold, {REDO: "1"})
    with (
        set_by_a_colleague(server, REDO, 2),
        pytest.raises(RefusedError, match=f"Somebody else set {REDO} to 2"),
    ):
        end(hold)


def test_one_that_a_colleague_put_back_already_is_done(server: MariaDB, url: str) -> None:
    before = settings(server)
    hold = hold_of(url)
    parameters = begin(hold)
    server.ask(f"set global {REDO} = {before['redo']}")
    end(hold)
    assert settings(server) == before
    assert [it.parameter for it in parameters.changes if it.setting == "restore"] == [BINLOG]


def test_rights_that_were_taken_away_are_named_with_what_to_run(server: MariaDB) -> None:
    before = settings(server)
    with account(server, "bench", *grants_of(server)) as url:
        hold = hold_of(url)
        parameters = begin(hold)
        powers = "SUPER, BINLOG ADMIN" if server.flavour == "mariadb" else "SYSTEM_VARIABLES_ADMIN"
        server.ask(f"revoke {powers} on *.* from bench")
        with pytest.raises(RefusedError, match="Redolab could not put back") as told:
            end(hold)
        text = str(told.value)
        assert "redolab.parameter_journal" in text
        assert not [it for it in parameters.changes if it.setting == "restore"]
        for name, key in ((REDO, "redo"), (BINLOG, "binlog")):
            statement = f"SET GLOBAL {name} = {before[key]};"
            assert statement in text
            server.ask(statement)
        assert settings(server) == before
        # The list stands for the next run, which finds everything done.
        server.ask(f"grant {powers} on *.* to bench")
        again = hold_of(url)
        begin(again)
        end(again)
        assert settings(server) == before
        assert "redolab" not in databases(server)


def test_a_killed_run_whose_journal_was_dropped_is_put_back_by_its_guard(server: MariaDB, url: str) -> None:
    before = settings(server)
    with held_elsewhere(url) as process:
        guard = guard_of(process)
        server.ask("drop table redolab.parameter_journal")
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not is_alive(guard), "the guard ends")
    assert settings(server) == before
    assert "redolab" not in databases(server)


@pytest.mark.parametrize("what", TIDY)
def test_where_both_die_the_next_run_puts_back_what_this_machine_noted(
    what: str, server: MariaDB, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = settings(server)
    kill_both(url, server, TIDY[what])
    assert settings(server) != before
    again = hold_of(url)
    assert check_unclaimed(again.connection)
    again.make_schema()
    assert settings(server) == before
    told = capfd.readouterr().err
    assert f"are put back: {REDO} = {before['redo']}, {BINLOG} = {before['binlog']}." in told
    end(again)
    assert "redolab" not in databases(server)
    assert MARKS.kept() == {}


@pytest.mark.parametrize("noted", [True, False], ids=["noted here", "noted in the database alone"])
def test_a_restart_with_another_configuration_is_not_overruled(
    noted: bool, own: MariaDB, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A value that the run had given too is the configuration's after a restart."""
    with account(own, "bench", *grants_of(own)) as url:
        kill_both(url, own)
        if not noted:
            next(data.glob("*.kept")).unlink()
        own.stop()
        time.sleep(3)  # When a server was started is known in whole seconds.
        own._options += (f"--{REDO.replace('_', '-')}=0",)
        own.start()
        again = hold_of(url)
        again.make_schema()
        told = (
            f"The server was restarted, and its configuration sets {REDO} to 0. Redolab leaves that value as "
            "it is."
        )
        assert told in capfd.readouterr().err
        end(again)
        assert settings(own)["redo"] == 0
        assert "redolab" not in databases(own)


def kill_both(url: str, server: MariaDB, statements: Sequence[str] = ()) -> None:
    """Kill a run and its guard in the middle, after somebody did something to its database."""
    with held_elsewhere(url) as process:
        guard = guard_of(process)
        for statement in statements:
            server.ask(statement)
        os.kill(guard, signal.SIGKILL)
        process.kill()
        process.wait()
        wait_until(lambda: not is_alive(guard), "the guard ends")


def test_a_guard_that_was_killed_is_started_anew(
    server: MariaDB, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = settings(server)
    hold = hold_of(url)
    begin(hold)
    first = hold._guarded._guard
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    wait_until(lambda: first.is_gone, "the guard ends")
    hold.ensure()
    second = hold._guarded._guard
    assert second is not None
    assert second is not first
    assert f"process {first.pid}, was ended by somebody; a new one took over" in capfd.readouterr().err
    server.ask("drop table redolab.parameter_journal")
    # It knows what its predecessor knew, and puts it back when the run is gone.
    hold.close_connection()
    second.close()
    assert settings(server) == before
    assert "redolab" not in databases(server)


def test_a_guard_knows_what_was_changed_from_its_first_moment_on(server: MariaDB, url: str) -> None:
    before = settings(server)
    hold = hold_of(url)
    begin(hold)
    first = hold._guarded._guard
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    first.close()
    second = Guard.for_database(guard_database.__name__, hold._connector.parameters, hold._guarded.kept, say)
    hold.close_connection()
    second.close()
    assert settings(server) == before
    assert "redolab" not in databases(server)


def test_a_guard_that_was_stopped_is_not_waited_for_without_end(
    server: MariaDB, url: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = settings(server)
    hold = hold_of(url)
    begin(hold)
    guard = hold._guarded._guard
    assert guard is not None
    os.kill(guard.pid, signal.SIGSTOP)
    monkeypatch.setattr(guard, "_limit_s", 0.5)
    hold.guard_pids(hold=True)
    hold.ensure()
    told = capfd.readouterr().err
    assert f"process {guard.pid}, gives no answer; waiting for it ..." in told
    assert f"process {guard.pid}, gave no answer and was ended; a new one" in told
    end(hold)
    assert settings(server) == before


def test_a_guard_killed_at_the_very_end_is_named(
    server: MariaDB, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    hold = hold_of(url)
    begin(hold)
    guard = hold._guarded._guard
    assert guard is not None
    os.kill(guard.pid, signal.SIGKILL)
    wait_until(lambda: guard.is_gone, "the guard ends")
    end(hold)
    assert f"process {guard.pid}, was ended by somebody" in capfd.readouterr().err


def test_a_guard_waits_for_a_server_that_is_not_there(own: MariaDB, data: Path) -> None:
    assert PATIENCE_S >= 60, "as long as a run waits at least"
    before = settings(own)
    with (
        account(own, "bench", *grants_of(own)) as url,
        held_elsewhere(url, stderr=subprocess.PIPE) as process,
    ):
        guard = guard_of(process)
        # What it says meanwhile nobody reads: its terminal is closed.
        assert process.stderr is not None
        process.stderr.close()
        own.stop()
        process.send_signal(signal.SIGKILL)
        process.wait()
        own.start()
        wait_until(lambda: not is_alive(guard), "the guard ends")
        assert settings(own) == before
        assert "redolab" not in databases(own)
    assert list(data.iterdir()) == []


def test_a_view_in_the_place_of_a_table_ends_the_run(server: MariaDB, url: str) -> None:
    hold = hold_of(url)
    begin(hold)
    hold.ensure()
    server.ask("create table redolab.account (id int)")
    hold.ensure()
    server.ask("drop table redolab.account")
    server.ask("create view redolab.account as select 1 as id")
    with pytest.raises(RefusedError, match="Somebody else put views next to Redolab's tables"):
        hold.ensure()
    end(hold)
    assert MARKS.kept() == {}


def test_a_look_between_samples_is_one_statement(server: MariaDB, url: str) -> None:
    hold = hold_of(url)
    begin(hold)

    def asked() -> int:
        return int(ask(hold.connection, "show session status like 'Questions'")[0]["Value"])

    begun = asked()
    hold.ensure()
    assert asked() - begun == 2, "its own, and the question how many"
    apply(hold, {REDO: "2"})
    end(hold)
