"""What the kernel shows of threads that are made to do known things, and the names that makes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from redolab.engine.linux.thread_looks import Look, ThreadLooks, age_s
from redolab.engine.mariadb.observer.server import quoted
from redolab.engine.mariadb.observer.waits import (
    ASLEEP,
    AWAKE,
    ROW_LOCK,
    UNKNOWN,
    Active,
    ObservedWait,
    file_event,
    instrument_event,
    name_background,
    name_session,
    timed_files,
)
from redolab.engine.sampling.event_codes import IDLE, NOTHING
from tests.servers import wait_until


@contextmanager
def doing(program: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("while True: pass", Look("running")),
        ("import time; time.sleep(1000)", Look("sleep")),
        ("import select; select.select([], [], [], 1000)", Look("socket")),
        ("import threading as t; a = t.Lock(); a.acquire(); a.acquire()", Look("futex")),
        ("import threading as t; a = t.Lock(); a.acquire(); a.acquire(timeout=1000)", Look("timed futex")),
        ("import signal; signal.pause()", None),
    ],
)
def test_a_look_at_what_a_thread_does(program: str, expected: Look | None) -> None:
    with doing(program) as process, closing(ThreadLooks(process.pid)) as looks:
        if expected is None:
            wait_until(
                lambda: getattr(looks.look(process.pid), "doing", "") == "call", "it waits for a signal"
            )
        else:
            wait_until(lambda: looks.look(process.pid) == expected, f"it is seen {expected}")


def test_a_look_at_a_file_names_it(tmp_path: Path) -> None:
    pipe = tmp_path / "ib_logfile0"
    os.mkfifo(pipe)
    reading = "import os, sys; os.read(os.open(sys.argv[1], os.O_RDWR), 1)"
    with doing(reading, str(pipe)) as process, closing(ThreadLooks(process.pid)) as looks:
        wait_until(lambda: looks.look(process.pid) == Look("read", str(pipe)), "it reads")


def test_a_thread_that_ended_is_not_looked_at() -> None:
    with doing("import time; time.sleep(1000)") as process, closing(ThreadLooks(process.pid)) as looks:
        assert looks.look(process.pid) is not None
        process.kill()
        process.wait()
        assert looks.look(process.pid) is None
        assert age_s(process.pid) is None


def test_threads_that_are_gone_keep_no_file_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with doing("import time; time.sleep(1000)") as process, closing(ThreadLooks(process.pid)) as looks:
        looks.keep(set())
        process.kill()
        process.wait()
        assert looks.look(process.pid) is None
        assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1  # The pipe to the process.


def test_another_users_threads_may_not_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError):
        ThreadLooks(os.getpid())


COMMITTING = Active("Commit", 7)


@pytest.mark.parametrize(
    ("look", "active", "locked", "running", "expected"),
    [
        # The kernel's word first.
        (Look("running"), COMMITTING, False, None, ObservedWait(NOTHING, AWAKE)),
        (Look("running"), None, False, None, ObservedWait(NOTHING, AWAKE, torn=True)),
        (Look("socket"), None, False, None, ObservedWait(IDLE, ASLEEP)),
        (Look("socket"), COMMITTING, False, None, ObservedWait(IDLE, ASLEEP, torn=True)),
        (Look("socket"), Active("Writing to net", 7), False, None, ObservedWait(IDLE, ASLEEP)),
        (
            Look("flush", "/d/ib_logfile0"), COMMITTING, False, None,
            ObservedWait(("IO", "redo log flush"), ASLEEP),
        ),
        (
            Look("read", "/d/t/a.ibd"), None, False, None,
            ObservedWait(("IO", "data file read"), ASLEEP, torn=True),
        ),
        (Look("call", "285"), COMMITTING, False, None, ObservedWait(("Kernel", "system call 285"), ASLEEP)),
        (Look("call", "-1"), COMMITTING, False, None, ObservedWait(("Kernel", "page fault"), ASLEEP)),
        # Then the server's: locks, stages, instruments.
        (Look("futex"), COMMITTING, False, None, ObservedWait(("Stage", "Commit"), ASLEEP)),
        (Look("futex"), None, False, None, ObservedWait(("Kernel", "futex"), ASLEEP, torn=True)),
        (Look("futex"), Active("Updating", 7), True, None, ObservedWait(ROW_LOCK, ASLEEP)),
        (Look("timed futex"), Active("Updating", 7), False, None, ObservedWait(ROW_LOCK, ASLEEP)),
        # In some stages a session only works: by the kernel's word it has gone on to another one.
        (
            Look("futex"), Active("freeing items", None), False, None,
            ObservedWait(("Kernel", "futex"), ASLEEP, torn=True),
        ),
        (None, Active("System lock", None), False, None, ObservedWait(NOTHING, UNKNOWN)),
        (
            Look("timed futex"), Active("User sleep", 7), False, None,
            ObservedWait(("Stage", "User sleep"), ASLEEP),
        ),
        (
            Look("futex"), Active("Updating", 7, "wait/synch/mutex/sql/LOCK_open"), False, None,
            ObservedWait(("Synch", "mutex/sql/LOCK_open"), ASLEEP),
        ),
        (
            Look("futex"), Active("Commit", 7, "wait/synch/cond/sql/COND_queue_busy"), False, None,
            ObservedWait(("Stage", "Commit"), ASLEEP),
        ),
        # Without the kernel's look at the call; without the kernel.
        (None, COMMITTING, False, True, ObservedWait(NOTHING, AWAKE)),
        (None, COMMITTING, False, False, ObservedWait(("Stage", "Commit"), ASLEEP)),
        (None, COMMITTING, False, None, ObservedWait(("Stage", "Commit"), UNKNOWN)),
        (None, Active("Updating", 7), True, None, ObservedWait(ROW_LOCK, UNKNOWN)),
        (None, Active("", 7), False, None, ObservedWait(NOTHING, UNKNOWN)),
        (None, None, False, None, ObservedWait(IDLE, ASLEEP)),
    ],
)  # fmt: skip
def test_a_session_is_named(
    look: Look | None, active: Active | None, locked: bool, running: bool | None, expected: ObservedWait
) -> None:
    assert name_session(look, active, locked, running) == expected


@pytest.mark.parametrize(
    ("look", "running", "expected"),
    [
        (Look("running"), None, ObservedWait(NOTHING, AWAKE)),
        (Look("timed futex"), None, ObservedWait(IDLE, ASLEEP)),
        (Look("aio"), None, ObservedWait(IDLE, ASLEEP)),
        (Look("write", "/d/#ib_redo12"), None, ObservedWait(("IO", "redo log write"), ASLEEP)),
        (None, True, ObservedWait(NOTHING, AWAKE)),
        (None, False, ObservedWait(IDLE, ASLEEP)),
    ],
)
def test_a_background_thread_is_idle_without_work_in_hand(
    look: Look | None, running: bool | None, expected: ObservedWait
) -> None:
    assert name_background(look, running) == expected


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/mysql/ib_logfile0", "redo log"),
        ("/var/lib/mysql/#innodb_redo/#ib_redo33_tmp", "redo log"),
        ("/var/log/mysql/mysql-bin.000123", "binlog"),
        ("/var/lib/mysql/ibdata1", "data file"),
        ("/var/lib/mysql/undo001", "data file"),
        ("/var/lib/mysql/shop/orders#P#p0.ibd", "data file"),
        ("/var/lib/mysql/db1-relay-bin.000002", "relay log"),
        ("/var/lib/mysql/aria_log.00000001", "other file"),
        ("/tmp/#1234 (deleted)", "other file"),
    ],
)
def test_a_file_is_named_by_its_purpose(path: str, kind: str) -> None:
    assert file_event(path, "flush") == ("IO", f"{kind} flush")


def test_waits_that_hold_others_are_no_events() -> None:
    assert instrument_event("wait/io/table/sql/handler") is None
    assert instrument_event("idle") is None


def test_times_of_files_come_in_picoseconds() -> None:
    row = {"reads_n": 1, "read_ps": 2 * 10**12, "writes_n": 3, "write_ps": 10**9, "misc_n": 4, "misc_ps": 0}
    assert timed_files("wait/io/file/sql/binlog", row) == [
        (("IO", "binlog read"), 1, 2.0),
        (("IO", "binlog write"), 3, 0.001),
        (("IO", "binlog flush"), 4, 0.0),
    ]
    assert len(timed_files("wait/io/file/innodb/innodb_data_file", row)) == 2
    assert timed_files("wait/io/file/sql/FRM", row) == []


def test_a_quote_in_a_name_is_doubled() -> None:
    assert quoted("o'neill@%") == "'o''neill'@'%'"
