"""What hostile moments execute, in the words of each server. A moment takes one of the variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.breaker.somebody import Somebody

Variant = Sequence[str]
Variants = Sequence[Variant] | Callable[[Somebody], Sequence[Variant]]
_J = "redolab.parameter_journal"
# A statement behind a question mark must find a row, or the moment waits until there is something to lose.
_SOME = f"? select parameter from {_J}"

EMPTIED: Mapping[str, Variants] = {
    "postgres": [(_SOME, f"delete from {_J}"), (_SOME, f"truncate {_J}")],
    "family": [(_SOME, f"delete from {_J}"), (_SOME, f"truncate {_J}")],
}
ROW_DELETED: Mapping[str, Variants] = {
    "postgres": [
        (_SOME, f"delete from {_J} where parameter = (select {pick}(parameter) from {_J})")
        for pick in ("min", "max")
    ],
    "family": [(_SOME, f"delete from {_J} order by parameter {which} limit 1") for which in ("asc", "desc")],
}
EDITED: Mapping[str, Variants] = {
    "postgres": [
        (_SOME, f"update {_J} set value_before = '777ms' where parameter = 'wal_writer_delay'"),
        (_SOME, f"update {_J} set value_before = '7MB' where parameter = 'wal_writer_flush_after'"),
        (_SOME, f"update {_J} set in_auto_conf = not in_auto_conf"),
        (_SOME, f"insert into {_J} values ('work_mem', '7MB', true)"),
    ],
    "family": [
        (_SOME, f"update {_J} set value_before = '9' where parameter = 'sync_binlog'"),
        (_SOME, f"update {_J} set seal = repeat('0', 64)"),
        (_SOME, f"insert into {_J} values ('max_connect_errors', '7', repeat('0', 64))"),
    ],
}
DROPPED: Mapping[str, Variants] = {
    "postgres": [(_SOME, f"drop table {_J}")],
    "family": [(_SOME, f"drop table {_J}")],
}
PLANTED: Mapping[str, Variants] = {
    "postgres": [
        (_SOME, f"alter table {_J} rename to gone", f"create view {_J} as select * from redolab.gone"),
        (
            _SOME,
            f"alter table {_J} rename to gone",
            f"create view {_J} as select parameter, '555ms'::text as value_before, true as in_auto_conf "
            "from redolab.gone where parameter = 'wal_writer_delay'",
        ),
        ("create view redolab.of_ours as select 1 as it",),
    ],
    "family": [
        (_SOME, f"rename table {_J} to redolab.gone", f"create view {_J} as select * from redolab.gone"),
        *(
            (
                f"rename table redolab.{table} to redolab.gone",
                f"create definer = stranger@localhost sql security invoker view redolab.{table} as "
                "select * from redolab.gone where trap.spring() = 1",
            )
            for table in ("session", "account", "parameter_journal")
        ),
        ("create view redolab.of_ours as select 1 as it",),
    ],
}
OWNER: Mapping[str, Variants] = {
    "postgres": [
        ("alter schema redolab owner to stranger",),
        (_SOME, f"alter table {_J} owner to stranger"),
    ],
    # Nobody owns a database there: somebody else gets all rights on it.
    "family": [("grant all on redolab.* to stranger@localhost",)],
}
COMMENT: Mapping[str, Variants] = {
    "postgres": [("comment on schema redolab is 'of our team'",), ("comment on schema redolab is null",)],
    "family": [
        (_SOME, f"alter table {_J} comment = 'of our team'"),
        (_SOME, f"alter table {_J} comment = ''"),
    ],
}
SCHEMA_DROPPED: Mapping[str, Variants] = {
    "postgres": [("drop schema redolab cascade",)],
    "family": [("drop database redolab",)],
}


def _moved(server: Somebody) -> Sequence[Variant]:
    """A database has no other name there; its tables can be put into another one."""
    rows = server.execute(
        "select table_name as it from information_schema.tables where table_schema = 'redolab'"
    )
    names = [f"redolab.`{row['it']}` to kept.`{row['it']}`" for row in rows]
    renamed = f"rename table {', '.join(names)}" if names else f"select 1 from {_J}"
    return [
        ("create database if not exists kept", renamed),
        ("create database if not exists kept", renamed, "drop database redolab"),
    ]


SCHEMA_RENAMED: Mapping[str, Variants] = {
    "postgres": [("alter schema redolab rename to kept",)],
    "family": _moved,
}


def _revoked(server: Somebody) -> Sequence[Variant]:
    if server.engine == "mysql":
        return [
            ("revoke SYSTEM_VARIABLES_ADMIN on *.* from lab@localhost",),
            ("revoke all on redolab.* from lab@localhost",),
        ]
    return [("revoke SUPER on *.* from lab@localhost",), ("revoke all on redolab.* from lab@localhost",)]


RIGHTS: Mapping[str, Variants] = {
    "postgres": [
        ("revoke alter system on parameter wal_writer_delay, wal_writer_flush_after from lab",),
        ("revoke execute on function pg_reload_conf() from lab",),
        ("revoke create on database postgres from lab",),
        ("revoke pg_monitor from lab",),
    ],
    "family": _revoked,
}
LOCKED: Mapping[str, Sequence[Variant]] = {
    "postgres": [
        ("begin", f"lock table {_J} in access exclusive mode"),
        ("begin", f"select * from {_J}"),
    ],
    "family": [
        (f"lock tables {_J} write",),
        ("set autocommit = 0", f"select * from {_J}"),
    ],
}


@dataclass(frozen=True)
class Theirs:
    """A parameter that somebody sets."""

    name: str
    value: str
    """As the server shows it afterwards."""
    statements: Variant
    expected: Mapping[tuple[str, str], str]


def _altered(name: str, text: str, value: str) -> Theirs:
    return Theirs(
        name, value, (f"alter system set {name} = '{text}'", "select pg_reload_conf()"),
        {("parameter", name): value, ("auto.conf", name): f"'{text}'"},
    )  # fmt: skip


def _set(name: str, value: str) -> Theirs:
    return Theirs(name, value, (f"set global {name} = {value}",), {("parameter", name): value})


SAME: Mapping[str, tuple[Theirs, ...]] = {
    "postgres": (
        _altered("wal_writer_delay", "300ms", "300"), _altered("wal_writer_flush_after", "3MB", "384"),
    ),
    "mariadb": (_set("sync_binlog", "7"), _set("innodb_flush_log_at_trx_commit", "2")),
    "mysql": (_set("sync_binlog", "7"), _set("innodb_flush_log_at_trx_commit", "2")),
}  # fmt: skip
OTHER: Mapping[str, tuple[Theirs, ...]] = {
    "postgres": (_altered("work_mem", "5MB", "5120"), _altered("checkpoint_timeout", "7min", "420")),
    "mariadb": (_set("max_connect_errors", "177"), _set("net_retry_count", "17")),
    "mysql": (_set("max_connect_errors", "177"), _set("net_retry_count", "17")),
}


def read_only(server: Somebody) -> tuple[Variant, Variant, Mapping[tuple[str, str], str]]:
    """What makes a server read-only, what ends it, and what shows it."""
    if server.engine == "postgres":
        reload = "select pg_reload_conf()"
        name = "default_transaction_read_only"
        return (
            (f"alter system set {name} = on", reload), (f"alter system reset {name}", reload),
            {("parameter", name): "on", ("auto.conf", name): "'on'"},
        )  # fmt: skip
    if server.engine == "mysql":
        shown = {("parameter", "read_only"): "ON", ("parameter", "super_read_only"): "ON"}
        return ("set global super_read_only = on",), ("set global read_only = off",), shown
    return ("set global read_only = on",), ("set global read_only = off",), {("parameter", "read_only"): "ON"}
