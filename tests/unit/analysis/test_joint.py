from __future__ import annotations

from dataclasses import replace

import pytest

from redolab.analysis.joint import joint
from redolab.analysis.waits import SampledProcesses
from redolab.records.design import Trial
from redolab.records.sample import Sample, WaitRow

from .synthetic import Behaviour, one_sample


@pytest.fixture
def sample() -> Sample:
    """Ten session-seconds: 2 s CPU, 1 s run queue, 7 s asleep."""
    base, _, _ = one_sample(Trial(1, 1, 1, "wait/immediate", "baseline_a"), Behaviour(0.01, 0.001))
    return replace(
        base, session_elapsed_s=10.0, session_cpu_s=2.0, session_run_queue_s=1.0, host_busy_s=4.0,
        host_steal_s=0.0,
    )  # fmt: skip


def row(event: str, state: str, ticks: int, scope: str = "session") -> WaitRow:
    wait_class = {"": "", "ClientRead": "Client"}.get(event, "IO")
    return WaitRow(1, scope, "client backend", wait_class, event, state, ticks)  # type: ignore[arg-type]


ROWS = (
    row("", "on_cpu", 30),
    row("WalSync", "on_cpu", 10),
    row("", "runnable", 5),
    row("WalSync", "runnable", 15),
    row("WalSync", "asleep", 70),
    row("WalSync", "unknown", 5),
    row("", "asleep", 25),
    # Neither the sessions' work nor a state that was seen.
    row("ClientRead", "asleep", 500),
    row("WalSync", "asleep", 500, "background"),
    row("", "unknown", 7),
)


def test_columns_are_exact_and_ticks_divide_them(sample: Sample) -> None:
    found = joint([sample], {1: SampledProcesses(ROWS)})
    assert found is not None
    assert found["posted"] == pytest.approx({"on_cpu": 0.05, "run_queue": 0.075, "asleep": 0.525})
    assert found["not_posted"] == pytest.approx({"on_cpu": 0.15, "run_queue": 0.025, "asleep": 0.175})


def test_with_steal_the_whole_less_it_is_divided(sample: Sample) -> None:
    # Half of the machine's 0.8 s: 4 % of ten session-seconds.
    found = joint([replace(sample, host_steal_s=0.8)], {1: SampledProcesses(ROWS)})
    assert found is not None
    cells = [cell for part in found.values() for cell in part.values() if cell is not None]
    assert sum(cells) == pytest.approx(0.96)


def test_a_column_with_time_but_no_tick_is_not_divided(sample: Sample) -> None:
    rows = tuple(item for item in ROWS if item.state != "runnable")
    found = joint([sample], {1: SampledProcesses(rows)})
    assert found is not None
    assert (found["posted"]["run_queue"], found["not_posted"]["run_queue"]) == (None, None)
    assert found["posted"]["asleep"] == pytest.approx(0.525)
    empty = joint([replace(sample, session_run_queue_s=0.0)], {1: SampledProcesses(rows)})
    assert empty is not None
    assert empty["posted"]["run_queue"] == 0.0


def test_states_that_were_not_told_apart_give_no_matrix(sample: Sample) -> None:
    old = tuple(replace(item, state="runnable") if item.state == "on_cpu" else item for item in ROWS)
    assert joint([sample], {1: SampledProcesses(old)}) is None
    assert joint([sample], {}) is None
    assert joint([replace(sample, session_cpu_s=None)], {1: SampledProcesses(ROWS)}) is None
    assert joint([], {}) is None
