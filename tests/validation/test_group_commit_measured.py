"""The simulation against a PostgreSQL that was measured: flush time and CPU go in, throughput comes out."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

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
    """Flush time and CPU per commit go in. What a wait costs in CPU is half going to sleep, half waking up;
    the server's flush time has the leader's waking in it.
    """
    work_s = row["cpu_without_waiting_ms"] / 1e3
    wake_s = (row["cpu_per_commit_ms"] / 1e3 - work_s) / 2
    parameters = GroupCommitParameters(
        sessions=int(row["sessions"]), cpus=2, commit_cpu=gamma(work_s, 0.3), wake_s=wake_s,
        device=constant(row["flush_time_ms"] / 1e3 - wake_s),
    )  # fmt: skip
    seen = simulate(parameters, 1, 20_000)
    assert seen.throughput_per_s.point == pytest.approx(row["throughput_per_s"], rel=0.08)
    assert seen.commits_per_flush is not None
    assert seen.commits_per_flush.point == pytest.approx(row["commits_per_flush"], rel=0.06)
