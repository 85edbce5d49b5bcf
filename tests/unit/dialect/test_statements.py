"""Statements that set a measured setting: every parameter, quoted as its server reads it, and the undo."""

from __future__ import annotations

import pytest

from redolab.dialect import (
    innodb,
    innodb_statements,
    oracle,
    oracle_statements,
    postgres,
    postgres_statements,
)
from redolab.dialect.statements import Assignment

HOSTILE = "x'; DROP TABLE t; --"


def session(parameter: str, value: str, before: str | None, altered: bool | None = None) -> Assignment:
    return Assignment(parameter, value, "session", before, altered)


def server(parameter: str, value: str, before: str | None, altered: bool | None = None) -> Assignment:
    return Assignment(parameter, value, "system", before, altered)


def test_postgresql_sets_sessions_and_the_server_each_in_its_way() -> None:
    found = postgres_statements.ways(
        [
            session("synchronous_commit", "off", "on", False),
            server("wal_writer_delay", "1s", "200ms", False),
            server("wal_writer_flush_after", "1MB", "2MB", True),
        ]
    )
    everywhere, role, one = found
    assert everywhere.set == (
        "ALTER SYSTEM SET synchronous_commit = off;",
        "ALTER SYSTEM SET wal_writer_delay = '1s';",
        "ALTER SYSTEM SET wal_writer_flush_after = '1MB';",
        "SELECT pg_reload_conf();",
    )
    assert everywhere.undo == (
        "ALTER SYSTEM RESET synchronous_commit;",
        "ALTER SYSTEM RESET wal_writer_delay;",
        "ALTER SYSTEM SET wal_writer_flush_after = '2MB';",
        "SELECT pg_reload_conf();",
    )
    assert role.set == (*everywhere.set[1:], "ALTER ROLE app SET synchronous_commit = off;")
    assert one.undo == (*everywhere.undo[1:], "RESET synchronous_commit;")
    assert (everywhere.lasts, role.lasts, one.lasts) == (True, True, False)
    assert not any(way.restart for way in found)


def test_where_nobody_knows_how_a_value_came_about_the_undo_sets_it() -> None:
    (way,) = postgres_statements.ways([server("wal_writer_delay", "1s", "200ms")])
    assert way.undo[0] == "ALTER SYSTEM SET wal_writer_delay = '200ms';"
    (way,) = postgres_statements.ways([server("wal_writer_delay", "1s", None)])
    assert way.undo[0] == "ALTER SYSTEM RESET wal_writer_delay;"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("work_mem", "64MB", "work_mem = '64MB'"),
        ("x.y", "default", "x.y = 'default'"),
        ("work_mem", HOSTILE, "work_mem = 'x''; DROP TABLE t; --'"),
        ("a\\b", "c\\'d", "\"a\\b\" = E'c\\\\''d'"),
        ("search_path", '"$user", public', "search_path = '$user', 'public'"),
        ('a"; --', "1", '"a""; --" = 1'),
    ],
)
def test_names_and_values_from_outside_are_quoted(name: str, value: str, said: str) -> None:
    _, _, one = postgres_statements.ways([session(name, value, "1")])
    assert one.set == (f"SET {said};",)


def test_mysql_keeps_what_mariadb_writes_into_its_file() -> None:
    asked = [server(innodb.REDO, "2", "1"), server(innodb.BINLOG, "0", "1")]
    until_restart, lasting = innodb_statements.ways_of_mysql(asked)
    assert until_restart.set == (
        "SET GLOBAL innodb_flush_log_at_trx_commit = 2;",
        "SET GLOBAL sync_binlog = 0;",
    )
    assert until_restart.undo == (
        "SET GLOBAL innodb_flush_log_at_trx_commit = 1;",
        "SET GLOBAL sync_binlog = 1;",
    )
    assert lasting.undo[1] == "SET PERSIST sync_binlog = 1;"
    same, file = innodb_statements.ways_of_mariadb(asked)
    assert same == until_restart
    assert file.set == ("[mysqld]", "innodb_flush_log_at_trx_commit = 2", "sync_binlog = 0")
    assert (file.restart, until_restart.restart) == (True, False)


def test_names_and_values_of_mysql_are_quoted() -> None:
    way, _ = innodb_statements.ways_of_mysql([server("a` b", HOSTILE, "c\\")])
    assert way.set == ("SET GLOBAL `a`` b` = 'x''; DROP TABLE t; --';",)
    assert way.undo == ("SET GLOBAL `a`` b` = 'c\\\\';",)
    _, file = innodb_statements.ways_of_mariadb([server("a", "b\n[client]\nc=d", "1")])
    assert file.set == ("[mysqld]", 'a = "b\\n[client]\\nc=d"')


