"""Several servers in one run, interrupted and killed: each has a guard of its own, and nothing is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kill.machine import Running, assert_nothing_left, pause, short_place
from tests.servers import Server, made

SHORT = ("--blocks", "3", "--seconds", "0.2", "--sessions", "3", "--settings", "wait/immediate,nowait/batch")
OWN = ("--engine", "embedded", "--engine", "embedded")
MOMENTS = [("about", 0, 0.3), ("about", 0, 0.9), ("measuring", 1, 0.1), ("measuring", 4, 0.3)]


@pytest.fixture
def place() -> Iterator[Path]:
    with short_place() as it:
        yield it


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_two_private_servers(moment: tuple[str, int, float], number: signal.Signals, place: Path) -> None:
    words, samples, seconds = moment
    running = Running(place, *OWN, *SHORT)
    running.await_words(words)
    running.await_samples(samples)
    pause(seconds)
    announced = running.strike(number)
    assert running.end() == (130 if number == signal.SIGINT else -signal.SIGKILL), running.said
    assert running.stored() >= announced
    assert_nothing_left(place)


def test_each_private_server_has_a_guard(place: Path) -> None:
    running = Running(place, *OWN, *SHORT)
    running.await_samples(2)
    guards = running.guards()
    assert len(guards) == 2
    # Without its guard a server is stopped by Redolab itself, and the other one's does its work.
    os.kill(guards[0], signal.SIGKILL)
    running.strike(signal.SIGINT)
    assert running.end() == 130, running.said
    assert_nothing_left(place)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_somebodys_server_beside_a_private_one(
    newest: Server, database: str, number: signal.Signals, place: Path
) -> None:
    before, altered = newest.settings(), newest.altered()
    with made(newest, database) as url:
        running = Running(
            place, "--engine", "embedded", "--engine", f"theirs={url}", "--yes", "--scope", "system", *SHORT
        )
        running.await_samples(3)
        announced = running.strike(number)
        assert running.end() == (130 if number == signal.SIGINT else -signal.SIGKILL), running.said
        assert running.stored() >= announced
        newest.assert_left_clean(database)
    assert newest.settings() == before
    assert newest.altered() == altered
    assert_nothing_left(place)
