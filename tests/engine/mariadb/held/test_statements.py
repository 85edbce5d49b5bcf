"""What a run says to type: pasted into that server it sets all that was measured, and its undo undoes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from redolab import open_run
from redolab.analysis.compared import Compared, compare_run
from redolab.analysis.statements.to_set import entry
from redolab.commands.verify import verify
from tests.mariadb import MariaDB
from tests.servers import in_this_process

FORMER = {"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "100"}


@pytest.fixture
def measured(server: MariaDB, tmp_path: Path) -> Iterator[Compared]:
    """A run on a server that flushes its binary log at every 100th group of commits."""
    server.ask("set global sync_binlog = 100")
    words = ("run", "commit-mode", "--engine", server.url, "--yes", "--blocks", "2", "--seconds", "0.1")
    done = in_this_process(
        tmp_path, *words, "--sessions", "2", "--out", str(tmp_path / "run"), environment={}
    )
    assert done.code == 0, done.err
    yield compare_run(open_run(tmp_path / "run"))
    if server.flavour == "mysql":
        server.ask("reset persist")
    server.ask("set global sync_binlog = 1")


def values(server: MariaDB, names: list[str]) -> dict[str, str]:
    listed = ", ".join(f"'{name}'" for name in names)
    rows = server.ask(f"show global variables where variable_name in ({listed})")
    return {row["Variable_name"]: str(row["Value"]) for row in rows}


def paste(server: MariaDB, way: dict[str, Any], wanted: dict[str, str]) -> None:
    """Statements of a way set what is wanted, and its undo brings back what was there."""
    before = values(server, list(wanted))
    for line in way["set"]:
        server.ask(line)
    assert values(server, list(wanted)) == wanted
    for line in way["undo"]:
        server.ask(line)
    assert values(server, list(wanted)) == before


def test_every_way_sets_all_parameters_and_undoes_it(server: MariaDB, measured: Compared) -> None:
    assert verify(measured.run.path).differences == []
    for declared in measured.manifest["settings"]:
        advised = entry(measured, declared, "recommended")
        wanted = dict(declared["parameters"])
        assert len(wanted) == 4
        before = values(server, list(wanted))
        assert {name: before[name] for name in FORMER} == FORMER
        for way in advised["ways"]:
            if way["language"] == "SQL":
                paste(server, way, wanted)
        check_lasting(server, advised, wanted)
    check_prices(measured)


def check_lasting(server: MariaDB, advised: dict[str, Any], wanted: dict[str, str]) -> None:
    """Besides what a restart undoes there is what it does not."""
    first, second = advised["ways"]
    assert (first["lasts"], second["lasts"]) == (False, True)
    if server.flavour == "mysql":
        assert all(line.startswith("SET PERSIST ") for line in second["set"])
        return
    assert second["language"] == "my.cnf"
    assert second["set"][0] == "[mysqld]"
    assert dict(line.split(" = ") for line in second["set"][1:]) == wanted
    assert dict(line.split(" = ") for line in second["undo"][1:])["sync_binlog"] == "100"


def check_prices(measured: Compared) -> None:
    """What crashes may lose is a number where the server limits it, and has a reason where it does not."""
    prices = {
        item["name"]: entry(measured, item, "recommended")["price"] for item in measured.manifest["settings"]
    }
    assert prices["wait/immediate"] == prices["wait/batch"] == []
    (power,) = prices["nowait/immediate"]
    assert (power["crash"], power["window_s"]) == ("power", None)
    assert "sync_binlog = 0" in power["unknown"]
    crash, power = prices["nowait/batch"]
    assert (crash["crash"], crash["window_s"], crash["unknown"]) == ("server", 1.0, None)
    rates = [item.arrival_rate or 0.0 for item in measured.sessions["nowait/batch"]]
    assert min(rates) <= crash["commits"] <= max(rates) + 1
    assert power["window_s"] is None
