"""Servers to be watched: each of the family, and one with all its instruments on."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engine.mariadb.observer.watching import prepare
from tests.mariadb import MariaDB, running_mariadb
from tests.server_programs import FAMILY, INSTALLED

INSTRUMENTED = f"{INSTALLED}, instrumented"
# As they come: MariaDB without performance_schema and binary log, MySQL with both.
OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(FAMILY, ()),
    INSTRUMENTED: (
        "--log-bin",
        "--sync-binlog=1",
        "--performance-schema=ON",
        "--performance-schema-consumer-events-waits-current=ON",
        "--performance-schema-instrument=wait/synch/cond/%=ON",
    ),
}
Start = Callable[[str], MariaDB]


@pytest.fixture(scope="package")
def place() -> Iterator[Path]:
    # The path of a socket may be no longer than 107 bytes.
    made = Path(tempfile.mkdtemp(prefix="redolab-mariadb-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="package")
def start(place: Path) -> Iterator[Start]:
    """Starts each server once, when it is first asked for."""
    started: dict[str, MariaDB] = {}
    with ExitStack() as stack:

        def get(kind: str) -> MariaDB:
            if kind not in started:
                own = place / str(len(started))
                name = kind.partition(",")[0]
                started[kind] = stack.enter_context(running_mariadb(own, *OPTIONS[kind], name=name))
                prepare(started[kind])
            return started[kind]

        yield get


@pytest.fixture(params=OPTIONS)
def server(request: pytest.FixtureRequest, start: Start) -> MariaDB:
    """Every one of them in turn."""
    return start(request.param)


@pytest.fixture(params=FAMILY)
def plain(request: pytest.FixtureRequest, start: Start) -> MariaDB:
    """Each of the family as it comes."""
    return start(request.param)


@pytest.fixture
def installed(start: Start) -> MariaDB:
    """The system's own MariaDB, where it does not matter whose server it is."""
    return start(INSTALLED)


@pytest.fixture
def instrumented(start: Start) -> MariaDB:
    return start(INSTRUMENTED)
