"""The simulation against a PostgreSQL that was measured: flush time and CPU go in, throughput comes out."""

from __future__ import annotations

import csv
from pathlib import Path

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
)
from redolab.model.distribution import constant, gamma
from redolab.model.group_commit import GroupCommitParameters, simulate

MEASURED = Path(__file__).parent / "data" / "group_commit_measured.csv"


def rows() -> list[dict[str, float]]:
    with MEASURED.open() as lines:
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [{name: float(value) for name, value in row.items()} for row in table]


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['sessions']:g} sessions")
def test_throughput_and_commits_per_flush_follow_from_what_was_measured_directly(
    row: dict[str, float],
) -> None:
    """Flush time and CPU per commit go in. CPU time that is left over beside the work is that of the waits
    that the simulation has, and divided as `redolab.model.calibration` divides it; the server's flush time
    has the leader's waking in it.
    """
    work_s = row["cpu_without_waiting_ms"] / 1e3
    left_s, waits = row["cpu_per_commit_ms"] / 1e3 - work_s, 1.0
    for _ in range(6):
        wait_s = left_s / waits
        parameters = GroupCommitParameters(
            sessions=int(row["sessions"]), cpus=2, commit_cpu=gamma(work_s, CPU_CV), quantum_s=QUANTUM_S,
            sleep_s=SLEEP_SHARE * wait_s, wake_s=WAKE_SHARE * wait_s, post_s=POST_SHARE * wait_s,
            device=constant(row["flush_time_ms"] / 1e3 - WAKE_SHARE * wait_s),
            idle_exit_s=IDLE_EXIT_S, halt_exit_s=HALT_EXIT_S, halt_after_s=HALT_AFTER_S,
            own_queues=True, imbalance=1, balance_s=BALANCE_S,
        )  # fmt: skip
        seen = simulate(parameters, 1, 20_000)
        waits = seen.log_waits_per_commit.point
    assert seen.throughput_per_s.point == pytest.approx(row["throughput_per_s"], rel=0.06)
    assert seen.commits_per_flush is not None
    assert seen.commits_per_flush.point == pytest.approx(row["commits_per_flush"], rel=0.06)
