"""Room and caches of private servers, before one is made."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from redolab.engine.private.guard import Guard
from redolab.engine.private.place import cache_mib, check_room, take_charge
from redolab.errors import RefusedError
from redolab.experiment import find_experiment
from redolab.experiment.base import Wish


def test_a_cache_is_as_large_as_wanted_between_the_usual_size_and_a_quarter_of_the_memory() -> None:
    quarter = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 >> 20
    assert cache_mib(0, 64) == 64
    assert cache_mib(100 << 20, 64) == min(100, quarter)
    assert cache_mib(1 << 60, 64) == quarter


def test_room_is_refused_where_there_is_less_than_needed(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    check_room(tmp_path, free // 2)
    with pytest.raises(RefusedError, match="free some space there"):
        check_room(tmp_path, 2 * free, "free some space there")


def test_a_place_that_cannot_be_asked_is_no_reason_to_refuse(tmp_path: Path) -> None:
    check_room(tmp_path / "not there", 1 << 60)


def test_a_plan_of_many_versions_needs_room_time_and_cache() -> None:
    few, many = (
        find_experiment("consistent-read").plan(Wish(quick=True, settings=("0", most), seed=1))
        for most in ("1", "9")
    )
    versions = 720_000 + 2 * 9 * 40_000
    assert many.load.cache_bytes() == 4 * 48 * versions
    assert many.load.disk_bytes(None) - few.load.disk_bytes(None) == 3 * 48 * 2 * 8 * 40_000
    assert many.load.making_s({"rounds": "0"}) == 0
    assert many.load.making_s({"rounds": "9"}) == pytest.approx(9 * few.load.making_s({"rounds": "1"}))


def test_the_directory_of_a_server_is_made_by_its_guard_alone(tmp_path: Path) -> None:
    # A Redolab that was killed between making it and handing it over left a directory that nobody had.
    guard = Guard()
    os.kill(guard.pid, signal.SIGKILL)
    directory = tmp_path / "0123456789ab"
    with pytest.raises(RefusedError, match="cannot be made: the guard process is gone"):
        take_charge(directory, guard, {"directory": str(directory)})
    guard.close()
    assert list(tmp_path.iterdir()) == []
