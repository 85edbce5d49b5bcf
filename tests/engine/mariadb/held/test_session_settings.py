"""A server's customs for applications change no answer to Redolab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from redolab import open_run
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connecting.session_settings import READING
from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.connection import connect
from redolab.engine.mariadb.parameters import same_value
from tests.conftest import Redolab
from tests.mariadb import PASSWORD, MariaDB

ODD = {
    "sql_select_limit": "1",
    "max_join_size": "3",
    "group_concat_max_len": "4",
    "max_sort_length": "64",
    "div_precision_increment": "0",
    "sql_mode": "'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'",
    "sql_auto_is_null": "1",
    "completion_type": "2",
    "time_zone": "'-11:30'",
}


@pytest.fixture
def door(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL without its password, which is in the environment."""
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    return url.replace(f":{PASSWORD}@", "@")


@pytest.fixture
def odd(server: MariaDB) -> Iterator[MariaDB]:
    """A server with customs that would change answers."""
    before = {}
    for name in ODD:
        (row,) = server.ask(f"select @@global.{name} as it")
        before[name] = row["it"]
    for name, value in ODD.items():
        server.ask(f"set global {name} = {value}")
    yield server
    # By a session that is limited itself no list can be read.
    for name, value in before.items():
        server.ask(f"set global {name} = {value if isinstance(value, int) else repr(value)}")


def test_every_session_sets_what_its_answers_depend_on(odd: MariaDB, url: str) -> None:
    connector = Connector.to_url(url)
    for connection in (
        connect(read_target(url)), connector.connect("it"), connector.connect("it", read_only=True),
    ):  # fmt: skip
        with closing(connection):
            for name, value in READING.items():
                with connection.cursor() as cursor:
                    cursor.execute(f"select @@session.{name} as it")
                    seen = str(cursor.fetchall()[0]["it"])
                assert same_value(seen, str(value)) or (name, seen) == ("completion_type", "NO_CHAIN"), name


def test_no_session_of_such_a_server_is_overlooked(odd: MariaDB, door: str, redolab: Redolab) -> None:
    with ExitStack() as stack:
        for _ in range(7):
            stack.enter_context(closing(odd.connect()))
        ended = redolab("profile", door, "--seconds", "1", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["engine"]["version"] in odd.ask("select version() as it")[0]["it"]
    assert len(found["sessions"]) >= 7, found["sessions"]


def test_a_run_on_such_a_server_counts_its_samples(
    odd: MariaDB, door: str, redolab: Redolab, tmp_path: Path
) -> None:
    ended = redolab(
        "run", "commit-mode", "--quick", "--engine", door, "--yes", "--blocks", "2", "--seconds", "0.2",
        "--settings", "wait/immediate,nowait/batch", "--sessions", "2", "--out", tmp_path / "run",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    samples = open_run(tmp_path / "run").samples.to_pylist()
    assert [sample["spoiled"] for sample in samples] == [None] * len(samples)
