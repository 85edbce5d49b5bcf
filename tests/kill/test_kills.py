"""SIGINT, SIGTERM and SIGKILL at random moments: no orphan, no lost sample, a clean next start."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab.engine.postgres.private import EmbeddedServer
from tests.conftest import Redolab
from tests.kill.machine import Running, assert_nothing_left, at_work, left_in, pause, short_place
from tests.servers import Server, made

# Three samples in each of two blocks, with 0.2 s of load and of warm-up each.
SHORT = ("--blocks", "2", "--seconds", "0.2", "--sessions", "3", "--settings", "wait/immediate,nowait/batch")
SAMPLES = 6

# Random moments of each kind of kill, per kind of moment; `make long` asks for more.
ROUNDS = int(os.environ.get("REDOLAB_KILLS", "1"))

_draw = random.Random(20261121)


def moments() -> list[tuple[str, int, float]]:
    """In each round one while the server is made and started, three between samples, one after the last."""
    drawn = []
    for _ in range(ROUNDS):
        drawn.append(("about", 0, _draw.uniform(0, 1.5)))
        drawn += [("measuring", _draw.randrange(SAMPLES), _draw.uniform(0, 0.6)) for _ in range(3)]
        drawn.append(("measuring", SAMPLES, _draw.uniform(0, 1.5)))
    return drawn


@pytest.fixture
def place() -> Iterator[Path]:
    with short_place() as it:
        yield it


def run_to(place: Path, moment: tuple[str, int, float]) -> Running:
    words, samples, seconds = moment
    running = Running(place, *SHORT)
    running.await_words(words)
    running.await_samples(samples)
    pause(seconds)
    return running


def assert_next_start_is_clean(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    EmbeddedServer(1).stop()
    assert_nothing_left(place)


@pytest.mark.parametrize("moment", moments())
def test_ctrl_c(moment: tuple[str, int, float], place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = run_to(place, moment)
    announced = running.strike(signal.SIGINT)
    code = running.end()
    stored = running.stored()
    assert stored >= announced
    assert running.out.exists() == (stored > 0)
    reported = (running.out / "report.html").exists()
    if announced < SAMPLES:
        assert reported == (stored > 0)
    # After the last sample the run may have been over already, or the report may be broken off.
    assert code == 130 or (code == 0 and announced == SAMPLES and reported), running.said
    assert any(word in running.said[-1] for word in ("nterrupted", "broken off")) == (code == 130)
    assert_nothing_left(place)
    assert_next_start_is_clean(place, monkeypatch)


@pytest.mark.parametrize("moment", moments())
def test_sigkill(moment: tuple[str, int, float], place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = run_to(place, moment)
    announced = running.strike(signal.SIGKILL)
    assert running.end() in ((-signal.SIGKILL, 0) if announced == SAMPLES else (-signal.SIGKILL,))
    assert running.stored() >= announced
    assert_nothing_left(place)
    assert_next_start_is_clean(place, monkeypatch)


def test_sigterm_is_as_good_as_ctrl_c(place: Path, redolab: Redolab) -> None:
    running = run_to(place, ("measuring", 3, 0.1))
    announced = running.strike(signal.SIGTERM)
    assert running.end() == 130
    assert running.stored() >= announced
    assert_nothing_left(place)
    assert redolab("report", running.out).code == 0
    assert redolab("verify", running.out).code == 0


def test_a_second_ctrl_c_does_not_stop_the_clearing_up(place: Path) -> None:
    running = run_to(place, ("measuring", 2, 0.1))
    for _ in range(20):
        running.strike(signal.SIGINT)
        pause(0.02)
    assert running.end() == 130
    assert running.stored() >= 2
    assert_nothing_left(place)


def test_redolab_and_its_guard_are_killed_together(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = run_to(place, ("measuring", 2, 0.1))
    (guard,) = running.guards()
    running.process.kill()
    os.kill(guard, signal.SIGKILL)
    running.end()
    assert running.stored() >= 2
    assert left_in(place), "somebody cleaned up, and this test tests nothing"
    assert at_work(place)
    assert_next_start_is_clean(place, monkeypatch)


def on_their_server(place: Path, url: str) -> Running:
    running = Running(place, "--engine", url, "--yes", "--scope", "system", *SHORT)
    running.await_samples(3)  # each setting once
    return running


def test_a_killed_run_leaves_somebodys_server_as_it_was(server: Server, database: str, place: Path) -> None:
    settings, altered = server.settings(), server.altered()
    with made(server, database) as url:
        running = on_their_server(place, url)
        assert server.altered() != altered
        running.strike(signal.SIGKILL)
        assert running.end() == -signal.SIGKILL
        assert_nothing_left(place)
        server.assert_left_clean(database)
    assert (server.settings(), server.altered()) == (settings, altered)


# The same for sessions that are clients of Redolab's own process: they end with it.
CLIENTS = ("--blocks", "2", "--seconds", "0.3", "--sessions", "2,6")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("seconds", [0.05, 0.4, 0.8] if ROUNDS > 1 else [0.4])
def test_a_client_load_that_is_struck_leaves_nothing(
    how: signal.Signals, seconds: float, newest: Server, url: str, database: str, place: Path
) -> None:
    running = Running(place, "--engine", url, "--yes", *CLIENTS, experiment="session-count")
    running.await_samples(2)
    pause(seconds)
    announced = running.strike(how)
    assert announced < SAMPLES, "it was over, and this test tests nothing"
    assert running.end() == (-signal.SIGKILL if how == signal.SIGKILL else 130)
    assert running.stored() >= announced
    assert_nothing_left(place)
    newest.assert_left_clean(database)


def test_without_a_guard_the_next_run_puts_their_server_back(
    newest: Server, url: str, database: str, place: Path, redolab: Redolab
) -> None:
    settings, altered = newest.settings(), newest.altered()
    running = on_their_server(place, url)
    (guard,) = running.guards()
    running.process.kill()
    os.kill(guard, signal.SIGKILL)
    running.end()
    assert newest.altered() != altered
    done = redolab("run", "commit-mode", "--engine", url, "--yes", "--quick", *SHORT,
                   "--out", place / "next")  # fmt: skip
    assert done.code == 0, done.err
    newest.assert_left_clean(database)
    assert (newest.settings(), newest.altered()) == (settings, altered)


def test_ctrl_c_leaves_somebodys_server_as_it_was(
    newest: Server, url: str, database: str, place: Path
) -> None:
    settings, altered = newest.settings(), newest.altered()
    running = on_their_server(place, url)
    running.strike(signal.SIGINT)
    assert running.end() == 130
    newest.assert_left_clean(database)
    assert (newest.settings(), newest.altered()) == (settings, altered)
