"""Functions, operators and views of others in the database are never called by Redolab (CVE-2018-1058)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.experiment import EXPERIMENTS
from redolab.experiment.base import Wish
from redolab.records.load import Amount
from tests.conftest import Redolab
from tests.hijack import MARK, set_traps
from tests.servers import NEWEST, PASSWORD, Server, made, versions_in_whole

SHORT = ("--quick", "--seconds", "0.1", "--blocks", "2", "--yes")
LIST = """
factors.commit = ["on", "off"]
[sql]
setup = "create table entry (session int)"
unit = "insert into entry values (session)"
settle = "truncate entry"
teardown = "drop table entry"
[levels.commit.on]
parameters = { synchronous_commit = "on" }
[levels.commit.off]
enter = "create table other (session int)"
leave = "drop table other"
parameters = { synchronous_commit = "off" }
"""


@pytest.fixture(
    scope="module",
    params=[(versions_in_whole()[0], False), (NEWEST, True)],
    ids=["oldest", "newest, public first"],
)
def trapped(request: pytest.FixtureRequest, servers: Callable[[str], Server]) -> Iterator[tuple[Server, str]]:
    """A server and the URL of a database in which every name that Redolab uses is a trap too."""
    version, reverse_path = request.param
    server, attacker, database = servers(version), "attacker", "trapped"
    server.role(attacker)
    with made(server, database) as url:
        with server.admin(database) as admin:
            admin.execute(f"alter database {database} owner to {attacker}".encode())
            admin.execute(f"grant create on schema public to {attacker}".encode())
        with psycopg.connect(
            server.conninfo(attacker, database), autocommit=True, row_factory=dict_row
        ) as connection:
            assert set_traps(connection, reverse_path) > 3000
        yield server, url
    with server.admin() as admin:
        admin.execute(f"drop role {attacker}".encode())


def sprung(server: Server) -> list[str]:
    log = (server.place / "server.log").read_text(errors="replace")
    return [line for line in log.splitlines() if "LOG:" in line and MARK in line]


def test_the_traps_spring(trapped: tuple[Server, str]) -> None:
    server, _ = trapped
    before = len(sprung(server))
    with server.admin("trapped") as admin, pytest.raises(psycopg.Error, match=MARK):
        admin.execute("select pg_has_role('pg_read_all_stats', 'USAGE')")
    assert len(sprung(server)) == before + 1


def test_no_command_springs_a_trap(trapped: tuple[Server, str], redolab: Redolab, tmp_path: Path) -> None:
    server, url = trapped
    before = sprung(server)
    file = tmp_path / "mine.toml"
    file.write_text(LIST)
    ended = [
        redolab("profile", url, "--seconds", "0.5"),
        redolab("run", "commit-mode", "--scope", "system", "--sessions", "2", "--engine", url, *SHORT,
                "--out", tmp_path / "commits"),
        redolab("run", "--list", file, "--engine", url, *SHORT, "--out", tmp_path / "list"),
    ]  # fmt: skip
    assert sprung(server) == before
    assert [done.code for done in ended] == [0, 0, 0], [done.err for done in ended]


@pytest.mark.parametrize(
    ("experiment", "sessions"),
    [
        ("rows-per-commit", (2,)),
        ("commit-scaling", (1, 2)),
        ("session-count", (1, 2)),
        ("consistent-read", ()),
    ],
)
def test_no_load_springs_a_trap(
    trapped: tuple[Server, str], experiment: str, sessions: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    server, url = trapped
    before = sprung(server)
    plan = EXPERIMENTS[experiment].plan(Wish(quick=True, sessions=sessions, seed=1))
    engine = PostgresEngine(Connector(url), None, 1)
    try:
        for setting in engine.prepare(plan.load, list(plan.combinations.values()))[:2]:
            engine.apply(setting)
            engine.settle()
            engine.snapshot()
            with engine.watch():
                done = engine.work(Amount(seconds=0.1), threading.Event())
            assert done.trouble is None
            assert done.units
    finally:
        engine.close()
    assert sprung(server) == before
