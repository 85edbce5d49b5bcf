"""The compiled part and what its stub promises."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from redolab import _core

ROOT = Path(__file__).parents[2]


def test_the_stub_tells_the_truth() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "redolab._core"]
    check = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout + check.stderr


def test_a_server_is_its_postmaster_and_its_children() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        server = _core.server_tasks(os.getpid())
        states = _core.task_states([os.getpid(), child.pid])
        child.kill()
    postmaster, *children = server.tasks
    assert (postmaster.pid, postmaster.kind) == (os.getpid(), "postmaster")
    assert child.pid in {task.pid for task in children}
    assert None not in states
    assert _core.task_states([child.pid]) == [None]


def test_the_account_of_a_child_that_ended_is_with_its_parent() -> None:
    before = _core.server_tasks(os.getpid()).reaped_cpu_ns
    code = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)
    after = _core.server_tasks(os.getpid()).reaped_cpu_ns
    assert after - before >= 280_000_000  # whole ticks of 10 ms


def test_a_server_that_is_not_there_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError, match="/proc/4294967295/stat"):
        _core.server_tasks(2**32 - 1)


def test_machine_times_are_wall_time_on_every_cpu() -> None:
    begin, before = time.monotonic(), _core.machine_times()
    time.sleep(0.5)
    end, after = time.monotonic(), _core.machine_times()
    passed_ns = sum(
        getattr(after, name) - getattr(before, name) for name in ("busy_ns", "steal_ns", "idle_ns")
    )
    assert passed_ns / 1e9 == pytest.approx((end - begin) * after.cpus, rel=0.2)
