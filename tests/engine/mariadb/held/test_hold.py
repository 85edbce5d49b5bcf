"""A server is held by one run, and is as it was when it is let go, however that comes."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.engine import MariaDBEngine
from redolab.engine.mariadb.own.recovery import recover
from redolab.engine.mariadb.parameters import set_global
from redolab.engine.private.marks import Marks
from redolab.errors import EngineError, InterruptedRunError, RefusedError
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
from tests.mariadb import PASSWORD, MariaDB, run
from tests.servers import wait_until


def test_everything_is_put_back_and_recorded(server: MariaDB, url: str, data: Path) -> None:
    hold = hold_of(url)
    parameters = begin(hold)
    assert settings(server) == {"redo": 0, "binlog": 0}
    assert {row["parameter"] for row in server.ask("select parameter from redolab.parameter_journal")} == {
        REDO,
        BINLOG,
    }
    assert len(list(data.glob("*.kept"))) == 1
    end(hold)
    assert [(it.parameter, it.before, it.after, it.setting) for it in parameters.changes] == [
        (REDO, "1", "0", "weak"),
        (BINLOG, "1", "0", "weak"),
        (REDO, "0", "1", "restore"),
        (BINLOG, "0", "1", "restore"),
    ]
    assert list(data.iterdir()) == []


def test_a_value_is_noted_before_it_is_changed(server: MariaDB, url: str) -> None:
    seen = []

    def look_first(connection: object, name: str, value: str) -> None:
        rows = server.ask(f"select value_before from redolab.parameter_journal where parameter = '{name}'")
        seen.append((name, rows[0]["value_before"]))
        set_global(connection, name, value)  # type: ignore[arg-type]

    before = server.ask(f"select @@global.{REDO} as it")[0]["it"]
    hold = hold_of(url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("redolab.engine.mariadb.parameters.set_global", look_first)
        begin(hold)
    end(hold)
    assert seen[0] == (REDO, str(before))


def test_a_second_run_is_refused_and_told_who_is_at_work(server: MariaDB, url: str) -> None:
    with account(server, "other", *grants_of(server)) as others:
        hold = hold_of(url)
        begin(hold)
        with closing(hold_of(others)) as second:
            with pytest.raises(RefusedError, match=r"Another Redolab run .*connection \d+, bench@127.0.0.1"):
                second.introduce((), None)
            with pytest.raises(RefusedError, match=r"Another Redolab run .*bench@127.0.0.1"):
                second.make_schema()
        end(hold)
        third = hold_of(others)
        begin(third)
        end(third)


@pytest.mark.parametrize("working", [(), ("select sleep(600)",)], ids=["idle", "in a long statement"])
def test_a_killed_run_is_put_back_by_its_guard(
    server: MariaDB, url: str, data: Path, working: tuple[str, ...]
) -> None:
    before = settings(server)
    with held_elsewhere(url, *working) as process:
        guard = guard_of(process)
        assert settings(server) == {"redo": 0, "binlog": 0}
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not is_alive(guard), "the guard ends")
    assert settings(server) == before
    assert "redolab" not in databases(server)
    assert list(data.iterdir()) == []
    assert all("sleep" not in str(row["Info"]) for row in server.ask("show processlist"))


def test_where_the_guard_is_killed_too_the_next_run_puts_back_first(
    server: MariaDB, url: str, data: Path
) -> None:
    before = settings(server)
    with held_elsewhere(url) as process:
        os.kill(guard_of(process), signal.SIGKILL)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert settings(server) == {"redo": 0, "binlog": 0}
    assert len(list(data.glob("*.kept"))) == 1
    hold = hold_of(url)
    parameters = begin(hold)
    assert parameters._known[REDO].value == str(before["redo"])
    end(hold)
    assert settings(server) == before


def test_nobody_begins_before_the_guard_has_cleaned_up(server: MariaDB, url: str) -> None:
    before = settings(server)
    with held_elsewhere(url) as process:
        guard = guard_of(process)
        os.kill(guard, signal.SIGSTOP)
        process.send_signal(signal.SIGKILL)
        process.wait()
        try:
            with (
                closing(hold_of(url)) as second,
                pytest.raises(RefusedError, match="its guard is cleaning up"),
            ):
                second.make_schema()
        finally:
            os.kill(guard, signal.SIGCONT)
        wait_until(lambda: not is_alive(guard), "the guard ends")
    assert settings(server) == before


def test_somebody_who_reads_a_table_is_waited_for_and_named(server: MariaDB, url: str) -> None:
    hold = hold_of(url)
    begin(hold)
    with closing(server.connect()) as reader:
        run(reader, "begin")
        run(reader, "select * from redolab.session")
        connector = Connector.to_url(url)
        with closing(connector.connect("a test", lock_wait_s=1)) as control:
            finished = next(recover(control, connector))
            assert re.search(r"Every parameter is put back.*holds a lock on one of its tables", finished.text)
        hurry = threading.Event()
        threading.Timer(0.5, hurry.set).start()
        began = time.monotonic()
        with pytest.raises(InterruptedRunError):
            hold.leave(hurry)
        assert time.monotonic() - began < 20
    end(hold)


def test_a_restart_in_the_middle_is_survived(own: MariaDB, data: Path) -> None:
    before = settings(own)
    with account(own, "bench", *grants_of(own)) as url:
        hold = hold_of(url)
        parameters = begin(hold)
        own.stop()
        own.start()
        assert hold.ensure()
        assert not hold.ensure()
        assert len(hold.meanwhile) == 1
        assert settings(own) == before
        apply(hold, {REDO: "2"})
        assert settings(own)["redo"] == 2
        hold.note_sessions([])
        end(hold)
        assert hold.farewell.endswith("is put back, and the database redolab is dropped.")
        assert settings(own) == before
        assert parameters.changes[-1].after == "1"
        assert "redolab" not in databases(own)
        assert list(data.iterdir()) == []


def test_what_a_restart_changed_is_no_colleagues(own: MariaDB, data: Path) -> None:
    with account(own, "bench", *grants_of(own)) as url:
        hold = hold_of(url)
        begin(hold)
        own.stop()
        time.sleep(3)  # When a server was started is known in whole seconds.
        own._options += (f"--{REDO.replace('_', '-')}=2",)
        own.start()
        with pytest.raises(RefusedError, match=f"The server was restarted and changed {REDO} .*now it is 2"):
            hold.ensure()
        with pytest.raises(
            RefusedError, match=f"The server was restarted, and its configuration sets {REDO} to 2"
        ):
            end(hold)


def test_the_password_is_in_no_text_and_no_process(server: MariaDB, url: str) -> None:
    connector = Connector.to_url(url)
    assert PASSWORD not in f"{connector!r}{connector.target!r}{connector.place}"
    assert connector.parameters["password"] == PASSWORD
    with held_elsewhere(url) as process:
        guard = guard_of(process)
        for name in ("cmdline", "environ"):
            assert PASSWORD.encode() not in Path(f"/proc/{guard}/{name}").read_bytes()
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not is_alive(guard), "the guard ends")
    wrong = url.replace(f":{PASSWORD}@", f":{PASSWORD}-wrong@")
    with pytest.raises(RefusedError, match="Check the user and the password") as refused:
        hold_of(wrong)
    assert PASSWORD not in str(refused.value)


def test_marks_of_different_servers_are_kept_apart(data: Path) -> None:
    assert Marks("databases").keep("0" * 32, "here")
    assert Marks("databases").kept() == {"0" * 32: "here"}
    assert Marks("schemas").kept() == {}


def test_a_connection_lost_before_anybody_is_asked_is_told_in_a_sentence(own: MariaDB) -> None:
    engine = MariaDBEngine(Connector.to_url(own.url), None, 1)
    for row in own.ask("select id from information_schema.processlist where id <> connection_id()"):
        own.ask(f"kill {row['id']}")
    with pytest.raises(EngineError, match="The database ended the run"):
        engine.introduce(check_load(2, "client", "system"), [{"commit_wait": "wait"}], 0, None)
    engine.close()
