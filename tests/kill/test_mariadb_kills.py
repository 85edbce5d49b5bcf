"""SIGINT and SIGKILL at random moments on MariaDB and MySQL: nothing left, nothing lost, nothing changed."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab.engine.mariadb.own.schema import MARKS
from tests.kill.machine import Running, assert_nothing_left, pause, short_place
from tests.mariadb import MariaDB, running_mariadb
from tests.server_programs import FAMILY, first_on_path

SHORT = ("--blocks", "2", "--seconds", "0.2", "--sessions", "3", "--settings", "wait/immediate,nowait/batch")
SAMPLES = 6
# Random moments of each signal on each server; `make long` asks for more.
ROUNDS = int(os.environ.get("REDOLAB_KILLS", "1"))
SIGNALS = (signal.SIGINT, signal.SIGKILL)
# What every run moves on, whoever writes to the binary log.
_MOVES_ON = ("gtid_",)

_draw = random.Random(20261126)
MOMENTS = [(_draw.randrange(SAMPLES), _draw.uniform(0, 0.6)) for _ in range(ROUNDS)]


@pytest.fixture(params=FAMILY)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server whose program stands first on PATH."""
    found = str(request.param)
    monkeypatch.setenv("PATH", first_on_path(found))
    return found


@pytest.fixture
def place() -> Iterator[Path]:
    with short_place() as it:
        yield it


def strike(running: Running, number: signal.Signals, moment: tuple[int, float]) -> None:
    """Break a run off at a moment, and make sure that what it had announced is kept."""
    samples, seconds = moment
    running.await_words("measuring")
    running.await_samples(samples)
    pause(seconds)
    announced = running.strike(number)
    code = running.end()
    assert code in ((130, 0) if number == signal.SIGINT else (-signal.SIGKILL, 0)), running.said
    assert running.stored() >= announced


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", SIGNALS)
def test_a_private_server_is_gone(
    name: str, number: signal.Signals, moment: tuple[int, float], place: Path
) -> None:
    strike(Running(place, "--engine", name.split(maxsplit=1)[0], *SHORT), number, moment)
    assert_nothing_left(place)


def state(server: MariaDB) -> tuple[dict[str, str], list[str]]:
    """Every variable of the server but those that move on, and its databases."""
    values = {row["Variable_name"]: row["Value"] for row in server.ask("show global variables")}
    kept = {name: value for name, value in values.items() if not name.startswith(_MOVES_ON)}
    return kept, [row["Database"] for row in server.ask("show databases")]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", SIGNALS)
def test_somebodys_server_is_as_before(
    name: str, number: signal.Signals, moment: tuple[int, float], place: Path
) -> None:
    with running_mariadb(place / "server", "--log-bin=binlog", "--server-id=1", name=name) as server:
        before = state(server)
        strike(Running(place, "--engine", server.url, "--yes", *SHORT), number, moment)
        assert state(server) == before
        assert MARKS.kept() == {}
    assert not any(path.name not in ("server", "run", "tmp", "redolab") for path in place.iterdir())
