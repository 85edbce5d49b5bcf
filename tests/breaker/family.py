"""Somebody's MariaDB or MySQL."""

from __future__ import annotations

import atexit
import json
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pymysql
from pymysql.cursors import DictCursor

from tests.breaker.somebody import Rows, Somebody, State, StatementError
from tests.mariadb import MariaDB, run
from tests.server_programs import server_programs

# What moves on by itself, whoever writes to the binary log.
_MOVES_ON = ("gtid_",)
_OPTIONS = ("--log-bin=binlog", "--server-id=1", "--max-binlog-size=16M")
_SMALL = {"mysql": "--innodb-redo-log-capacity=16M", "mariadb": "--innodb-log-file-size=16M"}
_MEGABYTES = 700
_RIGHTS = {
    "mysql": "PROCESS, SYSTEM_VARIABLES_ADMIN",
    "mariadb": "PROCESS, SUPER, BINLOG ADMIN",
}


# A stranger's function, which writes down as whom it is executed.
_TRAP = (
    "create database trap", "create table trap.sprung (who varchar(100))",
    "create definer = stranger@localhost function trap.spring() returns int deterministic modifies sql data "
    "sql security invoker begin insert into trap.sprung values (current_user()); return 1; end",
    "grant execute, insert on trap.* to lab@localhost",
)  # fmt: skip


class Family(Somebody):
    own = "database redolab"

    def __init__(self, name: str) -> None:
        self.name = name
        self.engine = name.partition(" ")[0]
        super().__init__(_MEGABYTES)

    @property
    def url(self) -> str:
        return f"mysql://lab@/?unix_socket={self._server.socket}"

    def _session(self) -> pymysql.Connection[DictCursor]:
        connection = self._server.connect(read_timeout=20, write_timeout=20, defer_connect=True)
        # PyMySQL leaves a socket of its own open where nobody answers.
        to_server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            to_server.settimeout(5)
            to_server.connect(str(self._server.socket))
            connection.connect(to_server)
        except BaseException:
            to_server.close()
            raise
        return connection

    def hold(self, *statements: str) -> Callable[[], None]:
        try:
            connection = self._session()
            try:
                for statement in ("set session lock_wait_timeout = 2", *statements):
                    run(connection, statement)
            except BaseException:
                connection.close()
                raise
        except (pymysql.Error, OSError) as error:
            raise StatementError(str(error)) from error
        return lambda: _close(connection)

    def execute(self, *statements: str) -> Rows:
        rows: Rows = []
        try:
            with closing(self._session()) as connection:
                run(connection, "set session lock_wait_timeout = 2, innodb_lock_wait_timeout = 2")
                for statement in statements:
                    rows = run(connection, statement)
        except (pymysql.Error, OSError) as error:
            raise StatementError(str(error)) from error
        return rows

    def state(self) -> State:
        found: State = {}
        for row in self.execute("show global variables"):
            if not row["Variable_name"].startswith(_MOVES_ON):
                found["parameter", row["Variable_name"]] = row["Value"]
        persisted = self.disk.inside / "mysqld-auto.cnf"
        if persisted.exists():
            for kind, entries in json.loads(persisted.read_text()).items():
                if isinstance(entries, dict):
                    found |= {
                        ("mysqld-auto.cnf", f"{kind} {name}"): _value(it) for name, it in entries.items()
                    }
        for row in self.execute("show databases"):
            name = row["Database"]
            if name == "redolab":
                found["own", name] = "there"
            elif name != "kept":
                found["database", name] = "there"
        for row in self.execute("select count(*) as it from trap.sprung where who like 'lab@%%'"):
            found["trap", "sprung"] = str(row["it"])
        return found

    def at_work(self) -> int:
        return len(self._of_lab())

    def end_connections(self) -> None:
        for row in self._of_lab():
            # One that has ended by itself meanwhile is not there to be killed.
            try:
                self.execute(f"kill {row['ID']}")
            except StatementError as error:
                if "Unknown thread" not in str(error):
                    raise

    def forgets(self, key: tuple[str, str]) -> bool:
        return key[0] == "parameter"

    def alive(self) -> bool:
        process = self._server.process
        return process is not None and process.poll() is None

    def end(self, how: signal.Signals) -> None:
        process = self._server.process
        if process is not None:
            process.send_signal(how)
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                # On a full disk a shutdown may wait for ever, and whoever runs it loses patience.
                process.kill()
                process.wait(timeout=60)
            self._server.process = None

    def _of_lab(self) -> Rows:
        return self.execute("select ID from information_schema.processlist where user = 'lab'")

    def _make(self, place: Path) -> None:
        self._server = _Server(place, self.name, _first(self.name))

    def _begin(self) -> None:
        variables = [f"{name}={value}" for name, value in self.clock.environment.items()]
        with (self._server.place / "log").open("ab") as log:
            self._server.process = subprocess.Popen(
                [*self.disk.prefix, "env", *variables, *self._server._command()],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
            )  # fmt: skip

    def _settle_in(self) -> None:
        self.execute("create user lab@localhost", "create user stranger@localhost", *_TRAP)
        self.allow()

    def allow(self) -> None:
        self.execute(
            f"grant {_RIGHTS[self.engine]} on *.* to lab@localhost",
            "grant all on redolab.* to lab@localhost",
            "grant select on performance_schema.* to lab@localhost",
        )


class _Server(MariaDB):
    """With a copy of the data that were made for the first of its kind."""

    def __init__(self, place: Path, name: str, copy_of: Path | None) -> None:
        self._copy_of = copy_of
        super().__init__(place, *_OPTIONS, _SMALL[name.partition(" ")[0]], name=name)

    def _make(self, how: str, script: str = "") -> None:
        if self._copy_of is None:
            super()._make(how, script)
        else:
            subprocess.run(["cp", "-a", self._copy_of / "data", self.place], check=True)


@cache
def _first(name: str) -> Path:
    place = Path(tempfile.mkdtemp(prefix="redolab-breaker-first-"))
    atexit.register(shutil.rmtree, place)
    return _Server(place / "server", name, None).place


def _close(connection: pymysql.Connection[DictCursor]) -> None:
    with suppress(pymysql.Error, OSError):
        connection.close()


def _value(entry: Any) -> str:
    return str(entry.get("Value")) if isinstance(entry, dict) else str(entry)


def name_of(engine: str, seed: int) -> str | None:
    """Which server a seed takes; None where none of that kind is to be had."""
    names = [name for name in server_programs() if name.startswith(engine)]
    return names[seed % len(names)] if names else None
