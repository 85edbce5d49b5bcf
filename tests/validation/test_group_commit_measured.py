"""The simulation against a PostgreSQL that was measured: flush time and CPU go in, throughput comes out."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from redolab.model.calibration import (
    BALANCE_S,
    CPU_CV,
    HALT_AFTER_S,
    HALT_EXIT_S,
    IDLE_EXIT_S,
    POST_SHARE,
    QUANTUM_S,
    SLEEP_SHARE,
    WAKE_SHARE,
    spread_below,
)
from redolab.model.distribution import constant, gamma
from redolab.model.group_commit import GroupCommitParameters, GroupCommitResult, simulate

MEASURED = Path(__file__).parent / "data" / "group_commit_measured.csv"


def rows() -> list[dict[str, float]]:
    with MEASURED.open() as lines:
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [{name: float(value) for name, value in row.items()} for row in table]


def test_throughput_and_commits_per_flush_follow_from_what_was_measured_directly() -> None:
    """Flush time and CPU per commit go in. CPU time that is left over beside the work is that of flushes and
    of the waits that the simulation has: two costs, told apart by the settings' different shares of either.
    The server's flush time has all of a flush's CPU time in it, the leader's waking too.
    """
    measured = rows()
    left_s = [(row["cpu_per_commit_ms"] - row["cpu_without_waiting_ms"]) / 1e3 for row in measured]
    waits = [1.0 for _ in measured]
    seen: list[GroupCommitResult] = []
    for _ in range(6):
        shares = [[1 / row["commits_per_flush"], wait] for row, wait in zip(measured, waits, strict=True)]
        flush_s, wait_s = np.linalg.lstsq(shares, left_s, rcond=None)[0]
        seen = [simulate(parameters(row, flush_s, wait_s), 1, 20_000) for row in measured]
        waits = [each.log_waits_per_commit.point for each in seen]
    for row, each in zip(measured, seen, strict=True):
        assert each.throughput_per_s.point == pytest.approx(row["throughput_per_s"], rel=0.06)
        assert each.commits_per_flush is not None
        assert each.commits_per_flush.point == pytest.approx(row["commits_per_flush"], rel=0.03)


def parameters(row: dict[str, float], flush_cpu_s: float, wait_s: float) -> GroupCommitParameters:
    """With the CPU time of a flush and of a wait, divided as `redolab.model.calibration` divides them."""
    return GroupCommitParameters(
        sessions=int(row["sessions"]), cpus=2, commit_cpu=gamma(row["cpu_without_waiting_ms"] / 1e3, CPU_CV),
        device=constant(row["flush_time_ms"] / 1e3 - flush_cpu_s),
        flush_cpu_s=flush_cpu_s - WAKE_SHARE * wait_s, sleep_s=SLEEP_SHARE * wait_s,
        wake_s=WAKE_SHARE * wait_s, post_s=POST_SHARE * wait_s,
        idle_exit_s=IDLE_EXIT_S, halt_exit_s=HALT_EXIT_S, halt_after_s=HALT_AFTER_S, quantum_s=QUANTUM_S,
        own_queues=True, device_cpu=0, spread_below=spread_below(2), balance_s=BALANCE_S,
    )  # fmt: skip
