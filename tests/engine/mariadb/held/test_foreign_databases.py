"""The database `redolab` is used only where it is proved to be Redolab's own: its lists are executed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import ask
from redolab.engine.mariadb.own.journal import Journal, seal
from redolab.engine.mariadb.own.recovery import recover
from redolab.engine.mariadb.own.schema import (
    MARKS,
    drop_database,
    find_database,
    make_database,
    server_place,
)
from redolab.engine.private.marks import new_mark
from redolab.engine.server.kept import Changed
from redolab.errors import RefusedError
from tests.engine.mariadb.held.holding import account, begin, databases, end, hold_of, settings
from tests.mariadb import MariaDB


@pytest.fixture(autouse=True)
def dropped(server: MariaDB) -> Iterator[None]:
    yield
    server.ask("drop database if exists redolab")


def refused(url: str) -> str:
    with closing(hold_of(url)) as hold:
        with pytest.raises(RefusedError, match="never touches such a database") as before:
            hold.introduce((), None)
        with pytest.raises(RefusedError) as then:
            hold.make_schema()
    assert str(then.value) == str(before.value)
    return str(then.value)


def left(server: MariaDB) -> list[str]:
    rows = server.ask(
        "select table_name as it from information_schema.tables where table_schema = 'redolab' order by 1"
    )
    return [row["it"] for row in rows]


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (("create database redolab",), "Redolab noted nothing of it"),
        (("create database redolab", "create table redolab.mine (id int)"), "Redolab did not make it"),
        (
            ("create database redolab", "create view redolab.parameter_journal as select 1 as parameter"),
            "its lists are not the plain tables",
        ),
    ],
)
def test_a_database_of_others_is_named_and_left(
    statements: tuple[str, ...], said: str, server: MariaDB, url: str
) -> None:
    for statement in statements:
        server.ask(statement)
    before = left(server)
    assert said in refused(url)
    assert "redolab" in databases(server)
    assert left(server) == before


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ("", "its mark is not known on this machine"),
        ("create view redolab.v as select 1 as a", "root@localhost defined a view"),
        (
            "create trigger redolab.t before insert on redolab.teardown for each row set new.seal = ''",
            "not the plain tables",
        ),
        ("alter table redolab.session engine=MyISAM", "not the plain tables"),
    ],
)
def test_what_others_put_into_it_is_not_executed(planted: str, said: str, server: MariaDB, url: str) -> None:
    mark = new_mark()
    with closing(server.connect()) as control:
        make_database(control, mark)
        if planted:
            # MySQL shows a trigger only to whoever has this right.
            server.ask("grant trigger on redolab.* to bench")
            server.ask(planted)
            assert MARKS.keep(mark, server_place(control))
    assert said in refused(url)
    with closing(Connector.to_url(url).connect("a test")) as control:
        assert not list(recover(control, Connector.to_url(url)))
    assert "redolab" in databases(server)


@pytest.mark.parametrize("table", ["parameter_journal", "teardown"])
def test_a_row_that_redolab_did_not_write_is_not_executed(table: str, server: MariaDB, url: str) -> None:
    mark, other = new_mark(), seal(new_mark(), "innodb_flush_log_at_timeout", "2")
    planted = {
        "teardown": f"(statement, seal) values ('drop table mysql.user', '{other}')",
        "parameter_journal": f"values ('innodb_flush_log_at_timeout', '2', '[]', '{other}')",
    }
    connector = Connector.to_url(url)
    with closing(connector.connect("a test")) as control:
        place = server_place(control)
        assert MARKS.keep(mark, place)
        make_database(control, mark)
        server.ask(f"insert into redolab.{table} {planted[table]}")
        with pytest.raises(RefusedError, match="somebody changed Redolab's lists"):
            list(recover(control, connector))
        assert server.ask("select @@global.innodb_flush_log_at_timeout as it")[0]["it"] == 1
        assert server.ask("select count(*) as n from mysql.user")[0]["n"]
        server.ask(f"delete from redolab.{table}")
        assert list(recover(control, connector))
    # A run that lives needs no list, and reads none.
    before = settings(server)
    hold = hold_of(url)
    begin(hold)
    server.ask(f"insert into redolab.{table} {planted[table]}")
    end(hold)
    assert settings(server) == before


def test_the_teardown_of_a_list_is_executed(server: MariaDB, url: str) -> None:
    hold = hold_of(url)
    begin(hold)
    hold.note_teardown("create table a (b int); insert into a values (1); drop table a; select 1")
    end(hold)
    hold = hold_of(url)
    begin(hold)
    hold.note_teardown("drop table nowhere")
    with pytest.raises(RefusedError, match="The teardown of the list failed"):
        end(hold)


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_a_run_killed_while_its_database_was_made_is_recovered(done: int, server: MariaDB, url: str) -> None:
    mark = new_mark()
    statements = 0

    def some(connection: object, text: str, *values: object) -> object:
        nonlocal statements
        statements += 1
        if statements > done:
            raise KeyboardInterrupt
        return ask(connection, text, *values)  # type: ignore[arg-type]

    with closing(Connector.to_url(url).connect("a test")) as control:
        assert MARKS.keep(mark, server_place(control))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("redolab.engine.mariadb.own.schema.ask", some)
            with pytest.raises(KeyboardInterrupt):
                make_database(control, mark)
    hold = hold_of(url)
    begin(hold)
    end(hold)
    assert MARKS.kept() == {}


@pytest.mark.parametrize("gone", [("session",), ("teardown", "session", "parameter_journal")])
def test_a_run_killed_while_its_database_was_dropped_is_recovered(
    gone: tuple[str, ...], server: MariaDB, url: str
) -> None:
    mark = new_mark()
    with closing(Connector.to_url(url).connect("a test")) as control:
        assert MARKS.keep(mark, server_place(control))
        make_database(control, mark)
        Journal(mark).note(control, Changed("sync_binlog", "1", "1"))
        for table in gone:
            server.ask(f"drop table redolab.{table}")
        standing = find_database(control, MARKS.kept())
        assert standing is not None
        assert standing.doubt is None
    hold = hold_of(url)
    begin(hold)
    end(hold)
    assert MARKS.kept() == {}


def test_a_run_killed_before_it_forgot_its_mark_is_forgotten(server: MariaDB, url: str) -> None:
    connector = Connector.to_url(url)
    with closing(connector.connect("a test")) as control:
        assert MARKS.keep("1" * 32, server_place(control))
        assert MARKS.keep("2" * 32, "elsewhere")
        assert not list(recover(control, connector))
    assert MARKS.kept() == {"2" * 32: "elsewhere"}


def test_a_database_that_is_only_hidden_is_not_taken_for_gone(server: MariaDB) -> None:
    mark = new_mark()
    with closing(server.connect()) as control:
        make_database(control, mark)
        assert MARKS.keep(mark, server_place(control))
    with account(server, "blind", "PROCESS ON *.*") as url:
        connector = Connector.to_url(url)
        with closing(connector.connect("a test")) as control:
            with pytest.raises(RefusedError, match="Access denied"):
                list(recover(control, connector))
            assert MARKS.kept().keys() == {mark}


def test_tables_that_refer_to_one_another_are_dropped(server: MariaDB, url: str) -> None:
    mark = new_mark()
    with closing(Connector.to_url(url).connect("a test")) as control:
        make_database(control, mark)
        server.ask("create table redolab.`a``b` (id int primary key) engine=InnoDB")
        server.ask(
            "create table redolab.c (id int, foreign key (id) references redolab.`a``b` (id)) engine=InnoDB"
        )
        drop_database(control)
    assert "redolab" not in databases(server)
