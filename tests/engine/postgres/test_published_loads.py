"""The loads of rows-per-commit and commit-scaling on real servers: what is counted is in the tables."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from redolab import open_run
from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.records.load import Amount, Inserts, Load, OwnRows, Updates
from redolab.records.sample import Setting, Work
from tests.conftest import Redolab
from tests.servers import PASSWORD, Server, made


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


@contextmanager
def at_work(
    server: Server, database: str, load: Load, combinations: list[dict[str, str]]
) -> Iterator[tuple[PostgresEngine, dict[str, Setting]]]:
    with made(server, database) as url:
        engine = PostgresEngine(Connector(url), None, seed=1)
        try:
            settings = engine.prepare(load, combinations)
            yield engine, {setting.name: setting for setting in settings}
        finally:
            engine.close()
        server.assert_left_clean(database)


def works(engine: PostgresEngine, setting: Setting, amount: Amount) -> Work:
    engine.apply(setting)
    engine.settle()
    return engine.work(amount, threading.Event())


def test_whole_commits_of_so_many_rows(server: Server, database: str) -> None:
    levels = [{"rows_per_commit": rows, "sessions": "2"} for rows in ("1", "32", "512")]
    with at_work(server, database, Inserts("inserts", 3, "session", 10), levels) as (engine, settings):
        # Of 100 rows each of two sessions has 50: the next whole commits are 64 and 512.
        for name, rows, commits in (("1/2", 100, 100), ("32/2", 128, 4), ("512/2", 1024, 2)):
            work = works(engine, settings[name], Amount(1.0, 100))
            assert (work.units, work.rows, work.commits, work.failed) == (rows, rows, commits, 0)
            with server.admin(database) as admin:
                (found,) = admin.execute(
                    "select count(*) as rows, count(distinct xmin::text) as commits, "
                    "count(distinct session) as sessions from redolab.item"
                ).fetchall()
            assert found == {"rows": rows, "commits": commits, "sessions": 2}


def test_time_is_over_with_the_commit_under_way(newest: Server, database: str) -> None:
    levels = [{"rows_per_commit": "1024"}]
    with at_work(newest, database, Inserts("inserts", 1, "session", 10), levels) as (engine, settings):
        work = works(engine, settings["1024"], Amount(0.2))
    assert work.units == 1024 * work.commits > 0


def test_each_session_updates_its_own_row(server: Server, database: str) -> None:
    levels = [{"sessions": "2"}, {"sessions": "3"}]
    with at_work(server, database, OwnRows("own rows", 3, "session"), levels) as (engine, settings):
        counted = []
        for name, amount in (("2", Amount(1.0, 51)), ("3", Amount(0.2))):
            work = works(engine, settings[name], amount)
            assert work.commits == work.rows == work.units
            counted.append(work.commits)
            with server.admin(database) as admin:
                rows = [
                    row["a"]
                    for number in range(3)
                    for row in admin.execute(f"select a from redolab.own_{number}".encode()).fetchall()
                ]
            assert len(rows) == 3
            assert sum(rows) == sum(counted)
            if name == "2":
                assert rows == [26, 25, 0]
    assert rows[2] > 0


def run(redolab: Redolab, place: Path, url: str, *words: str) -> dict[str, Any]:
    done = redolab("run", *words, "--engine", url, "--yes", "--quick", "--seed", "1", "--out", place)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads((place / "results.json").read_text())
    return found


@pytest.mark.parametrize("rows", [None, 64])
def test_rows_per_commit_from_the_command_line(
    rows: int | None, url: str, redolab: Redolab, tmp_path: Path
) -> None:
    words = ["rows-per-commit", "--settings", "1,32,256", "--seconds", "0.05", "--blocks", "2"]
    results = run(redolab, tmp_path / "run", url, *words, *([] if rows is None else ["--rows", str(rows)]))
    stored = open_run(tmp_path / "run")
    fixed, repeats = stored.manifest["design"]["units"], stored.manifest["design"]["repeats"]
    assert fixed > 0 if rows is None else fixed == rows
    for sample in stored.samples.to_pylist():
        asked = fixed * repeats.get(sample["setting"], 1)
        whole = -(-asked // int(sample["setting"])) * int(sample["setting"])
        assert sample["units"] == sample["rows"] == sample["server_rows"] == whole
        assert sample["commits"] * int(sample["setting"]) == whole
    tables = {table["key"]: table["rows"] for table in results["tables"]}
    assert [row["setting"] for row in tables["rows-per-commit-collected"]] == ["1", "32", "256"]
    assert {row["rows"] for row in tables["rows-per-commit-elapsed"]} == {fixed}


def test_commit_scaling_from_the_command_line(url: str, redolab: Redolab, tmp_path: Path) -> None:
    words = ["commit-scaling", "--sessions", "1,3", "--seconds", "0.2", "--blocks", "2"]
    results = run(redolab, tmp_path / "run", url, *words)
    for sample in open_run(tmp_path / "run").samples.to_pylist():
        assert sample["sessions"] == int(sample["setting"])
        assert sample["units"] == sample["commits"] == sample["rows"] == sample["server_rows"] > 0
    (published,) = [t["rows"] for t in results["tables"] if t["key"] == "commit-scaling-published"]
    assert [(row["sessions"], row["event"]) for row in published] == [
        (sessions, event) for sessions in (1, 3) for event in ("log write", "log flush", "log sync")
    ]
    for row in published:
        assert row["per_hour"] == pytest.approx(3600 * row["per_second"])


def test_a_unit_of_work_carries_the_cpu_that_its_setting_says(server: Server, database: str) -> None:
    levels = [{"commit_wait": "nowait", "cpu_turns": turns} for turns in ("0", "2000000")]
    with at_work(server, database, Updates("cpu", 1, "session", 100, 10), levels) as (engine, settings):
        took = [
            works(engine, setting, Amount(1.0, 20)).session_elapsed_max_s for setting in settings.values()
        ]
    # Two million turns take tens of milliseconds, a commit that does not wait well under one.
    assert took[1] > 10 * took[0]
