"""The simulation against a PostgreSQL that was measured: costs go in, throughput and commits per flush out.

What was measured is a part of a run of `benches/forecast_grid.py`, cut out by `tests.validation.cut_run`: a
loop inside PostgreSQL 18.6 before an emulated log device of at least 1 ms, 8 blocks, on 2 virtual CPUs with
nothing beside it.
"""

from __future__ import annotations

import statistics

import pytest

from redolab import open_run
from redolab.forecast.costs.costs import Scenario, parameters
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.direct.measured import measured_settings
from redolab.model.group_commit import simulate
from tests.validation.cut_run import MEASURED

CALIBRATED_ON = {(1, 1), (32, 1), (32, 32)}
"""Sessions and rows per commit of those that wait for the log."""
HELD_OUT = [(2, 1), (4, 1), (8, 1), (16, 1), (2, 32), (8, 32)]


def test_throughput_and_commits_per_flush_follow_from_what_was_measured_directly() -> None:
    """Of settings that the costs were not read from, over an eightfold range of sessions, wherever a commit's
    time goes: to the device, to who leads, to the CPUs.
    """
    run = open_run(MEASURED)
    levels = {item["name"]: item["levels"] for item in run.manifest["settings"]}
    setting = {name: (int(each["sessions"]), int(each["rows_per_commit"])) for name, each in levels.items()}
    waits = {
        name
        for name, each in levels.items()
        if each["commit_wait"] == "wait" and each["commit_delay_us"] == "0" and "pause_ms" not in each
    }
    held_out = {setting[name]: name for name in waits if setting[name] not in CALIBRATED_ON}
    assert sorted(held_out) == sorted(HELD_OUT)
    known = {name for name in levels if name not in held_out.values()}
    costs = calibrate(run, known).point
    observed = measured_settings(run)
    errors = []
    for (sessions, rows), name in held_out.items():
        forecast = simulate(parameters(costs, Scenario(sessions, rows)), 1, 100_000)
        measured = {quantity: each.point for quantity, each in observed[name].items()}
        throughput = measured["throughput_per_s"]
        assert throughput is not None
        errors.append(abs(forecast.throughput_per_s.point / throughput - 1))
        assert forecast.commits_per_flush is not None
        assert forecast.commits_per_flush.point == pytest.approx(measured["commits_per_flush"], rel=0.03)
    assert statistics.median(errors) < 0.03
    assert max(errors) < 0.1
