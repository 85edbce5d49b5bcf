"""Whole runs on somebody's server, ended at random moments: the server is as it was, and nothing is lost."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from tests.engine.mariadb.held.holding import await_no_session
from tests.kill.machine import Running, assert_nothing_left, pause, short_place
from tests.mariadb import PASSWORD, MariaDB

SHORT = ("--yes", "--blocks", "2", "--seconds", "0.2", "--sessions", "2")
SETTINGS = ("--settings", "wait/immediate,nowait/batch")
SAMPLES = 6
# Random moments of each kind of end and server; `make long` asks for more.
ROUNDS = int(os.environ.get("REDOLAB_KILLS", "1"))
_draw = random.Random(20261126)


def moments() -> list[tuple[int, float]]:
    """In each round one while the database is made, and one between or after samples."""
    drawn = []
    for _ in range(ROUNDS):
        drawn += [(0, _draw.uniform(0, 1.5)), (_draw.randrange(1, SAMPLES + 1), _draw.uniform(0, 0.6))]
    return drawn


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("moment", moments())
def test_the_server_is_as_it_was(
    how: signal.Signals,
    moment: tuple[int, float],
    server: MariaDB,
    url: str,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples, seconds = moment
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    with short_place() as place:
        running = Running(place, "--engine", url.replace(f":{PASSWORD}@", "@"), *SHORT, *SETTINGS)
        running.await_words("measuring")
        running.await_samples(samples)
        pause(seconds)
        announced = running.strike(how)
        code = running.end()
        assert code in ((0, 130) if how == signal.SIGINT else (0, -signal.SIGKILL)), running.said
        assert running.stored() >= announced
        assert not any(PASSWORD in line for line in running.said)
        await_no_session(server, "bench")
        assert not data.exists() or list(data.iterdir()) == []
        assert_nothing_left(place)
