"""Servers as people really have them: what is said of them is true, or refused in a sentence."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redolab import open_run
from tests.conftest import Redolab
from tests.mariadb import MariaDB, running_mariadb
from tests.server_programs import INSTALLED

RUN = ("run", "commit-mode", "--quick", "--blocks", "2", "--seconds", "0.2", "--sessions", "2",
       "--settings", "wait/immediate,nowait/batch", "--yes", "--json")  # fmt: skip


@contextmanager
def server(*options: str, name: str = INSTALLED) -> Iterator[MariaDB]:
    place = Path(tempfile.mkdtemp(prefix="redolab-odd-"))
    with running_mariadb(place / "s", *options, name=name) as it:
        yield it
    shutil.rmtree(place)


def test_a_pool_of_threads_has_its_sessions_and_their_waits(redolab: Redolab, tmp_path: Path) -> None:
    with server("--thread-handling=pool-of-threads", "--log-bin=binlog", "--sync-binlog=1") as it:
        ended = redolab(*RUN, "--engine", it.url, "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    run, results = open_run(tmp_path / "run"), json.loads(ended.out)
    samples = run.samples.to_pylist()
    assert [(row["spoiled"], row["sessions"], row["session_cpu_s"]) for row in samples] == [
        (None, 2, None)
    ] * len(samples)
    seen = {(row["scope"], row["wait_class"], row["event"]) for row in run.waits.to_pylist()}
    assert ("session", "Stage", "Commit") in seen
    assert any(text.startswith("CPU and run queue of sessions:") for text in run.manifest["not_measured"])
    (law,) = (item for item in results["diagnostics"] if item["name"] == "Little's law")
    assert law["outcome"] == "passed", law
