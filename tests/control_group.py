"""A control group with a CPU quota, for the tests that run something under one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PERIOD_US = 100_000
_MOUNTS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/cpu,cpuacct"), Path("/sys/fs/cgroup"))


@contextmanager
def control_group(quota_cpus: float) -> Iterator[Path]:
    """Make a group with this quota, and remove it when nobody is in it any more.

    It has the greatest weight there is, so that what else runs on the machine has little say in how much of
    its quota it gets. Skips the test where it cannot be made: that needs root (or a directory that this user
    may write) and the controller `cpu`, of version 1 mounted or of version 2 handed down to groups.
    """
    place = _made()
    try:
        for name, value in (
            ("cpu.cfs_period_us", str(_PERIOD_US)),
            ("cpu.cfs_quota_us", str(round(quota_cpus * _PERIOD_US))),
            ("cpu.shares", "262144"),
            ("cpu.max", f"{round(quota_cpus * _PERIOD_US)} {_PERIOD_US}"),
            ("cpu.weight", "10000"),
        ):
            if (place / name).exists():
                (place / name).write_text(value)
        yield place
    finally:
        place.rmdir()


def inside(group: Path, command: list[str]) -> list[str]:
    """The command, begun as a member of the group."""
    return ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(group), *command]


def _made() -> Path:
    why = "no mount of the controller cpu"
    for mount in _MOUNTS:
        place = mount / f"redolab-test-{os.getpid()}"
        try:
            place.mkdir()
        except OSError as error:
            why = str(error)
            continue
        if (place / "cpu.max").exists() or (place / "cpu.cfs_quota_us").exists():
            return place
        place.rmdir()
        why = f"{mount} hands the controller cpu down to no group"
    pytest.skip(f"no control group with a CPU quota can be made here: {why}")
