"""The processes of a private server: which they are, how they are ended, what they leave in the kernel.

They are known by what the kernel says of them, never by a file in the data directory, which the server's
user may write: a server and whatever it starts work in its data directory, as its owner. So nothing is
killed that this owner could not kill himself.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STOP_LIMIT_S = 10.0
_PROGRAMS = frozenset({"postgres", "initdb", "mariadbd", "mysqld", "unshare"})
_SEGMENTS = Path("/proc/sysvipc/shm")
# PostgreSQL's own is 56 bytes: the rest of its memory is not of this kind.
_SEGMENT_LIMIT = 4096


@dataclass(frozen=True)
class Process:
    """A process that is never confused with a later one of the same number."""

    pid: int
    start_ticks: int
    """When it started, in clock ticks since the machine's boot."""


def as_user(user: int | None) -> dict[str, Any]:
    """The arguments of `subprocess` that run a command as another user."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def find_process(pid: int) -> Process | None:
    """The process that has this number now."""
    fields = _stat(pid)
    return None if fields is None else Process(pid, int(fields[19]))


def is_alive(process: Process) -> bool:
    """Whether it has not ended; one whose parent has not asked yet has, once its last thread is gone."""
    fields = _stat(process.pid)
    if fields is None or int(fields[19]) != process.start_ticks:
        return False
    return fields[0] not in "ZX" or int(fields[17]) > 1


def kill_server(postmaster: Process) -> float:
    """Kill a server's processes at once; returns the monotonic time of it."""
    # A stopped postmaster starts no process that the list would miss, and keeps the numbers of its own.
    _signal(postmaster, signal.SIGSTOP)
    if not is_alive(postmaster):
        return time.monotonic()
    processes = (*_children(postmaster.pid), postmaster)
    killed_at = time.monotonic()
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    _await_end(processes)
    return killed_at


def stop_server(data: os.stat_result) -> None:
    """Stop whatever server works in a data directory, with all its processes."""
    processes = _working_in(data)
    members = {process.pid for process, _ in processes}
    for process, parent in processes:
        if parent not in members:
            # Immediate shutdown: the data is thrown away anyway.
            _signal(process, signal.SIGQUIT)
    if not _await_end([process for process, _ in processes]):
        # Those that started meanwhile too.
        left = [process for process, _ in _working_in(data)]
        for process in left:
            _signal(process, signal.SIGKILL)
        _await_end(left)
    _remove_segment(data)


def _working_in(data: os.stat_result) -> list[tuple[Process, int]]:
    """Server programs that work in a directory as its owner, each with its parent's pid."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (pid := int(entry.name)) != os.getpid():
            with suppress(OSError):
                text = Path(f"/proc/{pid}/stat").read_text()
                fields = text.rpartition(")")[2].split()
                program = text.partition("(")[2].rpartition(")")[0]
                if program in _PROGRAMS and _users(pid) == {data.st_uid}:
                    # Only now: the place of another's process may not answer.
                    place = Path(f"/proc/{pid}/cwd").stat()
                    if os.path.samestat(place, data):
                        processes.append((Process(pid, int(fields[19])), int(fields[1])))
    return processes


def _users(pid: int) -> set[int]:
    """Every user ID a process has: real, effective, saved, and that of its file access."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("Uid:"):
            return set(map(int, line.split()[1:]))
    return set()


def _children(pid: int) -> list[Process]:
    children = []
    for entry in Path("/proc").iterdir():
        fields = _stat(int(entry.name)) if entry.name.isdigit() else None
        if fields is not None and int(fields[1]) == pid:
            children.append(Process(int(entry.name), int(fields[19])))
    return children


def _stat(pid: int) -> list[str] | None:
    """The fields of a process's account, from its state on; None when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _signal(process: Process, number: signal.Signals) -> None:
    """Signal a process, unless it has ended and another may have its number."""
    if is_alive(process):
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def _await_end(processes: Iterable[Process]) -> bool:
    give_up = time.monotonic() + _STOP_LIMIT_S
    left = list(processes)
    while time.monotonic() < give_up:
        for process in left:
            # The guard is the server's parent, and has to ask for its end.
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
        left = [process for process in left if is_alive(process)]
        if not left:
            return True
        time.sleep(0.01)
    return False


def _remove_segment(data: os.stat_result) -> None:
    """Remove the small System V segment that a killed PostgreSQL leaves behind; a stopped one does not.

    Its key is the number of the data directory's inode. One with another owner, or in use, is not its.
    """
    try:
        lines = _SEGMENTS.read_text().splitlines()
    except OSError:
        return
    names = lines[0].split()
    for line in lines[1:]:
        segment = dict(zip(names, map(int, line.split()), strict=False))
        if (
            segment["key"] & 0xFFFFFFFF == data.st_ino & 0xFFFFFFFF
            and segment["cuid"] == segment["uid"] == data.st_uid
            and segment["nattch"] == 0
            and segment["size"] < _SEGMENT_LIMIT
            and shutil.which("ipcrm")
        ):
            owner = None if data.st_uid == os.geteuid() else data.st_uid
            subprocess.run(
                ["ipcrm", "-m", str(segment["shmid"])], capture_output=True, check=False, **as_user(owner)
            )
