"""Servers of MariaDB's family as people have them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pymysql

from redolab.engine.mariadb.connection import Connection
from tests.mariadb import MariaDB, run, running_mariadb
from tests.matrix.odd import Odd, at_start, parameter

_TABLE = "create table if not exists theirs.colleague (id int primary key, n bigint) engine = InnoDB"
_CALM = (
    "set session max_join_size = 18446744073709551615, sql_big_selects = 1, sql_select_limit = 1000000, "
    "sql_safe_updates = 0, sql_mode = '', autocommit = 1, completion_type = 0, "
    "default_storage_engine = InnoDB, wait_timeout = 600"
)

_BOTH = (
    # What answers are written like.
    parameter("sql_mode = ''"), parameter("sql_mode = 'ANSI'"), parameter("sql_mode = 'TRADITIONAL'"),
    parameter("sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE,NO_BACKSLASH_ESCAPES'"),
    parameter("sql_mode = 'HIGH_NOT_PRECEDENCE,NO_UNSIGNED_SUBTRACTION,PAD_CHAR_TO_FULL_LENGTH'"),
    parameter("sql_select_limit = 1"), parameter("sql_select_limit = 5"),
    parameter("max_join_size = 1; sql_big_selects = 0"), parameter("group_concat_max_len = 4"),
    parameter("sql_auto_is_null = 1"), parameter("time_zone = '-12:00'"), parameter("time_zone = '+12:45'"),
    parameter("div_precision_increment = 0"),
    parameter("character_set_server = latin1; collation_server = latin1_bin"),
    parameter("collation_connection = utf8mb4_bin"), parameter("default_week_format = 5"),
    # How sessions begin.
    parameter("autocommit = 0"), parameter("completion_type = CHAIN"),
    parameter("completion_type = RELEASE", hides=("number",)),
    parameter("init_connect = 'set autocommit = 0'"), parameter("sql_safe_updates = 1"),
    parameter("updatable_views_with_limit = 0"), parameter("foreign_key_checks = 0; unique_checks = 0"),
    parameter("wait_timeout = 2; interactive_timeout = 2"), parameter("lock_wait_timeout = 1"),
    parameter("innodb_lock_wait_timeout = 1"), parameter("net_read_timeout = 1; net_write_timeout = 1"),
    parameter("max_allowed_packet = 65536; net_buffer_length = 1024"),
    parameter("default_storage_engine = MyISAM"), parameter("default_storage_engine = MEMORY"),
    parameter("big_tables = 1"), parameter("innodb_strict_mode = 0"), parameter("join_buffer_size = 128"),
    parameter("innodb_default_row_format = compact"), parameter("low_priority_updates = 1"),
    parameter("sql_notes = 0"), parameter("local_infile = 0"), parameter("event_scheduler = 1"),
    # How the log is written.
    parameter("innodb_flush_log_at_trx_commit = 0"), parameter("innodb_flush_log_at_trx_commit = 2"),
    parameter("sync_binlog = 0"), parameter("sync_binlog = 1000"),
    parameter("innodb_flush_log_at_timeout = 300"), parameter("binlog_format = STATEMENT"),
    parameter("binlog_row_image = MINIMAL"), parameter("binlog_cache_size = 4096"),
    parameter("innodb_io_capacity = 100"), parameter("innodb_max_dirty_pages_pct = 1"),
    at_start("innodb_flush_method = O_DSYNC"), at_start("innodb_flush_method = O_DIRECT"),
    at_start("innodb_flush_method = fsync"), at_start("innodb_flush_method = nosync", volatile=True),
    at_start("innodb_doublewrite = 0"), at_start("innodb_use_native_aio = 0"), at_start("skip-log-bin = 1"),
    # What is counted and written down.
    parameter("slow_query_log = 1; long_query_time = 0"), parameter("general_log = 1"),
    at_start("performance_schema = 1"),
    parameter("innodb_stats_on_metadata = 1"),
    # What the server is given.
    parameter("max_connections = 20"), parameter("thread_cache_size = 0"), at_start("table_open_cache = 40"),
    at_start("lower_case_table_names = 1"), at_start("skip-show-database = 1"),
    # What is at work beside.
    Odd("idle in transaction", beside=("begin", "select 1", "do sleep(0.2)", "commit")),
    Odd("locks of an application",
        beside=("do get_lock('theirs', 0)", "do sleep(0.1)", "do release_all_locks()")),
    Odd("temporary tables",
        beside=("create temporary table theirs.t select 1 as i", "drop temporary table theirs.t")),
    Odd("DDL beside", beside=("create table if not exists theirs.d (i int)", "alter table theirs.d add j int",
                              "drop table theirs.d", "do sleep(0.05)")),
    Odd("changes of two phases", beside=("xa start 'theirs'", "xa end 'theirs'", "xa prepare 'theirs'",
                                         "do sleep(0.05)", "xa rollback 'theirs'")),
    # Where no run is possible.
    parameter("max_prepared_stmt_count = 0", refuses="max_prepared_stmt_count"),
)  # fmt: skip

_MARIADB = (
    parameter("sql_mode = 'ORACLE'"), parameter("sql_mode = 'EMPTY_STRING_IS_NULL'"),
    parameter("old_mode = ''"), parameter("max_statement_time = 5"),

    parameter("binlog_commit_wait_usec = 1000; binlog_commit_wait_count = 2"),
    parameter("innodb_flush_log_at_trx_commit = 3"), parameter("userstat = 1"),
    parameter("rpl_semi_sync_master_enabled = 1"), parameter("log_output = 'TABLE'"),
    at_start("query-cache-type = 1"), at_start("thread-handling = pool-of-threads"),
    parameter("idle_transaction_timeout = 1"), parameter("sql_if_exists = 1"),
    parameter("tx_isolation = 'SERIALIZABLE'"),
    parameter("tx_read_only = 1", refuses="(tx|transaction)_read_only = ON"),
    at_start("performance_schema = 0"), at_start("innodb_read_only_compressed = 0"),
    at_start("log-slave-updates = 1; gtid-domain-id = 7"),
)  # fmt: skip

_MYSQL = (
    parameter("lc_time_names = 'de_DE'"), parameter("max_execution_time = 5000"),
    parameter("max_user_connections = 40"), parameter("transaction_isolation = 'SERIALIZABLE'"),
    parameter("sql_require_primary_key = 1"), parameter("sql_generate_invisible_primary_key = 1"),
    parameter("binlog_group_commit_sync_delay = 1000"), parameter("binlog_order_commits = 0"),
    parameter("innodb_flush_log_at_trx_commit = 2; sync_binlog = 0"), parameter("log_output = 'TABLE'"),
    parameter("partial_revokes = 1"), parameter("activate_all_roles_on_login = 1"),
    parameter("innodb_redo_log_capacity = 8388608"), parameter("innodb_log_writer_threads = 0"),
    parameter("session_track_gtids = OWN_GTID; session_track_schema = 1"),
    parameter("explicit_defaults_for_timestamp = 0"), parameter("binlog_transaction_compression = 1"),
    at_start("gtid-mode = ON; enforce-gtid-consistency = ON"), at_start("innodb-dedicated-server = 1"),
    at_start("innodb_doublewrite = DETECT_ONLY"), parameter("require_secure_transport = 1"),
    Odd("redo log disabled", statements=("alter instance disable innodb redo_log",),
        undo=("alter instance enable innodb redo_log",), volatile=True),
    parameter("transaction_read_only = 1", refuses="transaction_read_only = ON"),
    at_start("performance_schema = 0", refuses="performance_schema"),
    parameter("read_only = 1; super_read_only = 1", refuses="read.only"), parameter("offline_mode = 0"),
)  # fmt: skip

ODD = {"mariadb": (*_BOTH, *_MARIADB), "mysql": (*_BOTH, *_MYSQL)}


class Family:
    """One server with some of these settings."""

    def __init__(self, server: MariaDB) -> None:
        self._server, self.engine = server, server.flavour
        self.url = server.url
        self._before = self._variables()

    def _variables(self) -> dict[str, str]:
        with self._plain() as session:
            return {row["Variable_name"]: row["Value"] for row in run(session, "show global variables")}

    @contextmanager
    def _plain(self) -> Iterator[Connection]:
        """A session that no setting touches."""
        session = self._server.connect()
        try:
            run(session, _CALM)
            yield session
        finally:
            session.close()

    def put(self, odds: Sequence[Odd]) -> None:
        """Set what is set while it runs."""
        with self._plain() as admin:
            run(admin, "create database if not exists theirs")
            run(admin, _TABLE)
            for statement in (text for odd in odds for text in odd.statements):
                run(admin, statement)
            for name, value in ((name, value) for odd in odds for name, value in odd.live.items()):
                run(admin, f"set global {name} = {_written(value)}")

    def undo(self, odds: Sequence[Odd]) -> None:
        """Have it again as it was started."""
        with self._plain() as admin:
            run(admin, "set session transaction read write")
            for name in reversed([name for odd in odds for name in odd.live]):
                run(admin, f"set global {name} = {_written(self._before[name])}")
            for statement in (text for odd in odds for text in odd.undo):
                run(admin, statement)

    def state(self) -> dict[str, object]:
        """What a run must leave as it was."""
        with self._plain() as session:
            schemas = [next(iter(row.values())) for row in run(session, "show databases")]
        still = {
            name: it for name, it in self._variables().items() if not name.startswith(("gtid_", "timestamp"))
        }
        return {**still, "schemas": schemas}

    def commits(self, stop: threading.Event, pause_s: float) -> Iterator[None]:
        """Commit rows until `stop`; gives something after each commit, and ends where one is refused."""
        with suppress(pymysql.Error), self._plain() as session:
            run(session, "insert ignore into theirs.colleague values (1, 0)")
            while not stop.wait(pause_s):
                run(session, "update theirs.colleague set n = n + 1 where id = 1")
                yield

    def repeat(self, statements: Sequence[str], stop: threading.Event) -> None:
        """Execute these until `stop`."""
        while not stop.wait(0.1):
            with suppress(pymysql.Error), self._plain() as session:
                while not stop.wait(0.01):
                    for statement in statements:
                        run(session, statement)


def _written(value: str) -> str:
    """A value as SET has it."""
    return value if value.replace(".", "", 1).isdigit() or value.startswith("'") else f"'{value}'"


@contextmanager
def started(name: str, odds: Sequence[Odd], place: Path) -> Iterator[Family]:
    """A server of that name, started with what these settings need."""
    usual = {"log-bin": "binlog", "sync-binlog": "1"}
    start = {name: value for odd in odds for name, value in odd.start.items()}
    if "skip-log-bin" in start:
        usual = {}
    options = [f"--{option}={value}" for option, value in {**usual, **start}.items()]
    with running_mariadb(place, *options, name=name) as server:
        yield Family(server)
