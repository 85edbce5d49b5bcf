"""A private server that is killed under its run: MariaDB's ends the run, PostgreSQL's is started again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab import open_run
from tests.kill.machine import Running, assert_nothing_left, at_work, short_place
from tests.servers import wait_until

SHORT = ("--rows", "36000", "--blocks", "3", "--seconds", "0.1", "--settings", "0,3", "--seed", "1")


@pytest.fixture
def place() -> Iterator[Path]:
    with short_place() as it:
        yield it


def kill_server(place: Path, program: str) -> None:
    """Kill the processes of the private server, and nobody else."""
    servers = [pid for pid in at_work(place) if _program(pid) == program]
    assert servers
    for pid in servers:
        os.kill(pid, signal.SIGKILL)


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def test_a_killed_mariadb_ends_the_run_in_plain_words_and_keeps_its_samples(place: Path) -> None:
    running = Running(place, "--engine", "mariadb", *SHORT, experiment="consistent-read")
    running.await_samples(2)
    kill_server(place, "mariadbd")
    assert running.end() == 3, running.said
    (told,) = [line for line in running.said if "ended the run" in line]
    assert "The database ended the run: " in told
    assert "Every sample finished before is kept. Look at the server's log" in told
    assert 2 <= running.stored() < 12
    manifest = open_run(running.out).manifest
    assert manifest["status"] == "failed"
    assert manifest["error"] in told
    assert_nothing_left(place)


def test_a_killed_mariadb_ends_its_preparation_in_plain_words(place: Path) -> None:
    running = Running(
        place, "--engine", "mariadb", "--rows", "20000000", "--settings", "0,1", experiment="consistent-read"
    )
    wait_until(
        lambda: any(place.glob("redolab/servers/*/data/redolab/scanned.ibd")), "the table is being made"
    )
    kill_server(place, "mariadbd")
    assert running.end() == 3, running.said
    (told,) = [line for line in running.said if "ended the run" in line]
    assert "Look at the server's log for the cause" in told
    assert "sample" not in told
    assert not running.out.exists()
    assert_nothing_left(place)


def test_a_killed_postgresql_is_started_again(place: Path) -> None:
    running = Running(place, *SHORT, experiment="consistent-read")
    running.await_samples(2)
    kill_server(place, "postgres")
    assert running.end() == 0, running.said
    assert open_run(running.out).manifest["status"] == "finished"
    assert_nothing_left(place)
