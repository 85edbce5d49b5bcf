"""Functions, operators and views of others in the database are never called by Redolab (CVE-2018-1058)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.conftest import Redolab
from tests.hijack import MARK, set_traps
from tests.servers import Server, made

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


@pytest.fixture(params=[("16", False), ("18", True)], ids=["16", "18, public first"])
def trapped(
    request: pytest.FixtureRequest, servers: Callable[[str], Server], database: str
) -> Iterator[tuple[Server, str]]:
    """A server and the URL of a database in which every name that Redolab uses is a trap too."""
    version, reverse_path = request.param
    server, attacker = servers(version), f"attacker_{database}"
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


def test_the_traps_spring(trapped: tuple[Server, str], database: str) -> None:
    server, _ = trapped
    before = len(sprung(server))
    with server.admin(database) as admin, pytest.raises(psycopg.Error, match=MARK):
        admin.execute("select pg_has_role('pg_read_all_stats', 'USAGE')")
    assert len(sprung(server)) == before + 1


def test_no_trap_is_sprung(trapped: tuple[Server, str], redolab: Redolab, tmp_path: Path) -> None:
    server, url = trapped
    before = sprung(server)
    file = tmp_path / "mine.toml"
    file.write_text(LIST)
    for arguments in (
        ("profile", url, "--seconds", "0.5"),
        ("run", "commit-mode", "--settings", "wait,nowait", "--sessions", "2"),
        ("run", "commit-mode", "--scope", "system", "--sessions", "2"),
        ("run", "rows-per-commit", "--sessions", "2"),
        ("run", "commit-scaling", "--sessions", "1,2"),
        ("run", "session-count", "--sessions", "1,2"),
        ("run", "consistent-read"),
        ("run", "--list", str(file)),
    ):
        out = tmp_path / "_".join(arguments).replace("/", "_")
        more = ("--engine", url, *SHORT, "--out", str(out)) if arguments[0] == "run" else ()
        done = redolab(*arguments, *more)
        assert sprung(server) == before, arguments
        assert done.code == 0, done.err
