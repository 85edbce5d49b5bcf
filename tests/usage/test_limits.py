"""A limit of the machine is reached: a sentence with exit code 3, and what was stored before can be read."""

from __future__ import annotations

import errno
import os
import resource

import pytest

from redolab.commands.process import exit_code
from tests.conftest import Redolab
from tests.kill.machine import Running, assert_nothing_left, short_place


def test_files_run_out_in_a_run(redolab: Redolab) -> None:
    with short_place() as place:
        running = Running(place, "--blocks", "3", "--seconds", "0.3", "--settings", "wait,nowait")
        running.await_samples(3)
        resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (8, 8))
        assert running.end() == 3
        complaint = running.said[-1]
        assert complaint.startswith(
            "redolab: The limit for open files of a process (`ulimit -n`) is reached: "
        )
        assert_nothing_left(place)
        assert running.stored() >= 3
        done = redolab("report", running.out)
        assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "ulimit -n"),
        (OSError("/proc/stat: Too many open files (os error 24)"), "ulimit -n"),
        (OSError(errno.ENFILE, os.strerror(errno.ENFILE)), "fs.file-max"),
        (BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)), "ulimit -u"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
    ],
)
def test_a_limit_that_is_reached_is_a_sentence(
    error: Exception, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def do() -> None:
        raise error

    assert exit_code(do) == 3
    assert limit in capsys.readouterr().err


@pytest.mark.parametrize("error", [OSError(errno.EIO, "x"), OSError("x (os error 5)"), RuntimeError("x")])
def test_what_is_no_limit_stays_unforeseen(error: Exception) -> None:
    def do() -> None:
        raise error

    with pytest.raises(type(error)):
        exit_code(do)
