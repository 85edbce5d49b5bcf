"""`redolab run --plan`: everything is told, and nothing is touched."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from redolab.experiment import EXPERIMENTS
from tests.conftest import Redolab
from tests.docs.pages import ROOT, inline_code

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_plan_of_every_experiment(name: str, redolab: Redolab, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = redolab("run", name, "--quick", "--plan", "--seed", "3", "--out", out)
    assert done.code == 0, done.err
    assert EXPERIMENTS[name].question.split()[0] in done.out
    for word in ("Engine", "Settings", "Samples", "Time", "Creates", "Changes", "Disk", "Order"):
        assert word in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert not out.exists()
    # The same seed plans the same order, and the run itself would take it.
    again = redolab("run", name, "--quick", "--plan", "--seed", "3")
    assert again.out == done.out


@pytest.mark.parametrize("seed", [0, 2**32, 2**64 - 1])
def test_every_seed_of_64_bits_plans_an_order(seed: int, redolab: Redolab) -> None:
    done = redolab("run", "calibrate", "--quick", "--plan", "--json", "--seed", str(seed))
    assert done.code == 0, done.err
    assert json.loads(done.out)["seed"] == seed


def test_the_plan_connects_to_nothing(redolab: Redolab) -> None:
    done = redolab("run", "commit-mode", "--engine", NOWHERE, "--plan", "--json", "--blocks", "2")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["format"] == 1
    assert told["engine"] == "postgresql"
    assert told["samples"] == 10
    assert [sorted(set(block)) for block in told["order"]] == [
        sorted(s["name"] for s in told["settings"])
    ] * 2
    assert told["creates"][0] == "schema redolab"
    assert "synchronous_commit (its own sessions)" in told["changes"]
    assert "wal_writer_delay (whole server)" in told["changes"]
    # In each of two blocks three samples wait and two do not, 100.5 s each; and a second of each setting.
    consumed = told["consumes"]
    assert (consumed["commits_per_s"], consumed["waiting_commits_per_s"]) == (150_000, 40_000)
    ids = 2 * 100.5 * (3 * 40_000 + 2 * 150_000) + 2 * (40_000 + 150_000) + 10 * 100 + 1_000
    assert consumed["transaction_ids"] == ids
    assert consumed["log_bytes"] > 200 * ids
    documented = inline_code(ROOT / "docs" / "reference" / "json.md")
    for key, value in told.items():
        inner = value if isinstance(value, dict) else {}
        assert {key, *(f"{key}.{item}" for item in inner)} & documented, key


def test_only_a_postgresql_has_transaction_ids(redolab: Redolab) -> None:
    for engine, has in (("embedded", True), (NOWHERE, True), ("sqlite", False), ("mariadb", False)):
        done = redolab("run", "consistent-read", "--quick", "--engine", engine, "--plan")
        assert done.code == 0, done.err
        assert ("Uses up" in done.out) is has
        told = json.loads(redolab("run", "consistent-read", "--engine", engine, "--plan", "--json").out)
        assert (told["consumes"] is not None) is has


@pytest.mark.parametrize(
    ("engine", "described", "makes"),
    [
        ("embedded", "a private PostgreSQL 18", ["schema redolab", "table redolab.scanned"]),
        (NOWHERE, "the PostgreSQL server of the URL", ["schema redolab", "table redolab.scanned"]),
        ("mariadb", "a private server of the installed", ["database redolab", "table redolab.scanned"]),
        ("sqlite", "a private database file", ["a private database file", "table scanned"]),
    ],
)
def test_what_is_made_depends_on_the_engine(
    engine: str, described: str, makes: list[str], redolab: Redolab
) -> None:
    asked = ("run", "consistent-read", "--quick", "--engine", engine, "--plan")
    told = json.loads(redolab(*asked, "--json").out)
    assert [text.partition(":")[0] for text in told["creates"]] == makes
    text = " ".join(redolab(*asked).out.split())
    assert described in text.partition(" Load ")[0]
    for name in ("schema", "database redolab", "redolab."):
        assert (name in text) is any(name in made for made in makes)


@pytest.mark.parametrize(
    ("experiment", "makes"),
    [
        ("cpu-capacity", r"\d+ processes"),
        ("durability", "schema redolab; table redolab.ledger: one row per commit"),
        ("commit-scaling", "schema redolab; tables redolab.own_0 to redolab.own_19: one row each"),
        ("sampling-distribution", ""),
    ],
)
def test_what_is_made_is_what_the_engine_makes(experiment: str, makes: str, redolab: Redolab) -> None:
    told = json.loads(redolab("run", experiment, "--plan", "--json").out)
    assert re.fullmatch(makes, "; ".join(told["creates"]))


def test_the_plan_of_a_list_file(redolab: Redolab, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('factors.a = ["1", "2"]\nsql.unit = "select :\'a\'"\nsql.setup = "create table t ()"\n')
    done = redolab("run", "--list", file, "--plan")
    assert done.code == 0, done.err
    assert "create table t ()" in done.out
    whole = """
factors.a = ["1", "2"]
sql.setup = "select 'at first'"
sql.unit = "select 'each'"
sql.settle = "select 'before'"
sql.teardown = "select 'last'"
levels.a.2 = { enter = "select 'in'", leave = "select 'out'", parameters = { work_mem = "64MB" } }
"""
    file.write_text(whole)
    done = redolab("run", "--list", file, "--plan", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    # A list is a program: whoever reads the plan has read every statement of it.
    assert told["creates"] == [
        "schema redolab", "setup: select 'at first'", "unit of work: select 'each'",
        "settle: select 'before'", "enter a 2: select 'in'", "leave a 2: select 'out'",
        "parameters of a 2: work_mem = 64MB", "teardown: select 'last'",
    ]  # fmt: skip
    assert told["consumes"]["log_bytes"] is None
    wrong = redolab("run", "commit-mode", "--list", file, "--plan")
    assert wrong.code == 2
    assert "leave 'commit-mode' out" in wrong.complaint
    nothing = redolab("run", "--plan")
    assert nothing.code == 2
    assert "Name an experiment" in nothing.complaint


def test_the_plan_of_several_servers(redolab: Redolab) -> None:
    engines = ("--engine", "old=embedded", "--engine", f"theirs={NOWHERE}")
    done = redolab("run", "commit-mode", *engines, "--plan", "--blocks", "2", "--seed", "3")
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80
    assert "Server old" in done.out
    assert "Server theirs" in done.out
    told = json.loads(redolab("run", "commit-mode", *engines, "--plan", "--json", "--blocks", "2").out)
    assert told["engine"] == "side by side"
    assert told["servers"] == {"old": "embedded", "theirs": "postgresql"}
    assert told["samples"] == 2 * 9
    assert told["baseline"] == "old/wait/immediate"
    assert [text.partition(",")[0] for text in told["creates"]] == [
        "old: schema redolab", "theirs: schema redolab",
    ]  # fmt: skip
    # Each server does its own part: the first one's baseline stands twice.
    alone = json.loads(redolab("run", "commit-mode", "--plan", "--json", "--blocks", "2").out)
    assert told["consumes"]["old"] == alone["consumes"]
    assert told["consumes"]["theirs"]["transaction_ids"] < alone["consumes"]["transaction_ids"]
