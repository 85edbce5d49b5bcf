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
from redolab.dialect.statements import Assignment, RoleValue

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


def test_a_role_gets_back_what_it_had_of_its_own() -> None:
    values = (RoleValue("app", "local"), RoleValue('re"ports', "on"), RoleValue("app", "off", "shop"))
    _, role, _, other = postgres_statements.ways(
        [
            Assignment("synchronous_commit", "off", "session", "on", False, values),
            Assignment("commit_delay", "0", "session", "0", False, ()),
        ]
    )
    assert role.undo == (
        "ALTER ROLE app SET synchronous_commit = 'local';",
        "ALTER ROLE app RESET commit_delay;",
    )
    assert "synchronous_commit in shop" in role.reach
    assert other.set[0] == 'ALTER ROLE "re""ports" SET synchronous_commit = off;'
    assert other.undo == (
        'ALTER ROLE "re""ports" SET synchronous_commit = on;', 'ALTER ROLE "re""ports" RESET commit_delay;',
    )  # fmt: skip
    assert "RESET" not in other.reach
    assert other.look == ()


def test_of_a_role_that_nobody_asked_about_the_text_says_how_to_look() -> None:
    for known in (None, ()):
        _, role, _ = postgres_statements.ways(
            [Assignment("synchronous_commit", "off", "session", "on", False, known)]
        )
        (look,) = role.look
        assert look.startswith("SELECT ")
        assert look.endswith("FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole "
                             "WHERE r.rolname = 'app';")  # fmt: skip
        assert "\n" not in look
        assert "RESET removes the role's own value" in role.reach


def test_more_roles_than_anybody_reads_get_no_way_of_their_own() -> None:
    values = tuple(RoleValue(f"r{number}", "on") for number in range(9))
    found = postgres_statements.ways([Assignment("jit", "off", "session", "on", False, values)])
    assert [way.scope for way in found] == ["server", "role", "session", *["role"] * 3]


def test_a_former_value_that_nobody_knows_is_not_invented() -> None:
    everywhere, _, one = postgres_statements.ways(
        [session("synchronous_commit", "off", None), server("wal_writer_delay", "1s", "200ms")]
    )
    assert "The values of synchronous_commit before the change are not known here" in everywhere.reach
    (look,) = everywhere.look
    assert "'synchronous_commit'" in look
    assert "wal_writer_delay" not in look
    assert one.look == ()
    until_restart, lasting = innodb_statements.ways_of_mysql([server("a", "2", "1"), server("b", "0", None)])
    assert until_restart.undo == ("SET GLOBAL a = 1;",)
    assert lasting.undo == ("SET PERSIST a = 1;",)
    assert until_restart.look == lasting.look == ("SELECT @@GLOBAL.b;",)
    assert "The values of b before the change are not known here" in until_restart.reach
    _, file = innodb_statements.ways_of_mariadb([server("b", "0", None)])
    assert (file.undo, file.look) == ((), ("SELECT @@GLOBAL.b;",))
    assert innodb_statements.ways_of_mysql([server("a", "2", "1")])[0].look == ()


def test_oracles_undo_is_the_default_only_where_nothing_better_is_known() -> None:
    one, _ = oracle_statements.ways(
        [session("COMMIT_WAIT", "NOWAIT", "force_wait"), session("COMMIT_LOGGING", "BATCH", "BATCH")]
    )
    assert one.undo == ("ALTER SESSION SET COMMIT_WAIT = 'FORCE_WAIT' COMMIT_LOGGING = 'BATCH';",)
    assert one.look == ()
    for before in (None, HOSTILE):
        one, each = oracle_statements.ways(
            [session("COMMIT_WAIT", "NOWAIT", before), session("COMMIT_LOGGING", "BATCH", "BATCH")]
        )
        assert one.undo == ("ALTER SESSION SET COMMIT_WAIT = 'WAIT' COMMIT_LOGGING = 'IMMEDIATE';",)
        assert "v$parameter" in one.look[0]
        assert each.look == ()


def test_a_level_is_realised_by_what_the_server_has() -> None:
    assert postgres.realised({"commit_delay_us": "134"}, {}) == {
        "commit_delay": "134",
        "commit_siblings": "5",
    }
    known = {"name": "MySQL", "binlog": True, "sessions": 8}
    assert innodb.realised({"commit_wait": "nowait"}, known) == {innodb.REDO: "2", innodb.BINLOG: "0"}
    pause, count = innodb.PAUSE["mysql"]
    assert innodb.realised({"commit_delay_us": "134"}, known) == {pause: "134", count: "8"}
    without = known | {"binlog": False}
    assert innodb.realised({"commit_wait": "nowait"}, without) == {innodb.REDO: "2"}
    assert innodb.realised({"commit_delay_us": "134"}, without) == {}
    assert innodb.realised({"commit_wait": "nowait"}, {"name": "MySQL", "sessions": 8}) == {}
    assert oracle.realised({"commit_delay_us": "134"}, {}) == {}
