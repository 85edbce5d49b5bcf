"""Servers as people really have them: what is said of them is true, or refused in a sentence."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from redolab import open_run
from redolab.engine.mariadb.preflight import server as preflight
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
    stored, results = open_run(tmp_path / "run"), json.loads(ended.out)
    samples = stored.samples.to_pylist()
    assert [(row["spoiled"], row["sessions"], row["session_cpu_s"]) for row in samples] == [
        (None, 2, None)
    ] * len(samples)
    seen = {(row["scope"], row["wait_class"], row["event"]) for row in stored.waits.to_pylist()}
    assert ("session", "Stage", "Commit") in seen
    assert any(text.startswith("CPU and run queue of sessions:") for text in stored.manifest["not_measured"])
    (law,) = (item for item in results["diagnostics"] if item["name"] == "Little's law")
    assert law["outcome"] == "passed", law


@pytest.mark.parametrize("name", ["mariadb 11.8", "mysql 9.7"])
def test_what_refuses_every_commit_is_told_in_the_servers_words(
    name: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Somebody sets it in the moment after it was looked at.
    monkeypatch.setattr(preflight, "_check_prepares", lambda _: None)
    with server("--log-bin=binlog", name=name) as it:
        it.ask("set global max_prepared_stmt_count = 0")
        ended = redolab(*RUN, "--engine", it.url, "--out", tmp_path / "run")
    assert ended.code == 3
    assert "max_prepared_stmt_count" in ended.err
    assert "connection was closed" not in ended.err
    assert not (tmp_path / "run").exists(), "no sample was begun"


def test_a_server_without_its_redo_log_promises_nothing(redolab: Redolab, tmp_path: Path) -> None:
    with server("--log-bin=binlog", name="mysql 9.7") as it:
        it.ask("alter instance disable innodb redo_log")
        ended = redolab(*RUN, "--engine", it.url, "--out", tmp_path / "run")
        profiled = redolab("profile", it.url, "--seconds", "0.5", "--json")
        it.ask("alter instance enable innodb redo_log")
    assert (ended.code, profiled.code) == (0, 0), ended.err + profiled.err
    results = json.loads(ended.out)
    assert {setting["tier"] for setting in results["settings"]} == {"memory"}
    assert any("redo log is disabled" in text for text in open_run(tmp_path / "run").manifest["conditions"])


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--log-bin=binlog",), ("sync_binlog", "binlog_commit_wait_usec", "binlog_commit_wait_count")),
        ((), ()),
    ],
    ids=["binary log", "none"],
)
def test_the_question_names_the_parameters_that_this_server_has(
    options: tuple[str, ...], names: tuple[str, ...], redolab: Redolab, tmp_path: Path
) -> None:
    words = [word for word in RUN if word not in ("--yes", "--json")]
    with server(*options) as it:
        ended = redolab(*words, "--engine", it.url, "--out", tmp_path / "run")
    assert ended.code == 2
    (asked,) = (line for line in ended.err.splitlines() if " Redolab creates " in line)
    told = ", ".join(f"{name} (whole server)" for name in ("innodb_flush_log_at_trx_commit", *names))
    assert f"changes {told}. At the end every parameter is put back" in asked
