from __future__ import annotations

from dataclasses import replace

import pytest

from redolab.analysis import time_based
from redolab.analysis.waits import NOTHING, SampledProcesses
from redolab.records.design import Trial
from redolab.records.sample import ProcessTime, Sample, WaitRow

from .synthetic import Behaviour, one_sample


@pytest.fixture
def sample() -> Sample:
    """Two sessions for 10 s: 1,000 commits, 4 s CPU, 1 s run queue, so 15 s blocked."""
    trial = Trial(1, 1, 1, "wait/immediate", "baseline_a")
    base, _, _ = one_sample(trial, Behaviour(0.01, 0.001))
    return replace(
        base,
        elapsed_s=10.0,
        sessions=2,
        commits=1000,
        session_elapsed_s=20.0,
        session_cpu_s=4.0,
        session_run_queue_s=1.0,
        instance_cpu_s=4.5,
        instance_run_queue_s=1.2,
        ticks=1000,
        log_flushes=500,
        log_flush_time_s=2.0,
        log_write_time_s=0.5,
        log_bytes=200_000,
        host_cpus=2,
        host_busy_s=5.0,
    )


def background(wait_class: str, event: str, ticks: int, state: str = "asleep") -> WaitRow:
    return WaitRow(1, "background", "walwriter", wait_class, event, state, ticks)


def test_session_account(sample: Sample) -> None:
    found = time_based.session_account(sample)
    assert found.arrival_rate == 100.0
    assert found.service_time == pytest.approx(0.004)
    assert found.queue_time == pytest.approx(0.016)
    assert found.run_queue_time == pytest.approx(0.001)
    assert found.response_time == pytest.approx(0.020)


def test_a_remote_server_still_has_a_response_time(sample: Sample) -> None:
    remote = replace(
        sample,
        session_cpu_s=None,
        session_run_queue_s=None,
        instance_cpu_s=None,
        instance_run_queue_s=None,
    )
    found = time_based.session_account(remote)
    assert (found.service_time, found.queue_time, found.run_queue_time) == (None, None, None)
    assert found.response_time == pytest.approx(0.020)
    assert time_based.instance_account(remote, NOTHING).response_time is None
    assert time_based.session_blocked_s(remote) is None


def test_instance_account_adds_the_background_that_is_not_idle(sample: Sample) -> None:
    waits = SampledProcesses(
        (
            background("IO", "WalSync", 200),  # 200 of 1,000 readings of 10 s: 2 s
            background("Activity", "WalWriterMain", 700),
            background("Client", "WalSenderWaitForWal", 700),
            background("", "", 700),
            background("IO", "DataFileWrite", 100, "runnable"),
        )
    )
    found = time_based.instance_account(sample, waits)
    assert found.service_time == pytest.approx(0.0045)
    assert found.queue_time == pytest.approx((1.2 + 15.0 + 2.0) / 1000)
    assert found.response_time == pytest.approx((4.5 + 1.2 + 15.0 + 2.0) / 1000)


def test_exact_accounts_of_the_background_are_divided_like_those_of_the_sessions(
    sample: Sample,
) -> None:
    # There all 10 s (1,000 ticks), 1 s on CPU and 5 s in the run queue: 4 s blocked, of which the
    # ticks asleep say 200 in 800. The 200 runnable ticks undercount the time awake.
    waits = (
        background("IO", "WalSync", 200),
        background("Activity", "WalWriterMain", 600),
        background("IO", "WalSync", 200, "runnable"),
    )
    processes = (
        ProcessTime(1, 7, "walwriter", "background", 1_000_000_000, 5_000_000_000),
        ProcessTime(1, 8, "checkpointer", "background", 9_000_000_000, 0),
        ProcessTime(1, 9, "walwriter", "session", 9_000_000_000, 0),
    )
    found = time_based.background_blocked_s(sample, SampledProcesses(waits, processes))
    assert found == pytest.approx({("IO", "WalSync"): 1.0})


def test_a_worker_seen_for_less_than_its_cpu_counts_by_ticks(sample: Sample) -> None:
    waits = (background("IO", "DataFileRead", 10),)
    processes = (ProcessTime(1, 7, "walwriter", "background", 1_000_000_000, 0),)
    found = time_based.background_blocked_s(sample, SampledProcesses(waits, processes))
    assert found == pytest.approx({("IO", "DataFileRead"): 0.1})


def test_without_ticks_the_instance_has_no_queue_time(sample: Sample) -> None:
    found = time_based.instance_account(replace(sample, ticks=0), NOTHING)
    assert found.service_time == pytest.approx(0.0045)
    assert (found.queue_time, found.response_time) == (None, None)


def test_negative_blocked_time_is_kept(sample: Sample) -> None:
    over = replace(sample, session_cpu_s=19.5, session_run_queue_s=1.0)
    assert time_based.session_blocked_s(over) == pytest.approx(-0.5)


def test_log_figures(sample: Sample) -> None:
    assert time_based.commits_per_flush(sample) == 2.0
    assert time_based.flush_time_s(sample) == pytest.approx(0.004)
    assert time_based.log_bytes_per_commit(sample) == 200.0
    assert time_based.host_cpu_share(sample) == pytest.approx(0.25)
    assert time_based.log_write_share(sample, NOTHING) == pytest.approx(2.5 / 15)


def test_no_flush_is_not_a_division_by_zero(sample: Sample) -> None:
    assert time_based.commits_per_flush(replace(sample, log_flushes=0)) is None
    assert time_based.flush_time_s(replace(sample, log_flushes=None)) is None
