"""A server of MariaDB's family as somebody else would run it, on a socket and on 127.0.0.1."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pymysql
from pymysql.cursors import DictCursor

from redolab.engine.mariadb.connecting.target import read_target
from redolab.engine.mariadb.connection import Connection, connect
from redolab.errors import RefusedError
from tests.server_programs import INSTALLED, program_of

PATIENCE_S = 60.0
PASSWORD = "s3cret-of-the-test"
MOST_KEPT = 4
"""Copies of some 150 MB; odd servers have options that no second one has."""
_initialised: dict[tuple[object, ...], Path] = {}
_SCRIPTS = ("system_tables", "performance_tables", "system_tables_data")


def _as_root() -> list[str]:
    """The server runs as root only when told so."""
    return ["--user=root"] if os.geteuid() == 0 else []


class MariaDB:
    """A server in a directory of its own; `root` has no password."""

    def __init__(
        self, place: Path, *options: str, name: str = INSTALLED, environment: Mapping[str, str] | None = None
    ) -> None:
        self.place, self._options = place, options
        self.program = program_of(name)
        self.flavour = name.partition(" ")[0]
        self.socket = place / "s"
        self._environment = {**os.environ, **(environment or {})}
        place.mkdir(parents=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._initialise()
        self.process: subprocess.Popen[bytes] | None = None

    def _initialise(self) -> None:
        """Once for each program and its options: each further server has a copy of what that made."""
        alike = (self.program, *self._options)
        kept = _initialised.get(alike)
        if kept is not None:
            subprocess.run(["cp", "-a", kept / "data", self.place], check=True)
            return
        if self.flavour == "mysql":
            self._make("--initialize-insecure")
        else:
            (self.place / "data").mkdir()
            self._make("--bootstrap", script=_system_tables(self.program))
        # Two servers have not the same name.
        (self.place / "data" / "auto.cnf").unlink(missing_ok=True)
        if len(_initialised) >= MOST_KEPT:
            return
        kept = Path(tempfile.mkdtemp(prefix="redolab-initialised-"))
        atexit.register(shutil.rmtree, kept)
        subprocess.run(["cp", "-a", self.place / "data", kept], check=True)
        _initialised[alike] = kept

    def _make(self, how: str, script: str = "") -> None:
        made = subprocess.run(
            [*self._command(), how], input=script, text=True, capture_output=True, check=False
        )
        assert made.returncode == 0, made.stderr

    def _command(self) -> list[str | Path]:
        # Debian's MySQL ends without its directory for files to load, which only its package makes.
        of_mysql = ["--secure-file-priv=NULL", "--mysqlx=OFF"] if self.flavour == "mysql" else []
        return [
            self.program, "--no-defaults", *_as_root(), *of_mysql,
            f"--datadir={self.place}/data", f"--tmpdir={self.place}",
            f"--socket={self.socket}", f"--port={self.port}", "--bind-address=127.0.0.1",
            "--innodb-buffer-pool-size=32M", "--skip-name-resolve", *self._options,
        ]  # fmt: skip

    def start(self) -> None:
        with (self.place / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment
            )
        give_up = time.monotonic() + PATIENCE_S
        while not self._answers():
            assert time.monotonic() < give_up, (self.place / "log").read_text()
            time.sleep(0.05)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.place / "log").read_text()
        try:
            connect(read_target(self.url)).close()
        except RefusedError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE_S)
            self.process = None

    @property
    def url(self) -> str:
        return f"mysql://root@/?unix_socket={self.socket}"

    def connect(self, **settings: Any) -> Connection:
        opened = pymysql.connect(
            unix_socket=str(self.socket), cursorclass=DictCursor, autocommit=True,
            **{"user": "root", "program_name": "a test", **settings},
        )  # fmt: skip
        # Redolab's own is one that knows its bounds; what tests ask needs none.
        return cast("Connection", opened)

    def ask(self, question: str) -> list[dict[str, Any]]:
        connection = self.connect()
        try:
            return run(connection, question)
        finally:
            connection.close()


def _system_tables(program: Path) -> str:
    """What makes the tables of users, from the files that came with a MariaDB."""
    (first,) = (program.resolve().parents[1] / "share").glob("m*/m*_system_tables.sql")
    texts = (first.with_name(first.name.replace("system_tables", part)).read_text() for part in _SCRIPTS)
    return "\n".join(("create database mysql;", "use mysql;", "set @auth_root_socket = null;", *texts))


def run(connection: pymysql.Connection[DictCursor], statement: str) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def number_of(connection: pymysql.Connection[DictCursor]) -> int:
    """What the server calls the connection."""
    return int(run(connection, "select connection_id() as it")[0]["it"])


@contextmanager
def running_mariadb(
    place: Path, *options: str, name: str = INSTALLED, environment: Mapping[str, str] | None = None
) -> Iterator[MariaDB]:
    """Give a server, and end it afterwards."""
    server = MariaDB(place, *options, name=name, environment=environment)
    try:
        server.start()
        yield server
    finally:
        server.stop(signal.SIGKILL)
