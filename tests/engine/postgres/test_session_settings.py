"""What a role, a database or the environment sets for applications changes no answer to Redolab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from redolab import open_run
from redolab.engine.postgres.connecting.connection import READING_SETTINGS, Connector
from tests.conftest import Redolab
from tests.servers import PASSWORD, Server

ODD = {
    "DateStyle": "German",
    "IntervalStyle": "iso_8601",
    "TimeZone": "Asia/Kathmandu",
    "extra_float_digits": "-15",
    "bytea_output": "escape",
    "standard_conforming_strings": "off",
    "transform_null_equals": "on",
    "array_nulls": "off",
    "quote_all_identifiers": "on",
    "xmlbinary": "hex",
    "xmloption": "document",
}


@pytest.fixture
def odd(newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a database with such customs."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("PGDATESTYLE", "SQL, DMY")
    monkeypatch.setenv("PGTZ", "America/Caracas")
    with newest.admin(database) as admin:
        for name, value in ODD.items():
            admin.execute(f"alter database {database} set {name} = '{value}'".encode())
    yield url
    newest.assert_left_clean(database)


@pytest.mark.parametrize("read_only", [True, False])
def test_every_session_sets_what_its_answers_depend_on(odd: str, read_only: bool) -> None:
    with closing(Connector(odd).connect("it", read_only)) as connection:
        for name, value in READING_SETTINGS.items():
            row = connection.execute("select current_setting(%s) as it", (name,)).fetchone()
            assert row == {"it": value}, name


def test_such_a_database_is_profiled_and_measured(odd: str, redolab: Redolab, tmp_path: Path) -> None:
    ended = redolab("profile", odd, "--seconds", "1", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["engine"]["name"] == "postgresql"
    ended = redolab(
        "run", "commit-mode", "--quick", "--engine", odd, "--yes", "--blocks", "2", "--seconds", "0.2",
        "--settings", "wait/immediate,nowait/batch", "--sessions", "2", "--out", tmp_path / "run",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    samples = open_run(tmp_path / "run").samples.to_pylist()
    assert [sample["spoiled"] for sample in samples] == [None] * len(samples)
