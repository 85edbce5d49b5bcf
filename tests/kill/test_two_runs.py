"""Two runs at once in two databases of one server: one goes on, and the server ends as it was."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.conftest import Redolab
from tests.kill.machine import Running, pause, short_place
from tests.servers import Server, made, wait_until

INTERLEAVINGS = int(os.environ.get("REDOLAB_INTERLEAVINGS", "2"))
SHORT = ("--blocks", "2", "--seconds", "0.3", "--sessions", "2", "--settings", "wait/immediate,nowait/batch")
ENDS = (0, 3, 130, -signal.SIGKILL)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with short_place() as first, short_place() as second:
        yield first, second


@pytest.fixture
def urls(newest: Server, database: str) -> Iterator[tuple[str, str]]:
    with ExitStack() as stack:
        first, second = (stack.enter_context(made(newest, f"{database}_{n}")) for n in (1, 2))
        yield first, second


def started(place: Path, url: str) -> Running:
    return Running(place, "--engine", url, "--yes", *SHORT)


def test_the_second_is_refused_and_says_who_is_at_work(
    newest: Server, urls: tuple[str, str], places: tuple[Path, Path]
) -> None:
    settings, altered = newest.settings(), newest.altered()
    first = started(places[0], urls[0])
    first.await_samples(1)
    second = started(places[1], urls[1])
    assert second.end() == 3
    assert "Another Redolab run is at work on this server" in second.said[-1]
    assert f"user postgres, database {urls[0].rpartition('/')[2]}" in second.said[-1]
    first.strike(signal.SIGINT)
    assert first.end() in (0, 130)
    assert (newest.settings(), newest.altered()) == (settings, altered)


def test_nobody_begins_before_the_guard_of_a_killed_run_has_cleaned_up(
    newest: Server, urls: tuple[str, str], places: tuple[Path, Path]
) -> None:
    settings, altered = newest.settings(), newest.altered()
    first = started(places[0], urls[0])
    wait_until(lambda: newest.altered() != altered or first.process.poll() is not None, "ALTER SYSTEM")
    first.strike(signal.SIGKILL)
    second = started(places[1], urls[1])
    assert second.end() == 0, second.said
    assert first.end() == -signal.SIGKILL
    assert (newest.settings(), newest.altered()) == (settings, altered)


def test_a_run_puts_back_what_was_left_in_another_database(
    newest: Server, urls: tuple[str, str], places: tuple[Path, Path]
) -> None:
    settings, altered = newest.settings(), newest.altered()
    first = started(places[0], urls[0])
    wait_until(lambda: newest.altered() != altered or first.process.poll() is not None, "ALTER SYSTEM")
    kill_with_guard(first)
    first.end()
    assert newest.altered() != altered, "somebody cleaned up, and this test tests nothing"
    second = started(places[1], urls[1])
    assert second.end() == 0, second.said
    assert (newest.settings(), newest.altered()) == (settings, altered)
    for url in urls:
        newest.assert_left_clean(url.rpartition("/")[2])


def kill_with_guard(running: Running) -> None:
    for guard in running.guards():
        with suppress(ProcessLookupError):
            os.kill(guard, signal.SIGKILL)
    running.strike(signal.SIGKILL)


@pytest.mark.parametrize("seed", range(INTERLEAVINGS))
def test_any_interleaving_leaves_the_parameters_as_they_were(
    seed: int, newest: Server, urls: tuple[str, str], places: tuple[Path, Path], redolab: Redolab
) -> None:
    draw = random.Random(20261124 + seed)
    settings, altered = newest.settings(), newest.altered()
    runs = []
    for place, url in zip(places, urls, strict=True):
        runs.append(started(place, url))
        pause(draw.uniform(0, 2.5))
    for running in draw.sample(runs, 2):
        how = draw.choice(("ctrl-c", "ctrl-c twice", "kill", "kill with the guard", "nothing"))
        pause(draw.uniform(0, 2.5))
        if how.startswith("ctrl-c"):
            running.strike(signal.SIGINT)
            if how.endswith("twice"):
                pause(draw.uniform(0, 0.5))
                running.strike(signal.SIGINT)
        elif how == "kill":
            running.strike(signal.SIGKILL)
        elif how == "kill with the guard":
            kill_with_guard(running)
    codes = [running.end() for running in runs]
    assert set(codes) <= set(ENDS), [running.said for running in runs]
    # Where a guard was killed too, the next run puts everything back, in whichever database it is.
    wait_until(lambda: newest.redolab_sessions() == 0, "every session of Redolab's ends")
    next_place = places[0] / "next"
    done = redolab("run", "commit-mode", "--engine", draw.choice(urls), "--yes", "--quick", *SHORT,
                   "--out", next_place)  # fmt: skip
    assert done.code == 0, done.err
    assert (newest.settings(), newest.altered()) == (settings, altered)
    for url in urls:
        newest.assert_left_clean(url.rpartition("/")[2])
