"""PostgreSQL servers as people have them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.matrix.odd import Odd, at_start, parameter
from tests.servers import Server, programs_of, running, wait_until

_TABLE = "create table if not exists public.colleague (id int primary key, n bigint)"
_OLD = ("14", "15", "16", "17", "18")
_NOT_OLD = ("17", "18", "19")

ODD = (
    # What answers are written like.
    parameter("datestyle = 'German, DMY'"), parameter("datestyle = 'SQL, MDY'"),
    parameter("datestyle = 'Postgres, DMY'"), parameter("intervalstyle = postgres_verbose"),
    parameter("intervalstyle = sql_standard"), parameter("timezone = 'America/St_Johns'"),
    parameter("timezone = 'Asia/Kathmandu'"), parameter("extra_float_digits = -15"),
    parameter("bytea_output = escape"), parameter("standard_conforming_strings = off", only=_OLD),
    parameter("xmlbinary = hex"), parameter("client_encoding = latin1"),
    parameter("client_encoding = sql_ascii"), parameter("quote_all_identifiers = on"),
    parameter("array_nulls = off"), parameter("transform_null_equals = on"),
    parameter("xmloption = document"),
    # How sessions begin.
    parameter("search_path = ''"), parameter("search_path = nowhere"),
    parameter("default_transaction_isolation = serializable"),
    parameter("default_transaction_isolation = 'repeatable read'"),
    parameter("default_transaction_deferrable = on"), parameter("row_security = off"),
    parameter("check_function_bodies = off"), parameter("default_toast_compression = pglz"),
    parameter("application_name = 'their pool'"), parameter("session_replication_role = replica"),
    parameter("statement_timeout = 5s"), parameter("lock_timeout = 20ms"),
    parameter("idle_in_transaction_session_timeout = 300ms"), parameter("idle_session_timeout = 400ms"),
    parameter("transaction_timeout = 3s", only=_NOT_OLD),
    # How the log is written.
    parameter("fsync = off", volatile=True), parameter("full_page_writes = off"),
    parameter("synchronous_commit = off"), parameter("synchronous_commit = local"),
    parameter("synchronous_commit = remote_apply"), parameter("wal_compression = on"),
    parameter("wal_sync_method = open_datasync"), parameter("wal_sync_method = fsync"),
    parameter("commit_delay = 1000; commit_siblings = 0"), parameter("wal_writer_delay = 10s"),
    parameter("wal_writer_flush_after = 0"), parameter("checkpoint_timeout = 30s; max_wal_size = 32MB"),
    parameter("track_wal_io_timing = off"), at_start("wal_level = logical"),
    at_start("wal_level = minimal; max_wal_senders = 0"), at_start("wal_log_hints = on"),
    at_start("wal_buffers = 32kB"),
    at_start("archive_mode = on; archive_command = /bin/false; wal_level = replica"),
    # What is counted and written down.
    parameter("track_activities = off", hides=("sessions",)), parameter("track_counts = off"),
    parameter("track_io_timing = on"), parameter("compute_query_id = off"),
    parameter("track_functions = all"),
    parameter("log_statement = all"), parameter("log_min_duration_statement = 0"),
    parameter("debug_print_plan = on"), at_start("track_activity_query_size = 100"),
    at_start("track_commit_timestamp = on"), parameter("update_process_title = off"),
    # How queries are planned.
    parameter("jit = on; jit_above_cost = 0"), parameter("plan_cache_mode = force_generic_plan"),
    parameter("enable_indexscan = off; enable_bitmapscan = off"), parameter("enable_seqscan = off"),
    parameter("work_mem = 64kB"), parameter("from_collapse_limit = 1; join_collapse_limit = 1"),
    parameter("parallel_setup_cost = 0; parallel_tuple_cost = 0; min_parallel_table_scan_size = 0"),
    parameter("debug_parallel_query = on", only=_NOT_OLD), parameter("max_parallel_workers_per_gather = 0"),
    # What the server is given.
    at_start("shared_buffers = 16MB"), at_start("huge_pages = off; shared_memory_type = sysv"),
    at_start("max_connections = 15; superuser_reserved_connections = 5"),
    at_start("io_method = sync", only=("18", "19")), at_start("max_prepared_transactions = 10"),
    parameter("autovacuum = on; autovacuum_naptime = 1s"), parameter("vacuum_cost_delay = 20ms"),
    parameter("log_connections = on; log_disconnections = on"),
    # What is at work beside.
    Odd("a parallel query", statements=(
        "create table public.wide as select i, i % 7 as j from generate_series(1, 300000) i",
        "alter table public.wide set (parallel_workers = 2)",
    ), undo=("drop table public.wide",), beside=(
        "set max_parallel_workers_per_gather = 2", "set parallel_setup_cost = 0",
        "select j, count(*) from public.wide group by j",
    )),
    Odd("an event trigger on every DDL", statements=(
        "create function public.seen() returns event_trigger language plpgsql as $$ begin null; end $$",
        "create event trigger seen on ddl_command_end execute function public.seen()",
    ), undo=("drop event trigger seen", "drop function public.seen()")),
    Odd("a logical slot that nobody reads", start={"wal_level": "logical"},
        statements=("select pg_create_logical_replication_slot('stale', 'pgoutput')",),
        undo=("select pg_drop_replication_slot('stale')",)),
    Odd("idle in transaction", beside=("begin", "select 1", "select pg_sleep(0.2)", "commit")),
    Odd("prepared transactions", start={"max_prepared_transactions": "10"}, beside=(
        "begin", "insert into public.colleague values (-2, 0) on conflict do nothing",
        "prepare transaction 'theirs'", "select pg_sleep(0.1)", "rollback prepared 'theirs'",
    )),
    Odd("advisory locks of an application", beside=("select pg_advisory_lock(1, 2)", "select pg_sleep(0.1)",
                                                    "select pg_advisory_unlock_all()")),
    Odd("vacuum of everything", beside=("vacuum (parallel 2)", "select pg_sleep(0.1)")),
    Odd("nobody may create in a database", statements=("revoke create on schema public from public",),
        undo=("grant create on schema public to public",)),
    Odd("listeners", beside=("listen everything", "notify everything", "select pg_sleep(0.05)")),
    # Where no run is possible.
    Odd("a publication of all tables", statements=("create publication everything for all tables",),
        undo=("drop publication everything",), refuses="publishes all tables"),
    parameter("default_transaction_read_only = on", refuses="accepts no writes"),
    at_start("allow_alter_system = off", only=_NOT_OLD, refuses=r"allow_alter_system = off"),
)  # fmt: skip


class Postgres:
    """One server with some of these settings."""

    engine = "postgres"

    def __init__(self, server: Server) -> None:
        self._server = server
        self.url = server.url()

    def put(self, odds: Sequence[Odd]) -> None:
        """Set what is set while it runs."""
        live = {name: value for odd in odds for name, value in odd.live.items()}
        loaded = self._server.ask("select pg_conf_load_time()::text")
        with self._server.admin() as admin:
            admin.execute(_TABLE)
            for name, value in live.items():
                quoted = value if value.startswith("'") else f"'{value}'"
                admin.execute(f"alter system set {name} = {quoted}".encode())
            admin.execute("select pg_reload_conf()")
            for statement in (text for odd in odds for text in odd.statements):
                admin.execute(statement.encode())
        wait_until(
            lambda: self._server.ask("select pg_conf_load_time()::text") != loaded,
            "the parameters are in force",
        )

    def undo(self, odds: Sequence[Odd]) -> None:
        """Have it again as it was started."""
        with self._server.admin() as admin:
            if any(odd.live for odd in odds):
                admin.execute("alter system reset all")
                admin.execute("select pg_reload_conf()")
            admin.execute("set default_transaction_read_only = off")
            for statement in (text for odd in odds for text in odd.undo):
                admin.execute(statement.encode())

    def state(self) -> dict[str, object]:
        """What a run must leave as it was."""
        schemas = self._server.ask("select string_agg(nspname, ' ' order by 1) from pg_namespace "
                                   "where nspname !~ '^pg_(toast_)?temp'")  # fmt: skip
        return {**self._server.settings(), "schemas": schemas, "file": self._server.altered()}

    @contextmanager
    def session(self) -> Iterator[psycopg.Connection[dict[str, object]]]:
        """A session of a colleague's."""
        with suppress(psycopg.Error), self._server.admin() as it:
            yield it

    def commits(self, stop: threading.Event, pause_s: float) -> Iterator[None]:
        """Commit rows until `stop`; gives something after each commit, and ends where one is refused."""
        with self.session() as session:
            session.execute("set default_transaction_read_only = off")
            session.execute("insert into public.colleague values (1, 0) on conflict do nothing")
            while not stop.wait(pause_s):
                session.execute("update public.colleague set n = n + 1 where id = 1")
                yield

    def repeat(self, statements: Sequence[str], stop: threading.Event) -> None:
        """Execute these until `stop`."""
        while not stop.is_set():
            with self.session() as session:
                while not stop.wait(0.01):
                    for statement in statements:
                        session.execute(statement.encode())
            stop.wait(0.1)


@contextmanager
def started(version: str, odds: Sequence[Odd], place: Path) -> Iterator[Postgres]:
    """A server of that version, started with what these settings need."""
    for server in running(programs_of(version), place):
        start = {name: value for odd in odds for name, value in odd.start.items()}
        if start:
            server.stop()
            with (server.data / "postgresql.conf").open("a") as file:
                file.writelines(f"{name} = '{value}'\n" for name, value in start.items())
            server.start()
        yield Postgres(server)
