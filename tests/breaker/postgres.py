"""Somebody's PostgreSQL."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
from psycopg.rows import dict_row

from redolab.engine.private.processes import as_user
from tests.breaker.somebody import Rows, Somebody, State, StatementError
from tests.servers import PASSWORD, Server, installed_servers

# As much as Redolab wants to find free; what is not written takes no memory.
_MEGABYTES = 700
_CONFIGURATION = "min_wal_size = 32MB\nmax_wal_size = 64MB\nauthentication_timeout = 10s\n"
_ALTERED = (
    "synchronous_commit",
    "commit_delay",
    "commit_siblings",
    "wal_writer_delay",
    "wal_writer_flush_after",
)
_RIGHTS = (
    "grant create on database postgres to lab",
    f"grant set, alter system on parameter {', '.join(_ALTERED)} to lab",
    "grant execute on function pg_reload_conf() to lab",
    "grant pg_monitor to lab",
)
_TO_READ = (
    "grant select on pg_file_settings to lab",
    "grant execute on function pg_show_all_file_settings() to lab",
)
_SETTINGS = "select name, setting from pg_settings where name <> 'transaction_read_only'"
_ROLES = (
    "select coalesce(setrole::regrole::text, '') || ' ' || setdatabase::text as name, setconfig::text as it "
    "from pg_db_role_setting"
)
_OTHER_RELATIONS = (
    "select c.oid::regclass::text as name, c.relkind::text as it from pg_class c join pg_namespace n "
    "on n.oid = c.relnamespace where n.nspname !~ '^(pg_.*|information_schema|redolab|kept)$'"
)


class Postgres(Somebody):
    engine = "postgres"
    own = "schema redolab cascade"

    def __init__(self, reads_file: bool) -> None:
        """`reads_file`: whether Redolab's role may read the lines of the configuration."""
        self._reads_file = reads_file
        super().__init__(_MEGABYTES)

    @property
    def url(self) -> str:
        return self._server.url(user="lab")

    def _session(self) -> psycopg.Connection[dict[str, object]]:
        connection = psycopg.connect(
            self._server.conninfo("postgres", host=str(self._server.place)), autocommit=True,
            row_factory=dict_row, connect_timeout=10, application_name="an administrator",
            options="-c default_transaction_read_only=off -c lock_timeout=2s -c statement_timeout=20s",
        )  # fmt: skip
        # Messages of a crash are the server's business.
        connection.add_notice_handler(lambda _: None)
        return connection

    def hold(self, *statements: str) -> Callable[[], None]:
        try:
            connection = self._session()
            try:
                for statement in statements:
                    connection.execute(statement.encode())
            except BaseException:
                connection.close()
                raise
        except psycopg.Error as error:
            raise StatementError(str(error)) from error
        return connection.close

    def execute(self, *statements: str) -> Rows:
        try:
            with closing(self._session()) as connection:
                for statement in statements:
                    cursor = connection.execute(statement.encode())
                return list(cursor.fetchall()) if cursor.description else []
        except psycopg.Error as error:
            raise StatementError(str(error)) from error

    def state(self) -> State:
        found: State = {}
        for row in self.execute(_SETTINGS):
            found["parameter", row["name"]] = row["setting"]
        # This connection's own, which sets it so that it can always write.
        for row in self.execute(
            "select name, setting from pg_file_settings "
            "where applied and name = 'default_transaction_read_only'"
        ):
            found["parameter", row["name"]] = row["setting"]
        for line in (self.disk.inside / "postgresql.auto.conf").read_text().splitlines():
            if not line.startswith("#"):
                name, _, value = line.partition(" = ")
                found["auto.conf", name] = value
        for row in self.execute(_ROLES):
            found["role setting", row["name"]] = row["it"]
        for row in self.execute(_OTHER_RELATIONS):
            found["relation", row["name"]] = row["it"]
        if self.execute("select from pg_namespace where nspname = 'redolab'"):
            found["own", "redolab"] = "there"
        return found

    def at_work(self) -> int:
        return len(self.execute("select pid from pg_stat_activity where usename = 'lab'"))

    def end_connections(self) -> None:
        self.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'lab'")

    def forgets(self, key: tuple[str, str]) -> bool:  # noqa: ARG002
        return False

    def alive(self) -> bool:
        process = self._server.process
        return process is not None and process.poll() is None

    def end(self, how: signal.Signals) -> None:
        process = self._server.process
        if process is not None:
            # A killed one's children end by themselves as soon as they see it.
            process.send_signal(signal.SIGINT if how == signal.SIGTERM else how)
            process.wait(timeout=60)
            self._server.process = None

    def _make(self, place: Path) -> None:
        self._server = Server(installed_servers()["18"], place)
        with (self._server.data / "postgresql.conf").open("a") as file:
            file.write(_CONFIGURATION)

    def _begin(self) -> None:
        server = self._server
        variables = [f"{name}={value}" for name, value in self.clock.environment.items()]
        with (server.place / "server.log").open("ab") as log:
            server.process = subprocess.Popen(
                [*self.disk.prefix, *server._prefix, "env", *variables, server.programs / "postgres",
                 "-D", server.data],
                cwd="/", stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=dict(os.environ),
                **as_user(server._user),
            )  # fmt: skip

    def _settle_in(self) -> None:
        self.execute(
            f"create role lab login password '{PASSWORD}'", "create role stranger login"
        )  # fmt: skip
        self.allow()

    def allow(self) -> None:
        self.execute(*_RIGHTS, *(_TO_READ if self._reads_file else ()))
