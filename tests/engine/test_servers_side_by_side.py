"""Two real servers in one run: each setting is measured on its own, and both are left as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from redolab import open_run
from tests.conftest import Redolab
from tests.servers import PASSWORD, Server, made

SHORT = ("--quick", "--blocks", "2", "--seconds", "0.2", "--sessions", "2", "--seed", "1")
TWO = ("--settings", "wait/immediate,nowait/batch")


def test_two_private_servers(redolab: Redolab, tmp_path: Path) -> None:
    place = tmp_path / "run"
    done = redolab("run", "commit-mode", "--engine", "embedded", "--engine", "embedded", *SHORT, *TWO,
                   "--out", place)  # fmt: skip
    assert done.code == 0, done.err
    assert "embedded-2 against embedded-1" in done.out
    assert "What each acknowledgement promised" in done.out
    run = open_run(place)
    samples = {row["sample"]: row for row in run.samples.to_pylist()}
    assert len(samples) == 2 * 5
    assert all(sample["spoiled"] is None and sample["commits"] > 0 for sample in samples.values())
    # The processes whose time is in a sample are those of its setting's server alone.
    processes: dict[str, set[int]] = {"embedded-1": set(), "embedded-2": set()}
    for row in run.profile.to_pylist():
        processes[samples[row["sample"]]["setting"].split("/")[0]].add(row["pid"])
    assert all(processes.values())
    assert not processes["embedded-1"] & processes["embedded-2"]
    assert {change["setting"].split("/")[0] for change in run.manifest["parameter_changes"]} == set(processes)
    assert {record["name"] for record in run.manifest["engine"]["servers"].values()} == {"embedded"}
    assert redolab("verify", place).code == 0
    assert redolab("report", place).code == 0


def test_somebodys_server_beside_a_private_one(
    newest: Server, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    before = newest.settings()
    with made(newest, database) as url:
        place = tmp_path / "run"
        done = redolab(
            "run", "commit-mode", "--engine", f"theirs={url}", "--engine", "own=embedded", "--yes",
            *SHORT, *TWO, "--seed", "2", "--out", place, "--json",
        )  # fmt: skip
        assert done.code == 0, done.err
        assert "theirs: PostgreSQL 18" in done.err
        newest.assert_left_clean(database)
    assert newest.settings() == before
    results = json.loads(done.out)
    servers = results["engine"]["servers"]
    assert {name: record["name"] for name, record in servers.items()} == {
        "theirs": "postgresql", "own": "embedded",
    }  # fmt: skip
    assert PASSWORD not in (place / "manifest.json").read_text()
    assert results["verdict"]["baseline"] == "theirs/wait/immediate"
    assert results["baselines"] == {"theirs": "theirs/wait/immediate", "own": "own/wait/immediate"}
    changes = [change["setting"] for change in results["method"]["parameter_changes"]]
    assert {name.split("/")[0] for name in changes} == {"theirs", "own"}
    # With this seed it ends under nowait/batch, which changes parameters of the whole server.
    assert "theirs/restore" in changes


def test_one_database_by_two_urls_is_refused(
    newest: Server, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    with made(newest, database) as url:
        other = newest.socket_url(database)
        done = redolab("run", "commit-mode", "--engine", url, "--engine", other, "--yes", *SHORT,
                       "--out", tmp_path / "run")  # fmt: skip
        assert done.code == 3, done.err
        assert "postgresql-2: " in done.complaint
        assert not (tmp_path / "run").exists()
        newest.assert_left_clean(database)


@pytest.mark.parametrize("across", [(), ("--across-tiers",)])
def test_a_server_that_does_not_flush_is_compared_across_tiers_alone(
    own_server: Server, database: str, redolab: Redolab, tmp_path: Path, across: tuple[str, ...]
) -> None:
    with own_server.admin() as admin:
        admin.execute("alter system set fsync = off")
        admin.execute("select pg_reload_conf()")
    with made(own_server, database) as url:
        done = redolab(
            "run", "commit-mode", "--engine", "embedded", "--engine", f"lax={url}", "--yes",
            *SHORT, *TWO, *across, "--out", tmp_path / "run", "--json",
        )  # fmt: skip
    assert done.code == 0, done.err
    results = json.loads(done.out)
    tiers = {setting["name"]: setting["tier"] for setting in results["settings"]}
    assert (tiers["embedded/wait/immediate"], tiers["lax/wait/immediate"]) == ("disk", "os")
    pairs = {(item["a"], item["b"]) for item in results["comparisons"]}
    assert ("lax/nowait/batch", "embedded/nowait/batch") in pairs
    assert (("lax/wait/immediate", "embedded/wait/immediate") in pairs) == bool(across)
    text = results["verdict"]["text"]
    assert "acknowledged once flushed to disk" in text
    assert "acknowledged once handed to the operating system" in text
    assert results["method"]["design"]["across_tiers"] is bool(across)


def test_durability_of_two_servers(redolab: Redolab, tmp_path: Path) -> None:
    place = tmp_path / "run"
    done = redolab("run", "durability", "--engine", "old=embedded", "--engine", "new=embedded",
                   "--blocks", "1", "--seconds", "0.3", *TWO, "--out", place)  # fmt: skip
    assert done.code == 0, done.err
    assert "wait/immediate on old and wait/immediate on new lost none of" in done.out.replace("\n", " ")
    assert redolab("verify", place).code == 0


def test_another_database_beside_a_private_postgresql(redolab: Redolab, tmp_path: Path) -> None:
    place = tmp_path / "run"
    done = redolab("run", "commit-mode", "--engine", "embedded", "--engine", "mariadb", *SHORT,
                   "--out", place)  # fmt: skip
    assert done.code == 0, done.err
    run = open_run(place)
    # Both are loaded alike: from clients, the only way that both have.
    assert run.manifest["load"]["loop"] == "client"
    samples = run.samples.to_pylist()
    assert len(samples) == 2 * 9
    for sample in samples:
        assert sample["spoiled"] is None
        assert sample["commits"] == sample["rows"] == sample["server_rows"] > 0
    tiers = {setting["name"]: setting["tier"] for setting in run.manifest["settings"]}
    assert tiers["mariadb/nowait/immediate"] == "os"
    assert "because their commits promise different durability" in " ".join(done.out.split())
    assert redolab("verify", place).code == 0


def test_a_server_without_a_pause_has_three_settings(redolab: Redolab, tmp_path: Path) -> None:
    place = tmp_path / "run"
    done = redolab("run", "commit-mode", "--engine", "embedded", "--engine", "bare=mariadb:skip-log-bin",
                   *SHORT, "--out", place)  # fmt: skip
    assert done.code == 0, done.err
    assert "Not applicable: bare/wait/batch: " in done.err
    run = open_run(place)
    assert len(run.manifest["settings"]) == 4 + 3
    assert run.manifest["not_measured"][0].startswith("bare/wait/batch: ")


def test_kills_of_two_databases(redolab: Redolab, tmp_path: Path) -> None:
    done = redolab("run", "durability", "--engine", "embedded", "--engine", "mariadb", "--blocks", "1",
                   "--seconds", "0.4", *TWO, "--out", tmp_path / "run", "--json")  # fmt: skip
    assert done.code == 0, done.err
    lost = {item["name"]: item["missing"] for item in json.loads(done.out)["settings"]}
    assert lost["embedded/wait/immediate"] == lost["mariadb/wait/immediate"] == 0
    # The server writes its log once a second, and is killed within that time.
    assert lost["mariadb/nowait/batch"] > 0
