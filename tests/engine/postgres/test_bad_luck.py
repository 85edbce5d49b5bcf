"""What others do to the server during a run: spoiled samples, a run that goes on, nothing lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from redolab import Run, open_run
from redolab.engine.postgres.connecting.connection import Connection, Connector, fetch
from redolab.engine.postgres.engine import PostgresEngine
from redolab.engine.postgres.sessions.server import Sessions
from redolab.engine.server import hold
from redolab.records.sample import Work
from tests.conftest import Redolab
from tests.servers import PASSWORD, Ended, Server, made, wait_until

MISHAP_AT = 4  # counted in loads; each sample has a warm-up before it

RESET = "the server restarted or its counters were reset"

Mishap = Callable[[], None]
Start = Callable[[str, Mishap], Ended]


@pytest.fixture
def start(redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Runs commit-mode; the mishap happens while the sessions of one sample loop."""
    plain = Sessions.run
    loads = 0

    def run(url: str, mishap: Mishap) -> Ended:
        def loaded(self: Sessions, *arguments: Any) -> Work:
            nonlocal loads
            loads += 1
            if loads != 2 * MISHAP_AT:
                return plain(self, *arguments)
            trouble = threading.Thread(target=_once_looping, args=(self, mishap))
            trouble.start()
            try:
                return plain(self, *arguments)
            finally:
                trouble.join()

        monkeypatch.setattr(Sessions, "run", loaded)
        return redolab(
            "run", "commit-mode", "--engine", url, "--yes", "--quick", "--blocks", "2",
            "--seconds", "0.25", "--sessions", "2", "--settings", "wait/immediate,nowait/batch",
            "--out", tmp_path / "run",
        )  # fmt: skip

    return run


def _once_looping(sessions: Sessions, mishap: Mishap) -> None:
    while not any(future.running() for future in sessions._working):
        pass
    mishap()


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[], Run]:
    return lambda: open_run(tmp_path / "run")


def assert_one_is_spoiled(run: Run, reason: str) -> None:
    """The run went on to its end, and says of one sample why it does not count."""
    assert run.manifest["status"] == "finished"
    samples = run.samples.to_pylist()
    assert len(samples) == 6
    for sample in samples:
        if sample["sample"] == MISHAP_AT:
            assert reason in sample["spoiled"]
        else:
            assert sample["spoiled"] is None
            assert sample["commits"] > 0
    assert (run.path / "report.html").exists()


@pytest.fixture
def clean(newest: Server, url: str, database: str) -> Iterator[None]:
    settings, altered = newest.settings(), newest.altered()
    yield
    newest.assert_left_clean(database)
    assert (newest.settings(), newest.altered()) == (settings, altered)


def terminate(server: Server, name: str) -> None:
    ended = server.ask(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity "
        f"where application_name = 'redolab {name}'"
    )
    assert ended == 1


def test_a_session_is_terminated(
    start: Start, newest: Server, url: str, kept: Callable[[], Run], clean: None
) -> None:
    done = start(url, lambda: terminate(newest, "session 1"))
    assert done.code == 0, done.err
    assert_one_is_spoiled(kept(), "session 1 died: terminating connection due to administrator command")


@pytest.mark.parametrize("name", ["control", "sampler"])
def test_a_helping_connection_is_terminated(
    name: str, start: Start, newest: Server, url: str, kept: Callable[[], Run], clean: None
) -> None:
    """No sample is spoiled: the sessions worked, and the counters went on."""
    done = start(url, lambda: terminate(newest, name))
    assert done.code == 0, done.err
    assert [s["spoiled"] for s in kept().samples.to_pylist()] == [None] * 6


def test_a_session_is_terminated_between_two_samples(
    start: Start, newest: Server, url: str, kept: Callable[[], Run], clean: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    settle = PostgresEngine.settle
    times = 0

    def terminated_before(self: PostgresEngine) -> None:
        nonlocal times
        times += 1
        if times == 3:
            terminate(newest, "session 1")
        settle(self)

    monkeypatch.setattr(PostgresEngine, "settle", terminated_before)
    done = start(url, lambda: None)
    assert done.code == 0, done.err
    assert [s["spoiled"] for s in kept().samples.to_pylist()] == [None] * 6


def test_what_is_asked_by_a_lost_connection_says_so(newest: Server, url: str) -> None:
    with Connector(url + f"?password={PASSWORD}").connect("a test") as control:
        newest.ask(f"select pg_terminate_backend({control.info.backend_pid})")
        with pytest.raises(psycopg.OperationalError):
            control.execute("select 1")
        with pytest.raises(psycopg.OperationalError, match="the connection is lost"):
            fetch(control, "select_server")


def test_counters_are_reset(
    start: Start, newest: Server, url: str, kept: Callable[[], Run], clean: None
) -> None:
    done = start(url, lambda: newest.ask("select pg_stat_reset_shared('wal')"))
    assert done.code == 0, done.err
    assert_one_is_spoiled(kept(), RESET)


def test_a_reset_of_any_counters_is_noticed(server: Server, database: str) -> None:
    resets = ["_shared('bgwriter')", "_shared('wal')", "()"]
    if server.major >= 17:
        resets[0] = "_shared('checkpointer')"
    if server.major >= 18:
        resets += ["_shared('io')"]
    with made(server, database), server.admin(database) as admin:
        for reset in resets:
            before = fetch(admin, "select_counters")[0]["epoch"]
            admin.execute(f"select pg_stat_reset{reset}".encode())
            # Before 15 the collector process is told, and does it later.
            wait_until(partial(is_other, admin, before), reset)


def is_other(admin: Connection, epoch: str) -> bool:
    return bool(fetch(admin, "select_counters")[0]["epoch"] != epoch)


def test_the_server_is_restarted(
    newest: Server, url: str, start: Start, kept: Callable[[], Run], clean: None
) -> None:
    def restart() -> None:
        newest.stop(signal.SIGQUIT)
        newest.start()

    done = start(url, restart)
    assert done.code == 0, done.err
    assert_one_is_spoiled(kept(), RESET)
    (told,) = (text for text in kept().manifest["conditions"] if "the server was restarted" in text)
    assert f"redolab: {told}" in done.err
    assert (
        "redolab: Every parameter that was changed is put back, and the schema redolab is dropped."
        in done.err
    )


def test_the_server_is_gone_for_good(
    newest: Server, url: str, database: str, start: Start, kept: Callable[[], Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    settings, altered = newest.settings(), newest.altered()
    monkeypatch.setattr(hold, "_RESTART_LIMIT_S", 0.5)
    try:
        done = start(url, lambda: newest.stop(signal.SIGQUIT))
    finally:
        newest.start()
    assert done.code == 3
    assert "Is the server running" in done.complaint
    assert "is not put back yet" in done.complaint
    assert "ALTER SYSTEM RESET" in done.complaint, "what to do by hand"
    run = kept()
    assert run.manifest["status"] == "failed"
    # The sample in which it went is lost: nothing could be read after it.
    assert [s["spoiled"] for s in run.samples.to_pylist()] == [None] * (MISHAP_AT - 1)
    assert (run.path / "report.html").exists()
    # The guard waits for the server, and puts everything back.
    schemas = "select count(*) from pg_namespace where nspname = 'redolab'"
    wait_until(lambda: newest.ask(schemas, database) == 0, "the guard cleans up")
    newest.assert_left_clean(database)
    assert (newest.settings(), newest.altered()) == (settings, altered)
