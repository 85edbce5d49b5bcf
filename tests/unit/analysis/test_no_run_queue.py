"""A server that keeps accounts itself and tells CPU, but not the run queue: Oracle."""

from __future__ import annotations

from dataclasses import replace

import pytest

from redolab.analysis.joint import joint
from redolab.analysis.profile import account_of_instance, account_of_sessions
from redolab.analysis.time_based import instance_account, log_write_share, session_account
from redolab.analysis.waits import SampledProcesses
from redolab.measure.difference import process_times
from redolab.records.design import Trial
from redolab.records.sample import ProcessTime, Sample, Snapshot, TaskAccount, WaitRow

from .synthetic import Behaviour, one_sample

WAITS = (
    WaitRow(1, "session", "session", "Commit", "log file sync", "asleep", 6_000),
    WaitRow(1, "session", "session", "", "", "asleep", 2_000),
    WaitRow(1, "background", "LGWR", "System I/O", "log file parallel write", "asleep", 1_500),
    WaitRow(1, "background", "LGWR", "", "", "on_cpu", 100),
    WaitRow(1, "background", "LGWR", "Idle", "rdbms ipc message", "asleep", 3_400),
)
SEEN = SampledProcesses(WAITS, (ProcessTime(1, 2, "LGWR", "background", 100_000_000, None),))


@pytest.fixture
def sample() -> Sample:
    """Ten session-seconds in five: 2 s CPU, and nobody tells the run queue from the other eight."""
    base, _, _ = one_sample(Trial(1, 1, 1, "wait/immediate", "baseline_a"), Behaviour(0.01, 0.001))
    return replace(
        base, elapsed_s=5.0, session_elapsed_s=10.0, session_cpu_s=2.0, session_run_queue_s=None,
        instance_cpu_s=2.1, instance_run_queue_s=None, host_steal_s=None, ticks=5_000,
        commits=1_000, units=1_000, log_write_time_s=None, log_flush_time_s=1.5,
    )  # fmt: skip


def test_sessions_have_no_row_for_it_and_add_up(sample: Sample) -> None:
    account = account_of_sessions(sample, SEEN)
    assert account.times() == pytest.approx({"on_cpu": 2.0, "Commit:log file sync": 6.0, "unaccounted": 2.0})
    (cpu,) = [row for row in account.rows if row.row == "on_cpu"]
    assert cpu.source == "the server's own accounts of its sessions"


def test_the_instance_adds_up_too(sample: Sample) -> None:
    times = account_of_instance(sample, SEEN).times()
    assert times is not None
    assert times["on_cpu"] == pytest.approx(2.1)
    assert times["System I/O:log file parallel write"] == pytest.approx(1.5, rel=0.01)
    assert "run_queue" not in times
    assert log_write_share(sample, SEEN, write_flushes=True) == pytest.approx(1.5 / 9.5, rel=0.01)
    # Elsewhere a write has a time of its own, and here it is not known.
    assert log_write_share(sample, SEEN) is None


def test_queue_time_contains_it(sample: Sample) -> None:
    session, instance = session_account(sample), instance_account(sample, SEEN)
    assert (session.service_time, session.queue_time, session.run_queue_time) == pytest.approx(
        (0.002, 0.008, None)
    )
    assert instance.queue_time == pytest.approx(0.0095, rel=0.01)


def test_nobody_says_what_stood_in_it_with_a_wait_posted(sample: Sample) -> None:
    assert joint([sample], {1: SEEN}) is None


def test_a_difference_of_what_is_not_known_is_not_known() -> None:
    def snapshot(cpu_ns: int, run_queue_ns: int | None) -> Snapshot:
        return Snapshot(0.0, "", {}, (TaskAccount(7, "session", 1, cpu_ns, run_queue_ns),), 0, (7,))

    (time,) = process_times(1, snapshot(5, None), snapshot(9, None)) or []
    assert (time.cpu_ns, time.run_queue_ns) == (4, None)
    (time,) = process_times(1, snapshot(5, 1), snapshot(9, 3)) or []
    assert time.run_queue_ns == 2
