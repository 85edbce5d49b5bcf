"""consistent-read killed and interrupted: no server, no file, no transaction is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab.engine.postgres.private import EmbeddedServer
from tests.kill.machine import Running, assert_nothing_left, at_work, left_in, pause, short_place
from tests.servers import Server, made, wait_until

OWN = ("embedded", "mariadb", "sqlite")
SHORT = ("--rows", "36000", "--blocks", "3", "--seconds", "0.1", "--settings", "0,3", "--seed", "1")
# Is at work for a minute after its second sample.
LASTING = (*SHORT, "--blocks", "200")
# Takes minutes to make, unless it is broken off.
LONG = ("--rows", "20000000", "--settings", "0,1")


@pytest.fixture
def place() -> Iterator[Path]:
    with short_place() as it:
        yield it


def started(place: Path, engine: str, *options: str) -> Running:
    return Running(place, "--engine", engine, "--yes", *options, experiment="consistent-read")


@pytest.mark.parametrize("engine", OWN)
def test_sigkill_takes_the_private_database_along(engine: str, place: Path) -> None:
    running = started(place, engine, *SHORT)
    running.await_samples(3)
    announced = running.strike(signal.SIGKILL)
    assert running.end() == -signal.SIGKILL
    assert running.stored() >= announced
    assert_nothing_left(place)


@pytest.mark.parametrize("engine", OWN)
def test_ctrl_c_keeps_what_was_measured(engine: str, place: Path) -> None:
    running = started(place, engine, *SHORT)
    running.await_samples(3)
    announced = running.strike(signal.SIGINT)
    assert running.end() == 130, running.said
    assert running.stored() >= announced
    assert_nothing_left(place)


@pytest.mark.parametrize("engine", OWN)
def test_ctrl_c_breaks_off_the_making_of_a_large_table(engine: str, place: Path) -> None:
    running = started(place, engine, *LONG)
    running.await_words("about")
    pause(2.0)
    running.strike(signal.SIGINT)
    assert running.end() == 130, running.said
    assert not any("measuring" in line for line in running.said)
    assert not running.out.exists()
    assert_nothing_left(place)


@pytest.mark.parametrize("engine", ["mariadb", "sqlite"])
def test_the_next_start_removes_what_a_killed_guard_left(
    engine: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = started(place, engine, *LASTING)
    running.await_samples(2)
    (guard,) = running.guards()
    running.process.kill()
    os.kill(guard, signal.SIGKILL)
    running.end()
    assert left_in(place), "somebody cleaned up, and this test tests nothing"
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    EmbeddedServer(1).stop()
    assert_nothing_left(place)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_somebodys_server_is_left_without_an_open_transaction(
    server: Server, database: str, place: Path, number: signal.Signals
) -> None:
    with made(server, database) as url:
        running = started(place, url, *LONG)
        updating = (
            "select count(*) from pg_stat_activity where application_name like 'redolab %' "
            "and query like 'insert into redolab.scanned%' and state = 'active'"
        )
        wait_until(lambda: server.ask(updating) == 1, "the rows are being made")
        running.strike(number)
        assert running.end() == (130 if number == signal.SIGINT else -signal.SIGKILL)
        server.assert_left_clean(database)
        assert not at_work(place)
