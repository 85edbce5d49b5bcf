"""Private MariaDB and MySQL servers of the installed programs: own directory and socket, removed afterwards.

They have no network. A MariaDB has no tables of users, a MySQL one user without a password: whoever can
enter its directory, which is its owner alone, is its administrator. Its guard process stops it and removes
its directory, whatever becomes of Redolab.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from redolab.dialect.innodb import WITHOUT_BINLOG
from redolab.engine.linux.local_server import MEMORY_FILESYSTEMS, filesystem
from redolab.engine.mariadb.connection import connect_private
from redolab.engine.private.guard import ServerCharge
from redolab.engine.private.log_device import Log
from redolab.engine.private.place import base_directory, cache_mib
from redolab.engine.private.server import GuardedServer
from redolab.errors import RefusedError

Flavour = Literal["mariadb", "mysql"]

_START_LIMIT_S = 60.0
_CACHE_MIB = 512
_PID_FILE = "server.pid"
_PROGRAMS: dict[Flavour, str] = {"mariadb": "mariadbd", "mysql": "mysqld"}
TITLES: dict[Flavour, str] = {"mariadb": "MariaDB", "mysql": "MySQL"}
_PACKAGES: dict[Flavour, str] = {
    "mariadb": "On Debian and Ubuntu: apt-get install mariadb-server-core;",
    "mysql": "Install mysql-server-core, or put the directory of an unpacked mysqld into PATH;",
}
_FURTHER_PLACES = "/usr/sbin:/usr/local/sbin:/usr/libexec:/usr/local/mysql/bin"
_REDO: dict[Flavour, Log] = {
    "mariadb": Log("redo", "redo log", "ib_logfile"),
    "mysql": Log("redo", "redo log", "#innodb_redo/"),
}
_BINLOG = Log("binlog", "binary log", "binlog.")
_WITH_BINLOG = (
    "--log-bin=binlog", "--sync-binlog=1",
    # A run leaves no more of it than of one minute.
    "--max-binlog-size=256M", "--binlog-expire-logs-seconds=60",
)  # fmt: skip
_OPTIONS: dict[Flavour, tuple[str, ...]] = {
    "mariadb": (
        "--skip-grant-tables",
        "--binlog-format=ROW",
        "--performance-schema=OFF",
        "--innodb-log-file-size=512M",
        "--loose-slave-connections-needed-for-purge=0",
    ),
    "mysql": (
        "--secure-file-priv=NULL",
        "--mysqlx=OFF",
        "--loose-innodb-redo-log-capacity=512M",
    ),
}
# What its undo log needs is given back only on purge: nothing may wait for that at the end.
_QUICKEST_END: dict[Flavour, int] = {"mariadb": 3, "mysql": 2}
_COMMITS = 20
_TABLE = (
    "create database redolab",
    "create table redolab.first (id int auto_increment primary key) engine=InnoDB",
)
_COMMIT = "insert into redolab.first values ()"
_NO_TABLE = "drop database redolab"


class PrivateServer(GuardedServer):
    """One private server, running from construction until `stop`."""

    def __init__(
        self,
        flavour: Flavour,
        *,
        disk_bytes: int = 0,
        cache_bytes: int = 0,
        sessions: int = 1,
        binlog: bool = True,
        log_device_s: Sequence[float] = (),
    ) -> None:
        """Make and start the server.

        Args:
            flavour: whose it is.
            disk_bytes: how much disk it will need.
            cache_bytes: how large its cache should be; at least its usual size.
            sessions: working sessions it must have room for.
            binlog: whether it has a binary log.
            log_device_s: flush time of an emulated log device, seconds: one for both logs, or one for each,
                the redo log's first; none for the real one.

        Raises:
            RefusedError: it cannot be started here; the text says why.
        """
        program, _ = _program(flavour)
        base = base_directory(None)
        self.flavour: Flavour = flavour
        self.binlog = binlog
        super().__init__(f"The private {TITLES[flavour]}", base, None, disk_bytes)
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
        guarded_mark: ServerCharge = {
            "directory": str(self.directory),
            "user": None,
            "limit_s": _START_LIMIT_S,
            "pid_file": _PID_FILE,
            "ready_line": None,  # It writes the file when it is ready.
            "env": environment,
        }
        basic = [
            str(program), "--no-defaults", *_as_root(), f"--datadir={self.data}",
            f"--tmpdir={self.directory}", *_OPTIONS[flavour],
        ]  # fmt: skip
        try:
            self._begin(guarded_mark)
            self.socket = self._socket_place() / "s"
            self.log_filesystem = filesystem(self.data)
            if log_device_s:
                self._check_mapped()
            armed = self._put_under((_REDO[flavour], *((_BINLOG,) if binlog else ())), log_device_s)
            if flavour == "mysql":
                self._initialise([*basic, "--initialize-insecure"])
            guarded_mark["env"] = {**environment, **armed}
            guarded_mark["argv"] = [
                *basic,
                f"--socket={self.socket}", f"--pid-file={self.data / _PID_FILE}", "--skip-networking",
                f"--max-connections={sessions + 20}",
                f"--innodb-buffer-pool-size={cache_mib(cache_bytes, _CACHE_MIB)}M",
                "--innodb-flush-log-at-trx-commit=1", f"--innodb-fast-shutdown={_QUICKEST_END[flavour]}",
                *(_WITH_BINLOG if binlog else (f"--{WITHOUT_BINLOG}",)),
            ]  # fmt: skip
            self._start()
            if flavour == "mariadb":
                # Killed before its first checkpoint, it would find its own tablespace empty.
                self._execute("set global innodb_log_checkpoint_now = on")
            if self.device:
                self._execute(*_TABLE)
                with self.device.reached(_COMMITS):
                    self._execute(*[_COMMIT] * _COMMITS)
                self._execute(_NO_TABLE)
        except BaseException:
            self.stop()
            raise

    @property
    def variant(self) -> str:
        """The variant after the colon where `--engine` names it."""
        return "" if self.binlog else WITHOUT_BINLOG

    @property
    def settling(self) -> tuple[str, ...]:
        """Statements that bring it to the same state before a sample: pages flushed, a new binary log.

        Only MariaDB has a statement that flushes its pages.
        """
        flushing = ("set global innodb_log_checkpoint_now = on",) if self.flavour == "mariadb" else ()
        beginning = "reset master" if self.flavour == "mariadb" else "reset binary logs and gtids"
        return (*flushing, *((beginning,) if self.binlog else ()))

    def _check_mapped(self) -> None:
        if self.flavour == "mariadb" and self.log_filesystem in MEMORY_FILESYSTEMS:
            raise RefusedError(
                f"{self.directory} is on a file system in memory ({self.log_filesystem}). MariaDB maps its "
                "redo log there and flushes nothing, so Redolab cannot emulate a log device. Set "
                "XDG_CACHE_HOME to a directory on a disk."
            )

    def _execute(self, *statements: str) -> None:
        with closing(connect_private(self.socket)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


def look(flavour: Flavour) -> tuple[str, Path]:
    """The version of the installed program, and where servers would live; nothing is made.

    Raises:
        RefusedError: no server is possible here; the text says why.
    """
    _, version = _program(flavour)
    return version, base_directory(None, make=False)


def _program(flavour: Flavour) -> tuple[Path, str]:
    """The installed program, and its version. MariaDB goes by the name of the other, too."""
    for program in _found(_PROGRAMS[flavour]):
        answer = subprocess.run(
            [program, "--no-defaults", "--version"], capture_output=True, text=True, check=False
        )
        if answer.returncode == 0 and ("MariaDB" in answer.stdout) == (flavour == "mariadb"):
            words = answer.stdout.split()
            return program, words[words.index("Ver") + 1] if "Ver" in words else answer.stdout.strip()
    raise RefusedError(
        f"{TITLES[flavour]} is not installed here: its program {_PROGRAMS[flavour]} was not found. "
        f"{_PACKAGES[flavour]} or leave --engine out for the embedded PostgreSQL."
    )


def _found(name: str) -> Iterator[Path]:
    for place in f"{os.environ.get('PATH', '')}:{_FURTHER_PLACES}".split(":"):
        program = shutil.which(name, path=place) if place else None
        if program is not None:
            yield Path(program).resolve()


def _as_root() -> list[str]:
    """The server runs as root only with this option."""
    return ["--user=root"] if os.geteuid() == 0 else []
