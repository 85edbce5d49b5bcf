"""Redolab killed while its processes spin: none of them goes on, and what was measured is kept."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab import open_run
from tests.servers import command, wait_until


def spinners(parent: int) -> list[int]:
    """The processes for CPU work that this Redolab started, and that have not ended."""
    wanted = ["-m", "redolab.engine.machine.spinner", str(parent)]
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if words[1:4] == wanted:
            found.append(int(place.name))
    return found


def at_work(pid: int) -> bool:
    """Whether it has used more CPU than starting takes."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) > 500_000_000


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    # Samples of a minute: whatever is struck is struck in the middle of one, or of the first warm-up.
    words = command("run", "cpu-capacity", "--seconds", "60", "--blocks", "2", "--out", tmp_path / "run")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        wait_until(lambda: any(at_work(pid) for pid in spinners(process.pid)), "a process at work")
        yield process
        process.kill()


def test_sigkill_leaves_no_process(running: subprocess.Popen[str]) -> None:
    assert len(spinners(running.pid)) >= 2
    os.kill(running.pid, signal.SIGKILL)
    wait_until(lambda: not spinners(running.pid), "the end of every process")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_no_process(
    number: signal.Signals, running: subprocess.Popen[str], tmp_path: Path
) -> None:
    # As a terminal does it: to every process of the session.
    os.killpg(running.pid, number)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130, said
    assert "Traceback" not in said
    assert spinners(running.pid) == []
    # A sample that was not over is dropped; a run without any leaves no directory.
    assert not (tmp_path / "run").exists() or open_run(tmp_path / "run").samples.num_rows > 0
