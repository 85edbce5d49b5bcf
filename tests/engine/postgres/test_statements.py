"""What a run says to type: pasted into that server it sets all that was measured, and its undo undoes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from redolab import open_run
from redolab.analysis.compared import Compared, compare_run
from redolab.analysis.statements.to_set import entry
from tests.conftest import Redolab
from tests.servers import PASSWORD, Server, wait_until

MODES = ("wait/immediate", "wait/batch", "nowait/immediate", "nowait/batch")


@pytest.fixture
def measured(newest: Server, url: str, redolab: Redolab, tmp_path: Path) -> Compared:
    """A run on a server of which an administrator had altered one of the parameters."""
    with newest.admin() as admin:
        admin.execute("alter system set wal_writer_delay = '300ms'")
        admin.execute("select pg_reload_conf()")
    wait_until(lambda: newest.ask("show wal_writer_delay") == "300ms", "it is altered")
    done = redolab(
        "run", "commit-mode", "--engine", url, "--yes", "--blocks", "2", "--seconds", "0.1",
        "--sessions", "2", "--out", tmp_path / "run",
    )  # fmt: skip
    assert done.code == 0, done.err
    return compare_run(open_run(tmp_path / "run"))


def entry_of(compared: Compared, name: str) -> dict[str, Any]:
    declared = next(item for item in compared.manifest["settings"] if item["name"] == name)
    return entry(compared, declared, "recommended")


def in_force(session: psycopg.Connection[dict[str, Any]], names: Sequence[str]) -> dict[str, str]:
    rows = session.execute("select name, current_setting(name) as value from pg_settings").fetchall()
    return {row["name"]: row["value"] for row in rows if row["name"] in names}


@contextmanager
def session_of(server: Server, role: str) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    session = psycopg.connect(server.conninfo(role), autocommit=True, row_factory=dict_row)
    try:
        yield session
    finally:
        session.close()


def paste(session: psycopg.Connection[dict[str, Any]], lines: Sequence[str]) -> None:
    for line in lines:
        session.execute(line.encode())


def seen(server: Server, role: str, values: Mapping[str, str]) -> bool:
    with session_of(server, role) as session:
        return in_force(session, list(values)) == values


def test_every_way_sets_all_parameters_and_undoes_it(newest: Server, measured: Compared) -> None:
    for name in MODES:
        check_ways(newest, measured, name)


def check_ways(newest: Server, measured: Compared, name: str) -> None:
    advised = entry_of(measured, name)
    wanted = dict(next(item for item in measured.manifest["settings"] if item["name"] == name)["parameters"])
    assert set(advised["parameters"]) == set(wanted)
    assert len(wanted) == 5
    newest.role("app")
    try:
        with newest.admin() as admin:
            before, lines = in_force(admin, list(wanted)), newest.altered()
            assert before["wal_writer_delay"] == "300ms"
            for way in advised["ways"]:
                role = "app" if way["scope"] == "role" else "postgres"
                paste(admin, way["set"])
                if way["scope"] == "session":
                    wait_until(lambda: in_force(admin, list(wanted)) == wanted, "all of it is in force")
                else:
                    wait_until(lambda role=role: seen(newest, role, wanted), "all of it is in force")  # type: ignore[misc]
                paste(admin, way["undo"])
                wait_until(lambda: in_force(admin, list(wanted)) == before, "all of it is undone")
                wait_until(lambda role=role: seen(newest, role, before), "for others too")  # type: ignore[misc]
                kept = [line for line in newest.altered() if line not in lines]
                # The former value of what the configuration file says may be written as a line.
                assert [line.split()[0] for line in kept] in ([], ["commit_siblings"])
            assert [way["scope"] for way in advised["ways"]] == ["server", "role", "session"]
            admin.execute("alter system reset commit_siblings")
            assert newest.altered() == lines
    finally:
        with newest.admin() as admin:
            admin.execute("drop role app")


def test_what_the_server_had_is_named(newest: Server, measured: Compared) -> None:
    assert newest.ask("show commit_siblings") == "7"
    first = entry_of(measured, "nowait/batch")
    assert first["as_before"] == ["wal_writer_flush_after", "commit_delay", "commit_siblings"]
    assert first["ways"][0]["undo"][:3] == [
        "ALTER SYSTEM RESET synchronous_commit;",
        "ALTER SYSTEM SET wal_writer_delay = '300ms';",
        "ALTER SYSTEM RESET wal_writer_flush_after;",
    ]
    crashes = {price["crash"]: price for price in first["price"]}
    assert {price["window_s"] for price in crashes.values()} == {3.0}
    rate = measured.sessions["nowait/batch"][0].arrival_rate
    assert rate is not None
    assert (
        0
        < crashes["server"]["commits"]
        < 3 * 3.0 * max(item.arrival_rate or 0.0 for item in measured.sessions["nowait/batch"])
    )
    assert entry_of(measured, "wait/batch")["price"] == []
    assert PASSWORD not in str(first)
