"""A run that is killed at any moment: the guard drops its tables, and a later run finds the schema free."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from redolab.engine.oracle.own.tables import MARKS
from redolab.url_secrets import ORACLE_PASSWORD
from tests.oracle.instance import COSTS, Instance
from tests.oracle.replay import Replayed, replayed
from tests.servers import command, wait_until

KILLS = int(os.environ.get("REDOLAB_KILLS", "2"))
"""Moments that are tried."""
MOST_STATEMENTS = {"transaction": 120, "session": 600}
"""Of a whole run, about: sessions of a client send each row and each commit."""


def started(server: Replayed, place: Path, *options: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        ORACLE_PASSWORD: server.instance.password, "XDG_DATA_HOME": str(place / "data"),
    }  # fmt: skip
    words = command(
        "run", "commit-mode", "--quick", "--engine", server.url, "--yes", "--out", place / "run", *options
    )
    return subprocess.Popen(
        words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.mark.parametrize("scope", MOST_STATEMENTS)
@pytest.mark.parametrize("seed", range(KILLS))
def test_nothing_is_left_whenever_it_is_killed(
    seed: int, scope: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    instance = Instance(2103)
    instance.costs = dict(COSTS)
    instance.live = scope == "session"
    # The first is killed while its sessions are at work.
    most = MOST_STATEMENTS[scope]
    after = most if seed == 0 else random.Random(seed).randrange(1, most)
    parameters = dict(instance.parameters)
    with replayed(instance) as server:
        process = started(server, tmp_path, "--scope", scope)
        wait_until(lambda: len(instance.asked) >= after or process.poll() is not None, "so many statements")
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not instance.tables and not MARKS.kept(), "the guard drops the tables")
        wait_until(lambda: len(instance.sessions) == 2, "every connection is closed")
    assert instance.parameters == parameters
    assert instance.holders == []


def test_what_run_and_guard_left_is_dropped_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    instance = Instance(2103)
    instance.costs = dict(COSTS)
    mark = "ab" * 16
    with replayed(instance) as server:
        place = f"127.0.0.1:{server.port}/shop ORCL WATCHER"
        assert MARKS.keep(mark, place)
        instance.tables = {"REDOLAB_RUN": 1, "REDOLAB_ACCOUNT": 500}
        instance.holders = [{"mark": mark, "role": "run", "sid": 4711, "serial": 9}]
        process = started(server, tmp_path, "--blocks", "2")
        assert process.wait(timeout=60) == 0
        assert instance.asked.index("drop_table") < instance.asked.index("create_run")
        assert instance.tables == {}
    assert MARKS.kept() == {}
