"""Each server of the family, with a binary log, as somebody else runs it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engine.mariadb.held.holding import (
    account,
    await_no_session,
    databases,
    grants_of,
    settings,
)
from tests.mariadb import MariaDB, running_mariadb
from tests.server_programs import FAMILY, INSTALLED

Start = Callable[[str], MariaDB]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Marks of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "redolab" / "databases"


@pytest.fixture(scope="package")
def start() -> Iterator[Start]:
    """Starts each server once, when it is first asked for."""
    place = Path(tempfile.mkdtemp(prefix="redolab-held-"))
    started: dict[str, MariaDB] = {}
    with ExitStack() as stack:

        def get(name: str) -> MariaDB:
            if name not in started:
                own = place / str(len(started))
                started[name] = stack.enter_context(
                    running_mariadb(own, "--log-bin", "--sync-binlog=1", name=name)
                )
            return started[name]

        yield get
    shutil.rmtree(place)


@pytest.fixture(params=FAMILY)
def server(request: pytest.FixtureRequest, start: Start) -> Iterator[MariaDB]:
    """Every one of them in turn; it ends as it was."""
    found = start(request.param)
    before = settings(found)
    there = databases(found)
    yield found
    assert settings(found) == before
    assert databases(found) == there


@pytest.fixture
def url(server: MariaDB) -> Iterator[str]:
    """The URL of a user who has what a run needs, and nothing more."""
    with account(server, "bench", *grants_of(server)) as it:
        yield it
        await_no_session(server, "bench")


@pytest.fixture
def own() -> Iterator[MariaDB]:
    """The system's own, which may be stopped."""
    place = Path(tempfile.mkdtemp(prefix="redolab-held-"))
    with running_mariadb(place / "n", "--log-bin", "--sync-binlog=1", name=INSTALLED) as it:
        yield it
    shutil.rmtree(place)
