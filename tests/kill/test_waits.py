"""What a run waits for on somebody's server: it is told, it ends, and Ctrl-C ends it at any moment."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from redolab.engine.loops import in_server
from redolab.engine.postgres import engine
from redolab.engine.postgres.connecting import patience
from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.sessions import server as sessions
from redolab.errors import InterruptedRunError, RefusedError
from tests.conftest import Redolab
from tests.kill.machine import Running, short_place
from tests.servers import Server, made, wait_until

SHORT = ("--blocks", "2", "--seconds", "0.3", "--sessions", "2", "--settings", "wait,nowait")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with short_place() as it:
        yield it


def require_standby(server: Server, name: str) -> None:
    with server.admin() as admin:
        admin.execute(f"alter system set synchronous_standby_names = '{name}'".encode())
        admin.execute("select pg_reload_conf()")
    wait_until(lambda: server.ask("select current_setting('synchronous_standby_names')") == name, "a reload")


@pytest.fixture
def alone(own_server: Server) -> Iterator[tuple[Server, str]]:
    """A server whose synchronous standby is not there, and the URL of a database of its."""
    with made(own_server, "orders") as url:
        yield own_server, url
        require_standby(own_server, "")


def test_a_standby_that_goes_away_is_named_and_given_up(
    alone: tuple[Server, str], redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, url = alone
    require_standby(server, "nobody")
    # As if it had been there when it was looked for.
    monkeypatch.setattr(engine, "check_standbys", lambda _: None)
    monkeypatch.setattr(patience, "WAIT_LIMIT_S", 2.0)
    done = redolab("run", "commit-mode", "--engine", url, "--yes", "--quick", *SHORT,
                   "--out", tmp_path / "run")  # fmt: skip
    assert done.code == 3, done.err
    assert "Waiting for a synchronous standby that does not confirm" in done.err
    assert "Redolab waited 2 s for a synchronous standby" in done.complaint
    server.assert_left_clean("orders")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_wait_for_a_standby(
    how: signal.Signals, alone: tuple[Server, str], place: Path
) -> None:
    server, url = alone
    running = Running(place, "--engine", url, "--yes", *SHORT)
    running.await_samples(1)
    require_standby(server, "nobody")
    wait_until(
        lambda: server.ask("select count(*) from pg_stat_activity where wait_event = 'SyncRep'") > 0,
        "a commit waits for the standby",
    )
    running.strike(how)
    assert running.end() == 130, running.said
    server.assert_left_clean("orders")


@contextmanager
def in_the_way(
    server: Server, url: str, database: str, place: Path
) -> Iterator[tuple[Running, psycopg.Connection[dict[str, Any]]]]:
    """A run that waits for the lock of another session, until the block is left."""
    running = Running(place, "--engine", url, "--yes", *SHORT)
    running.await_samples(1)
    with server.admin(database) as other:
        other.execute("begin")
        other.execute("select count(*) from redolab.probe")
        running.await_words("Waiting for a lock held by")
        yield running, other


def test_a_lock_of_somebody_else_is_named_and_ctrl_c_leaves_it_to_the_guard(
    newest: Server, url: str, database: str, place: Path
) -> None:
    with in_the_way(newest, url, database, place) as (running, other):
        assert f"process {other.info.backend_pid} (postgres, " in next(
            line for line in running.said if "Waiting for a lock" in line
        )
        running.strike(signal.SIGINT)
        assert running.process.wait(timeout=60) == 3
        # Everything but the schema is put back, and the guard waits on.
        assert newest.ask("select count(*) from pg_namespace where nspname = 'redolab'", database) == 1
    assert running.end() == 3
    assert any("Every parameter is put back" in line for line in running.said), running.said
    assert any("guard (the process that cleans up) tries once more" in line for line in running.said)
    assert "guard of the run has put everything back" in running.said[-1]
    newest.assert_left_clean(database)


def test_a_lock_that_is_let_go_delays_the_end_alone(
    newest: Server, url: str, database: str, place: Path
) -> None:
    with in_the_way(newest, url, database, place) as (running, _):
        pass
    assert running.end() == 0, running.said
    newest.assert_left_clean(database)


@pytest.fixture
def waiting(newest: Server, url: str, database: str) -> Callable[[patience.Patience], float]:
    """Runs a statement that waits for a lock under a patience; gives the seconds that it took."""
    connector = Connector(newest.conninfo("postgres", database))

    def wait(limits: patience.Patience) -> float:
        with newest.admin(database) as holder, connector.connect("redolab test") as control:
            holder.execute("select pg_advisory_lock(7)")
            control.patience = limits
            began = time.monotonic()
            try:
                control.execute("select pg_advisory_lock(7)")
            finally:
                assert not control.closed
                assert control.execute("select 1 as one").fetchone() == {"one": 1} or limits.stop.is_set()
            return time.monotonic() - began

    return wait


def test_a_wait_ends_at_its_limit(
    waiting: Callable[[patience.Patience], float], newest: Server, database: str
) -> None:
    limits = patience.Patience(Connector(newest.conninfo("postgres", database)), limit_s=1.5)
    with pytest.raises(RefusedError, match=r"waited 2 s for a lock held by process \d+"):
        waiting(limits)


def test_a_wait_ends_when_the_run_is_to_stop(
    waiting: Callable[[patience.Patience], float], newest: Server, database: str
) -> None:
    limits = patience.Patience(Connector(newest.conninfo("postgres", database)))
    threading.Timer(0.3, limits.stop.set).start()
    with pytest.raises(InterruptedRunError):
        waiting(limits)


def test_a_session_that_does_not_answer_is_given_up(
    newest: Server, url: str, database: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever holds a server process up: a stopped one answers neither a cancel nor a termination."""
    monkeypatch.setattr(patience, "WAIT_LIMIT_S", 2.0)
    monkeypatch.setattr(patience, "_CANCEL_LIMIT_S", 1.0)
    monkeypatch.setattr(sessions, "_ANSWER_LIMIT_S", 2.0)
    for module in (in_server, sessions):
        monkeypatch.setattr(module, "GRACE_S", 1.0)
    monkeypatch.setattr(sessions, "_CANCEL_S", 0.5)
    held: list[int] = []

    def hold() -> None:
        wait_until(lambda: held_up(newest, held), "a session is there")

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        done = redolab("run", "commit-mode", "--engine", url, "--yes", "--quick", *SHORT,
                       "--out", tmp_path / "run")  # fmt: skip
    finally:
        holder.join()
        for pid in held:
            os.kill(pid, signal.SIGCONT)
    assert held
    # 3 where the stopped process holds a lock on what is to be dropped; its guard drops it then.
    assert done.code in (0, 3), done.err
    newest.assert_left_clean(database)


def held_up(server: Server, held: list[int]) -> bool:
    """Stop the server process of a working session."""
    pid = server.ask("select pid from pg_stat_activity where application_name = 'redolab session 1'")
    if pid is not None:
        os.kill(pid, signal.SIGSTOP)
        held.append(pid)
    return pid is not None