def test_oracle_says_it_in_the_commit_or_in_the_session() -> None:
    each, one = oracle_statements.ways([Assignment("COMMIT WRITE", "NOWAIT BATCH", "transaction", None)])
    assert (each.scope, each.set, each.undo) == ("commit", ("COMMIT WRITE NOWAIT BATCH;",), ("COMMIT;",))
    assert one.set == ("ALTER SESSION SET COMMIT_WAIT = 'NOWAIT' COMMIT_LOGGING = 'BATCH';",)
    assert one.undo == ("ALTER SESSION SET COMMIT_WAIT = 'WAIT' COMMIT_LOGGING = 'IMMEDIATE';",)
    first, second = oracle_statements.ways(
        [session("COMMIT_WAIT", "NOWAIT", None), session("COMMIT_LOGGING", "BATCH", None)]
    )
    assert (first, second) == (one, each)
    assert oracle_statements.ways([session("COMMIT WRITE", HOSTILE, None)]) == ()


def test_the_levels_decide_some_parameters_and_leave_others() -> None:
    modes = {"commit_wait": "nowait", "commit_logging": "batch"}
    delays = {"wal_writer_delay", "wal_writer_flush_after"}
    assert postgres.chosen(modes) == {"synchronous_commit", *delays}
    waiting = {"synchronous_commit", "commit_delay", "commit_siblings"}
    assert postgres.chosen({**modes, "commit_wait": "wait"}) == waiting
    assert postgres.chosen({"commit_wait": "wait"}) == {"synchronous_commit"}
    assert postgres.chosen({"sessions": "5"}) == frozenset()
    assert innodb.chosen(modes) == {innodb.REDO, innodb.BINLOG}
    assert innodb.PAUSE["mysql"][0] in innodb.chosen({**modes, "commit_wait": "wait"})


@pytest.mark.parametrize(
    ("redo", "sync", "more", "said"),
    [
        ("1", "1", {}, []),
        ("3", "1", {}, []),
        ("2", "1", {}, [("power", 1.0, None, False)]),
        ("0", "1", {}, [("server", 1.0, None, False), ("power", 1.0, None, False)]),
        ("0", "0", {}, [("server", 1.0, None, False), ("power", None, None, True)]),
        ("1", "100", {}, [("power", None, 100, False)]),
        ("2", "100", {}, [("power", 1.0, 100, False)]),
        ("1", "0", {"binlog": False}, []),
        ("2", "0", {"binlog": False}, [("power", 1.0, None, False)]),
        ("2", "0", {"binlog_storage_engine": "innodb"}, [("power", 1.0, None, False)]),
        ("1", "1", {"innodb_flush_method": "nosync"}, [("power", None, None, True)]),
        ("0", "1", {innodb.REDO_TIMEOUT: "5"}, [("server", 5.0, None, False), ("power", 5.0, None, False)]),
        ("0", "1", {innodb.REDO_TIMEOUT: None}, [("server", None, None, True), ("power", None, None, True)]),
    ],
)
def test_what_crashes_of_mysql_may_lose(
    redo: str, sync: str, more: dict[str, object], said: list[tuple[str, float | None, int | None, bool]]
) -> None:
    facts = {"binlog": True, innodb.REDO_TIMEOUT: "1", innodb.REDO: redo, innodb.BINLOG: sync, **more}
    found = innodb.losses(facts)
    assert [(it.crash, it.window_s, it.groups, bool(it.unknown)) for it in found] == said


def test_what_crashes_of_postgresql_and_oracle_may_lose() -> None:
    lazy = {"synchronous_commit": "off", "wal_writer_delay": "1s", "fsync": "on"}
    assert [(it.crash, it.window_s) for it in postgres.losses(lazy)] == [("server", 3.0), ("power", 3.0)]
    assert postgres.losses({**lazy, "synchronous_commit": "on"}) == ()
    assert [it.unknown != "" for it in postgres.losses({**lazy, "fsync": "off"})] == [False, True]
    (power,) = postgres.losses({"synchronous_commit": "on", "fsync": "off"})
    assert power.crash == "power"
    assert "fsync = off" in power.unknown
    assert oracle.losses({"COMMIT WRITE": "WAIT BATCH"}) == ()
    assert [it.crash for it in oracle.losses({"COMMIT WRITE": "NOWAIT BATCH"})] == ["server", "power"]
    assert all("documents no limit" in it.unknown for it in oracle.losses({"COMMIT_WAIT": "NOWAIT"}))
