"""What the advice of a watch gives to type: pasted into that server it does it, and its undo undoes it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from redolab.commands.watch import watch
from redolab.dialect.innodb import PAUSE
from redolab.forecast.advice.statements import Today
from redolab.records.store import read_manifest
from tests.engine.mariadb.held.test_statements import paste, values
from tests.forecasts import make_calibrated
from tests.mariadb import MariaDB


@pytest.fixture
def today(server: MariaDB, tmp_path: Path) -> Any:
    """A watch of a server that flushes its binary log at every 100th group of commits."""
    server.ask("set global sync_binlog = 100")
    watch(server.url, tmp_path / "watch", 1.0, "test")
    run: Any = SimpleNamespace(manifest=read_manifest(tmp_path / "watch"))
    yield Today.of(run, make_calibrated(replicates=1))
    if server.flavour == "mysql":
        server.ask("reset persist")
    server.ask("set global sync_binlog = 1")


def test_what_a_watch_advises_does_it_and_undoes_it(server: MariaDB, today: Today) -> None:
    pause, count = PAUSE[server.flavour]
    wanted = {
        ("commit_wait", "nowait"): {"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0"},
        ("commit_delay_us", "134"): {pause: "134", count: "8"},
        ("commit_delay_us", "0"): {pause: "0", count: "0"},
    }
    for (factor, level), expected in wanted.items():
        change = today.changed(factor, level, 5_000.0)
        before = values(server, list(expected))
        for way in change["ways"]:
            assert way["look"] == []
            if way["language"] == "SQL":
                paste(server, way, expected)
            else:
                assert dict(line.split(" = ") for line in way["set"][1:]) == expected
                assert dict(line.split(" = ") for line in way["undo"][1:]) == before
        lost = [(price["crash"], price["window_s"], price["groups"]) for price in change["price"]]
        # sync_binlog of 100 is no part of a pause, and its loss is not taken away by one.
        assert lost == ([("power", None, None)] if factor == "commit_wait" else [("power", None, 100)])


def test_what_nobody_noted_is_looked_for_first(server: MariaDB, today: Today) -> None:
    names = ("innodb_flush_log_at_trx_commit", "sync_binlog")
    for name in names:
        today.declared["parameters"].pop(name)
    (first, _) = today.changed("commit_wait", "nowait", None)["ways"]
    assert first["undo"] == []
    assert "are not known here" in first["reach"]
    (shown,) = server.ask(first["look"][0])
    assert [str(value) for value in shown.values()] == ["1", "100"]
