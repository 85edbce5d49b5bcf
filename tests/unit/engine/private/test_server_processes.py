"""Which processes are a private server's: by what the kernel says, and never one with a used number."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from redolab.engine.private.processes import Process, find_process, is_alive, kill_server, stop_server

NOBODY = 65534
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.mkdir()
    return path


@pytest.fixture
def programs() -> Iterator[Path]:
    """A directory from which every user can start programs."""
    with tempfile.TemporaryDirectory(prefix="redolab-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def start(programs: Path) -> Iterator[Start]:
    """Starts a program that sleeps, by a name."""
    sleep = shutil.which("sleep")
    assert sleep is not None
    started = []

    def run(name: str, place: Path, **options: Any) -> subprocess.Popen[bytes]:
        program = programs / name
        if not program.exists():
            shutil.copy(sleep, program)
        started.append(subprocess.Popen([program, "600"], cwd=place, **options))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.wait()


def process_of(started: subprocess.Popen[bytes]) -> Process:
    found = find_process(started.pid)
    assert found is not None
    return found


def test_a_later_process_with_the_same_number_is_another(start: Start, data: Path) -> None:
    sleeper = start("postgres", data)
    process = process_of(sleeper)
    assert is_alive(process)
    earlier = Process(process.pid, process.start_ticks - 1)
    assert not is_alive(earlier)
    kill_server(earlier)
    assert is_alive(process)
    kill_server(process)
    assert not is_alive(process)
    assert find_process(2**22 + 1) is None


def test_a_server_is_killed_with_its_children(data: Path) -> None:
    with subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = find_process(int(parent.stdout.readline()))
        assert child is not None
        kill_server(process_of(parent))
        assert not is_alive(child)


def test_server_programs_in_the_data_directory_are_stopped_and_no_others(
    start: Start, data: Path, tmp_path: Path
) -> None:
    servers = [process_of(start(name, data)) for name in ("postgres", "mariadbd", "initdb")]
    (tmp_path / "link").symlink_to(data)
    servers.append(process_of(start("postgres", tmp_path / "link")))
    elsewhere = process_of(start("postgres", tmp_path))
    # Somebody who looks around there.
    shell = process_of(start("a_shell", data))
    stop_server(data.stat())
    assert not any(map(is_alive, servers))
    assert is_alive(elsewhere)
    assert is_alive(shell)


def test_one_that_does_not_heed_is_killed(
    data: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redolab.engine.private.processes._STOP_LIMIT_S", 0.2)
    shell = shutil.which("sh")
    assert shell is not None
    shutil.copy(shell, programs / "postgres")
    words = [str(programs / "postgres"), "-c", "trap '' QUIT; echo; read it"]
    with subprocess.Popen(words, cwd=data, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stubborn:
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
        process = process_of(stubborn)
        stop_server(data.stat())
        assert not is_alive(process)


def test_only_what_the_directorys_owner_could_end_himself_is_ended(start: Start, data: Path) -> None:
    if os.geteuid() != 0:
        assert data.stat().st_uid == os.geteuid()
        return
    os.chown(data, NOBODY, NOBODY)
    roots = process_of(start("postgres", data))
    theirs = process_of(start("mariadbd", data, user=NOBODY, group=NOBODY, extra_groups=[]))
    stop_server(data.stat())
    assert is_alive(roots)
    assert not is_alive(theirs)
