"""Whole runs against a replayed Oracle: each ends in the outcome that the instance was told to have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from redolab.engine.oracle.observer import reading
from redolab.engine.oracle.own.tables import MARKS
from redolab.records.store import open_run
from redolab.url_secrets import ORACLE_PASSWORD
from tests.conftest import Redolab
from tests.oracle.instance import COSTS, Instance
from tests.oracle.replay import Replayed, replayed
from tests.servers import wait_until

ENOUGH_BLOCKS = "8"
"""From which on three comparisons can be told from chance."""


@pytest.fixture
def working(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Replayed]:
    """An instance that spends what it is told, by a clock of its own."""
    instance = Instance(getattr(request, "param", 2103))
    instance.costs = dict(COSTS)
    monkeypatch.setenv(ORACLE_PASSWORD, instance.password)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(reading, "monotonic", instance.now)
    with replayed(instance) as server:
        yield server
    # Whatever happened, nothing is left there.
    assert instance.tables == {}
    assert MARKS.kept() == {}


def run(redolab: Redolab, place: Path, server: Replayed, *words: str) -> dict[str, Any]:
    done = redolab("run", *words, "--engine", server.url, "--yes", "--json", "--out", place / "run")
    assert done.code == 0, done.err
    results: dict[str, Any] = json.loads(done.out)
    return results


def by_name(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {setting["name"]: setting for setting in results["settings"]}


def point(setting: dict[str, Any], *keys: str) -> float:
    for key in keys:
        setting = setting[key]
    found = setting["point"]
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize(
    ("working", "blocks"), [(1202, "2"), (2103, ENOUGH_BLOCKS), (2326, "2")], indirect=["working"]
)
def test_commit_mode_finds_what_waiting_costs(
    working: Replayed, blocks: str, redolab: Redolab, tmp_path: Path
) -> None:
    results = run(redolab, tmp_path, working, "commit-mode", "--quick", "--blocks", blocks)
    found = by_name(results)
    assert set(found) == {"wait/immediate", "wait/batch", "nowait/immediate", "nowait/batch"}
    first = found["wait/immediate"]
    assert point(first, "service_time_ms") == pytest.approx(0.1)
    assert point(first, "queue_time_ms") == pytest.approx(4.2)
    assert point(first, "commits_per_flush") == pytest.approx(2.0)
    assert point(first, "flush_time_ms") == pytest.approx(1.5)
    assert (first["tier"], found["nowait/batch"]["tier"]) == ("disk", "memory")
    assert first["parameters"] == {"COMMIT WRITE": "WAIT IMMEDIATE"}
    parts = {row["row"]: point(row, "per_unit_ms") for row in first["profile"]}
    assert parts == pytest.approx(
        {
            "on_cpu": 0.1, "Commit:log file sync": 4.0, "User I/O:db file sequential read": 0.2,
            "unaccounted": 0.0,
        },
        abs=0.01,
    )  # fmt: skip
    outcomes = {item["a"]: item for item in results["comparisons"] if item["metric"] == "throughput_per_s"}
    assert point(outcomes["nowait/immediate"], "ratio") == pytest.approx(4.3 / 0.3)
    if blocks == ENOUGH_BLOCKS:
        assert outcomes["wait/batch"]["outcome"] == "equivalent"
        assert outcomes["nowait/immediate"]["outcome"] == "better"
        said = "Use COMMIT WRITE NOWAIT IMMEDIATE (nowait/immediate) if a crash may lose"
        assert results["verdict"]["text"].startswith(said)
        advised = results["statements"][0]
        each, session = advised["ways"]
        assert (each["set"], each["undo"]) == (["COMMIT WRITE NOWAIT IMMEDIATE;"], ["COMMIT;"])
        alter = "ALTER SESSION SET COMMIT_WAIT = 'NOWAIT' COMMIT_LOGGING = 'IMMEDIATE';"
        assert session["set"] == [alter]
        assert [price["commits"] for price in advised["price"]] == [None, None]
        assert "Oracle documents no limit" in results["verdict"]["price"]
    assert "93 % of a session's commit time is log sync" in results["verdict"]["text"]
    assert {"run_updates", "select_session_waits"} <= set(working.instance.asked)
    stored = open_run(tmp_path / "run")
    assert stored.manifest["parameter_changes"] == []
    assert all(row["spoiled"] is None for row in stored.samples.to_pylist())
    verified = redolab("verify", tmp_path / "run")
    assert verified.code == 0, verified.err


def test_rows_per_commit_finds_where_saving_ends(working: Replayed, redolab: Redolab, tmp_path: Path) -> None:
    results = run(
        redolab,
        tmp_path,
        working,
        "rows-per-commit",
        "--quick",
        "--blocks",
        "7",
        "--settings",
        "1,8,32",
        "--rows",
        "9600",
    )
    found = by_name(results)
    # A commit of n rows takes 4.3 ms and 10 us for each row beyond the first.
    for name, setting in found.items():
        rows = int(name)
        assert point(setting, "response_time_ms") == pytest.approx((4.3 + 0.01 * (rows - 1)) / rows)
    assert results["verdict"]["text"].endswith(".")
    assert working.instance.asked.count("truncate_item") >= 7 * 4


def test_commit_scaling_has_a_table_for_each_session(
    working: Replayed, redolab: Redolab, tmp_path: Path
) -> None:
    results = run(redolab, tmp_path, working, "commit-scaling", "--quick", "--blocks", "2")
    found = by_name(results)
    # What is told costs the same however many commit.
    rates = {int(name): point(setting, "throughput_per_s") for name, setting in found.items()}
    assert all(rate == pytest.approx(sessions / 0.0043, rel=1e-3) for sessions, rate in rates.items())
    assert max(rates) == working.instance.asked.count("create_own")


def test_consistent_read_scans_beside_what_is_not_committed(
    working: Replayed, redolab: Redolab, tmp_path: Path
) -> None:
    results = run(
        redolab, tmp_path, working, "consistent-read", "--quick", "--rows", "3600", "--blocks", "2",
        "--seconds", "0.01", "--settings", "0,20",
    )  # fmt: skip
    effects = next(table for table in results["tables"] if table["key"] == "consistent-read-effects")
    # Twenty rounds of two updates of every eighteenth row.
    assert [row["versions"]["point"] for row in effects["rows"]] == pytest.approx([1 + 40 / 18])
    for row in open_run(tmp_path / "run").samples.to_pylist():
        versions = int(row["setting"]) * 2 * 200
        assert row["consistent_gets"] == row["units"] * (10 + versions)
        assert row["undo_records_applied"] == row["consistent_changes"] == row["units"] * versions
        assert row["cr_blocks_created"] == (10 * row["units"] if versions else 0)
        assert row["buffer_reads"] == 0
    gets = next(table for table in results["tables"] if table["key"] == "consistent-read-gets")
    (calm, undone) = gets["rows"]
    assert [point(calm, name) for name in ("consistent_gets", "undo_records_applied")] == [10, 0]
    assert point(undone, "consistent_gets") == 10 + 20 * 2 * 200
    assert point(undone, "cr_blocks_created") == 10
    assert point(undone, "undo_records_applied") == point(undone, "consistent_changes") == 20 * 2 * 200
    cpu = {name: point(setting, "service_time_ms") for name, setting in by_name(results).items()}
    assert cpu["20"] - cpu["0"] == pytest.approx(20 * 2 * 200 * 1e-3)


def test_forced_waiting_is_refused(working: Replayed, redolab: Redolab, tmp_path: Path) -> None:
    working.instance.parameters["commit_wait"] = "FORCE_WAIT"
    done = redolab("run", "commit-mode", "--quick", "--engine", working.url, "--yes", "--out", tmp_path / "r")
    assert done.code == 3
    assert "ALTER SYSTEM RESET COMMIT_WAIT" in done.err
    # Where every setting waits alike it changes nothing.
    run(redolab, tmp_path, working, "rows-per-commit", "--quick", "--settings", "1,32", "--rows", "960",
        "--blocks", "2")  # fmt: skip


@pytest.mark.parametrize(
    ("take", "mend"),
    [
        ("CREATE TABLE", 'GRANT CREATE TABLE TO "WATCHER";'),
        *((view, f'GRANT SELECT ON SYS.V_{view.removeprefix("V")} TO "WATCHER";') for view in (
            "V$SESSION", "V$SESSION_EVENT", "V$SESS_TIME_MODEL", "V$SYSTEM_EVENT", "V$SYS_TIME_MODEL",
            "V$SYSSTAT", "V$INSTANCE", "V$PARAMETER",
        )),
    ],
)  # fmt: skip
def test_each_missing_grant_is_named_before_anything_is_made(
    working: Replayed, redolab: Redolab, tmp_path: Path, take: str, mend: str
) -> None:
    working.instance.privileges.discard(take)
    working.instance.ungranted = {take}
    done = redolab("run", "commit-mode", "--quick", "--engine", working.url, "--yes", "--out", tmp_path / "r")
    assert done.code == 3
    assert mend in " ".join(done.err.split())
    assert "create_run" not in working.instance.asked


@pytest.mark.parametrize(
    ("kind", "said"), [("DEDICATED", None), ("SHARED", "Shared server"), ("POOLED", "(DRCP)")]
)
def test_shared_servers_are_told_of(
    working: Replayed, redolab: Redolab, tmp_path: Path, kind: str, said: str | None
) -> None:
    working.instance.server = kind
    results = run(redolab, tmp_path, working, "commit-mode", "--quick", "--blocks", "2")
    texts = [text for text in results["warnings"] if "server process" in text]
    assert len(texts) == (said is not None)
    assert all(said in text and "account includes that wait" in text for text in texts if said)


def test_what_is_not_its_own_is_never_touched(working: Replayed, redolab: Redolab, tmp_path: Path) -> None:
    words = ("run", "commit-mode", "--quick", "--engine", working.url, "--yes", "--out", tmp_path / "r")
    for tables in ({"REDOLAB_ORDERS": 5}, {"REDOLAB_RUN": 1}):
        working.instance.tables = dict(tables)
        working.instance.holders = [{"mark": "0" * 32, "role": "run", "sid": 5, "serial": 1}]
        done = redolab(*words)
        assert done.code == 3
        assert "not proved that this Redolab made them" in " ".join(done.err.split())
        assert working.instance.tables == tables
    working.instance.holders = [{"mark": "0" * 32, "role": "run", "sid": 2, "serial": 1}]
    assert "Another Redolab run is at work" in " ".join(redolab(*words).err.split())
    working.instance.tables = {}
    working.instance.schema = "SHOP"
    assert "a logon trigger" in " ".join(redolab(*words).err.split()).lower()
    working.instance.schema, working.instance.role = None, "PHYSICAL STANDBY"
    assert "point --engine at the primary" in " ".join(redolab(*words).err.split())


@pytest.mark.parametrize(
    "step",
    ["create_run", "insert_run", "create_account", "fill_account", "alter_patience", "select_sessions",
     "select_session_waits", "select_statistics"],
)  # fmt: skip
def test_an_error_of_oracles_in_any_step_leaves_nothing_behind(
    working: Replayed, redolab: Redolab, tmp_path: Path, step: str
) -> None:
    working.instance.failing = {step: 1653}
    done = redolab("run", "commit-mode", "--quick", "--engine", working.url, "--yes", "--out", tmp_path / "r")
    assert done.code == 3
    assert "ORA-01653" in done.err
    working.instance.failing = {}
    wait_until(lambda: not working.instance.tables, "the guard drops the tables")


def test_a_loop_that_breaks_off_in_the_warm_up_ends_the_run(
    working: Replayed, redolab: Redolab, tmp_path: Path
) -> None:
    working.instance.failing = {"run_updates": 60}
    words = ("run", "commit-mode", "--quick", "--blocks", "2", "--engine", working.url, "--yes")
    done = redolab(*words, "--out", tmp_path / "run")
    assert done.code == 3
    assert "The database ended the run: " in done.err
    assert "ORA-00060" in done.err
    assert not (tmp_path / "run").exists()
