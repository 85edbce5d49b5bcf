"""The schema `redolab` is used only where it is proved to be Redolab's own: what stands in it is executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.own.recovery import PostgresRecovery
from redolab.engine.postgres.own.schema import MARKS, find_schema, make_schema
from redolab.engine.private.marks import new_mark
from tests.conftest import Redolab
from tests.servers import PASSWORD, Ended, Server

SHORT = ("--quick", "--settings", "wait,nowait", "--blocks", "2", "--seconds", "0.1", "--sessions", "1")
OLD_COMMENT = "made by redolab; removed at the end of the run"
LISTS = """
    create table redolab.parameter_journal (parameter text primary key, value_before text not null,
                                            in_auto_conf boolean not null);
    create table redolab.teardown (statement text not null);
"""
Run = Callable[[str], Ended]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def run(redolab: Redolab, tmp_path: Path) -> Run:
    def start(url: str) -> Ended:
        return redolab("run", "commit-mode", "--engine", url, "--yes", *SHORT, "--out", tmp_path / "run")

    return start


@pytest.fixture
def attacker(newest: Server, database: str, url: str) -> Iterator[psycopg.Connection[dict[str, object]]]:
    """A role that may create in the database and nothing more."""
    name = f"attacker_{database}"
    newest.role(name, f"grant create on database {database} to {name}")
    with psycopg.connect(newest.conninfo(name, database), autocommit=True) as connection:
        yield connection  # type: ignore[misc]


def becomes_superuser(newest: Server, database: str) -> bool:
    return bool(newest.ask(f"select rolsuper from pg_roles where rolname = 'attacker_{database}'"))


@pytest.mark.parametrize(
    "comment", [OLD_COMMENT, f"{OLD_COMMENT}; mark {'0' * 32}", "a mark of this machine"]
)
def test_what_another_role_planted_is_not_executed(
    comment: str, attacker: psycopg.Connection, newest: Server, database: str, url: str, run: Run
) -> None:
    if comment == "a mark of this machine":
        mark = new_mark()
        assert MARKS.keep(mark, database)
        comment = f"{OLD_COMMENT}; mark {mark}"
    attacker.execute(f"create schema redolab; comment on schema redolab is '{comment}';{LISTS}".encode())
    attacker.execute(
        f"insert into redolab.teardown values ('alter role attacker_{database} superuser');"
        "insert into redolab.parameter_journal values ('archive_command', 'true', true)".encode()
    )
    altered = newest.altered()
    done = run(url)
    assert done.code == 3, done.err
    assert f"the role attacker_{database} owns it" in done.complaint
    assert "never touches such a schema" in done.complaint
    assert not becomes_superuser(newest, database)
    assert newest.altered() == altered
    assert newest.ask("select count(*) from redolab.teardown", database) == 1


@pytest.mark.parametrize(
    "planted",
    [
        # A view would run functions of whoever made it.
        "drop table redolab.teardown; create view redolab.teardown as select 'select 1'::text as statement",
        "create rule planted as on insert to redolab.teardown do also select 1",
        "alter table redolab.parameter_journal enable row level security",
        "drop table redolab.parameter_journal",
    ],
)
def test_lists_that_are_no_plain_tables_are_not_read(
    planted: str, newest: Server, database: str, url: str
) -> None:
    with Connector(url + f"?password={PASSWORD}").connect("redolab test") as control:
        mark = new_mark()
        make_schema(control, mark)
        standing = find_schema(control, {mark})
        assert standing is not None
        assert standing.doubt is None
        control.execute(planted.encode())
        doubted = find_schema(control, {mark})
        assert doubted is not None
        assert doubted.odd is not None
        assert "plain tables" in doubted.odd
        assert not PostgresRecovery(control, {mark}).recover()
        assert find_schema(control, {mark}) is not None


def test_one_with_a_mark_of_another_machine_is_named_and_left(
    newest: Server, database: str, url: str, run: Run
) -> None:
    with newest.admin(database) as admin:
        make_schema(admin, new_mark())
    done = run(url)
    assert done.code == 3, done.err
    assert "its mark is not known on this machine" in done.complaint
    assert "DROP SCHEMA redolab CASCADE" in done.complaint
    assert newest.ask("select count(*) from redolab.probe", database) == 1


def test_a_mark_is_forgotten_with_its_schema(newest: Server, database: str, url: str, run: Run) -> None:
    with newest.admin(database) as admin:
        mark = new_mark()
        assert MARKS.keep(mark, database)
        make_schema(admin, mark)
    done = run(url)
    assert done.code == 0, done.err
    assert MARKS.kept() == {}
    newest.assert_left_clean(database)


def test_marks_are_private_and_only_plain_files_count(tmp_path: Path) -> None:
    assert MARKS.kept() == {}
    mark = new_mark()
    assert MARKS.keep(mark, "orders")
    assert not MARKS.keep(mark, "another"), "a mark is made once"
    place = tmp_path / "data" / "redolab" / "schemas"
    assert place.stat().st_mode & 0o777 == 0o700
    (place / ("a" * 32)).symlink_to("/etc/hostname")
    (place / "no-mark").write_text("orders")
    assert MARKS.kept() == {mark: "orders"}
