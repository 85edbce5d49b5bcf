"""Somebody's server without a binary log: what it cannot do is known once it is asked, and left out."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab import open_run
from redolab.dialect.innodb import NO_PAUSE
from tests.engine.mariadb.held.holding import databases
from tests.mariadb import MariaDB, running_mariadb
from tests.server_programs import INSTALLED
from tests.servers import Ended, in_this_process

TWO = ("--blocks", "2", "--seconds", "0.2", "--sessions", "2")


@pytest.fixture
def server() -> Iterator[MariaDB]:
    place = Path(tempfile.mkdtemp(prefix="redolab-held-"))
    with running_mariadb(place / "n", name=INSTALLED) as it:
        yield it
    shutil.rmtree(place)


def asked(server: MariaDB, place: Path, *options: str) -> Ended:
    words = ("run", "commit-mode", "--engine", server.url, "--yes", *TWO, *options)
    return in_this_process(place, *words, "--out", str(place / "run"), environment={})


def test_its_modes_are_three_and_a_fourth_is_refused(server: MariaDB, tmp_path: Path) -> None:
    there = databases(server)
    done = asked(server, tmp_path)
    assert done.code == 0, done.err
    assert f"Not applicable: wait/batch: {NO_PAUSE}" in " ".join(done.err.split())
    run = open_run(tmp_path / "run")
    names = [setting["name"] for setting in run.manifest["settings"]]
    assert names == ["wait/immediate", "nowait/immediate", "nowait/batch"]
    assert run.manifest["status"] == "finished"
    shutil.rmtree(tmp_path / "run")

    refused = asked(server, tmp_path, "--settings", "wait/immediate,wait/batch")
    assert refused.code == 2
    assert f"The setting wait/batch is not applicable here: {NO_PAUSE}" in refused.complaint
    assert not (tmp_path / "run").exists()
    assert databases(server) == there


def test_doctor_says_what_a_run_does(server: MariaDB, tmp_path: Path) -> None:
    done = in_this_process(tmp_path, "doctor", "commit-mode", "--engine", server.url, environment={})
    assert done.code == 0, done.err
