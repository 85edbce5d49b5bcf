"""Servers and the command line, for the tests that need real ones."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from redolab import cli
from redolab.password_command import VARIABLE
from tests.servers import (
    NEWEST,
    PASSWORD,
    Ended,
    Server,
    made,
    not_here,
    programs_of,
    running,
    versions_in_short,
    versions_in_whole,
)
from tests.side_by_side import turn_of
from tests.workers import Groups

_numbers = count(1)
Redolab = Callable[..., Ended]
_ROOT = Path(__file__).parents[1]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In which order the tests begin."""
    items.sort(key=lambda item: turn_of(item.path.relative_to(_ROOT).as_posix()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Which tests share a worker, where there are several."""
    return Groups(config, log)


def pytest_collection_finish() -> None:
    """What is there before the first test is looked through no more.

    statsmodels collects garbage each time it adjusts p-values, which takes longer than the analysis else.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _own_home() -> Iterator[None]:
    """What Redolab keeps for a user is this session's alone: not the user's, nor that of tests beside it."""
    place = Path(tempfile.mkdtemp(prefix="redolab-home-"))
    place.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setenv("XDG_DATA_HOME", str(place / "data"))
        yield
    shutil.rmtree(place)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """Starts the server of a version once, when it is first asked for."""
    # The path of a socket may be no longer than 107 bytes.
    base = Path(tempfile.mkdtemp(prefix="redolab-test-"))
    base.chmod(0o755)
    started: dict[str, tuple[Server, Iterator[Server]]] = {}

    def start(version: str) -> Server:
        if version not in started:
            life = running(programs_of(version), base / version)
            started[version] = (next(life), life)
        return started[version][0]

    yield start
    for _, life in started.values():
        next(life, None)
    shutil.rmtree(base)


@pytest.fixture(params=versions_in_whole())
def server(request: pytest.FixtureRequest, servers: Callable[[str], Server]) -> Iterator[Server]:
    """A server of each version that is tested whole."""
    with servers(request.param).parameters_kept() as it:
        yield it


@pytest.fixture(params=versions_in_short())
def further(request: pytest.FixtureRequest, servers: Callable[[str], Server]) -> Iterator[Server]:
    """A server of each of the others, for what is tested on all."""
    with servers(request.param).parameters_kept() as it:
        yield it


@pytest.fixture
def newest(servers: Callable[[str], Server]) -> Iterator[Server]:
    """The server of the newest version."""
    with servers(NEWEST).parameters_kept() as it:
        yield it


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that may be stopped and crashed."""
    place = Path(tempfile.mkdtemp(prefix="redolab-test-"))
    place.chmod(0o755)
    yield from running(programs_of(NEWEST), place / "server")
    place.rmdir()


@pytest.fixture
def database() -> str:
    """A name that no other test uses."""
    return f"test_{next(_numbers)}"


@pytest.fixture
def url(newest: Server, database: str) -> Iterator[str]:
    """The URL of a database of this test's own, in the newest server."""
    with made(newest, database) as it:
        yield it


@pytest.fixture
def redolab(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Redolab]:
    """Runs the command line in this process."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    # What a command sets is gone with its test.
    monkeypatch.setenv(VARIABLE, "")

    def run(*arguments: str | Path) -> Ended:
        monkeypatch.setattr(sys, "argv", ["redolab", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Ended(code, out, err)

    # Ctrl-C must still end the tests themselves in good order.
    monkeypatch.setattr(cli, "end_when_interrupted", lambda _: None)
    monkeypatch.setattr(os, "execv", not_here)
    before = signal.getsignal(signal.SIGINT)
    yield run
    signal.signal(signal.SIGINT, before)
