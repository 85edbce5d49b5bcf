"""A forecast from a run that was really measured, on the private server."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from redolab.commands.report import make_results
from redolab.forecast.costs import of_run
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.quantities import QUANTITIES
from redolab.records.run import Run
from redolab.records.store import open_run
from tests.conftest import Redolab
from tests.servers import in_this_process


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run of calibrate, on a slow log; the tests only read it."""
    place = tmp_path_factory.mktemp("forecast")
    ended = in_this_process(
        place, "run", "calibrate", "--quick", "--blocks", "1", "--sessions", "4", "--log-device-ms", "20",
        "--out", "costs", environment={"XDG_DATA_HOME": str(place / "data")},
    )  # fmt: skip
    assert ended.code == 0, ended.err
    return place / "costs"


@pytest.fixture(autouse=True)
def _no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No forecast was checked before."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_a_measured_run_is_forecast_from(costs: Path, redolab: Redolab) -> None:
    ended = redolab("forecast", costs, "--set", "sessions=2", "--sweep", "commit_wait=wait,nowait", "--json")
    assert (ended.code, ended.err) == (0, "")
    results = json.loads(ended.out)
    assert set(QUANTITIES) - {"commits_per_flush"} <= results["asked"]["forecast"].keys()
    for estimate in results["asked"]["forecast"].values():
        assert 0 <= estimate["low"] <= estimate["point"] <= estimate["high"]
    measured = results["today"]["measured"]["throughput_per_s"]["point"]
    said = results["today"]["forecast"]["throughput_per_s"]["point"]
    # Nothing is off by a unit: a flush takes 20 ms, and serves one commit at the least and four at the most.
    for throughput in (measured, said):
        assert 0.8 / 0.02 <= throughput <= 4 / 0.02
    # Two sessions lie between the one and the four that were measured.
    assert results["extrapolated"] == []
    assert [one["levels"]["commit_wait"] for one in results["sweep"]] == ["wait", "nowait"]
    # The same run and question give the same figures.
    again = redolab("forecast", costs, "--set", "sessions=2", "--sweep", "commit_wait=wait,nowait", "--json")
    assert again.out == ended.out


def test_a_slow_log_is_as_slow_as_said(costs: Path, redolab: Redolab) -> None:
    ended = redolab("forecast", costs, "--set", "sessions=4", "--set", "log_device_ms=200", "--json")
    throughput = json.loads(ended.out)["asked"]["forecast"]["throughput_per_s"]["point"]
    # Each flush serves one commit at the least, and at the most all sessions'.
    assert 1 / 0.2 <= throughput <= 4 / 0.2


def test_a_run_that_does_not_tell_the_costs_is_refused(tmp_path: Path, redolab: Redolab) -> None:
    out = tmp_path / "draws"
    assert redolab("run", "sampling-distribution", "--blocks", "2", "--out", out).code == 0
    ended = redolab("forecast", out, "--set", "sessions=8")
    assert (ended.code, ended.out) == (2, "")
    assert "redolab run calibrate" in ended.err


class Counted:
    """A table that counts how often its rows are read."""

    def __init__(self, table: Any) -> None:
        self._table, self.read = table, 0

    def to_pylist(self) -> list[dict[str, Any]]:
        self.read += 1
        rows: list[dict[str, Any]] = self._table.to_pylist()
        return rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def __getitem__(self, name: str) -> Any:
        return self._table[name]


def test_a_report_computes_costs_once_and_reads_each_table_once(
    costs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Run] = []

    def counted(run: Run) -> RunCosts:
        calls.append(run)
        return calibrate(run)

    monkeypatch.setattr(of_run, "calibrate", counted)
    shutil.copytree(costs, tmp_path / "run")
    names = ("samples", "waits", "profile", "overhead", "latency")
    run = open_run(tmp_path / "run")
    tables: dict[str, Any] = {name: Counted(getattr(run, name)) for name in names}
    make_results(replace(run, **tables))
    assert len(calls) == 1
    assert {name: table.read for name, table in tables.items()} == dict.fromkeys(names, 1)
