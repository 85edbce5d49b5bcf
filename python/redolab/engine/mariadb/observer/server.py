"""Which MariaDB or MySQL is at the other end, whether it is on this machine, and what it lets be seen."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

import pymysql

from redolab import _core
from redolab.bounds import MOST_DIGITS
from redolab.dialect.innodb import (
    BINLOG_ENGINE,
    PAUSE,
    REDO_LOG,
    REDO_TIMEOUT,
    binlog_engine,
    strange_engine,
)
from redolab.engine.linux.peers import find_server
from redolab.engine.linux.thread_looks import age_s
from redolab.engine.mariadb.answers import Row, StrangeAnswerError
from redolab.engine.mariadb.connecting.target import Target
from redolab.engine.mariadb.connection import (
    Connection,
    error_number,
    error_text,
    fetch,
    redo_log_state,
    socket_of,
)
from redolab.errors import RefusedError
from redolab.records.observation import ServerFacts

_PROGRAMS = frozenset({"mariadbd", "mysqld"})
_ACCESS_DENIED = frozenset({1044, 1142, 1227})
_START_TOLERANCE_S = 5.0
_PROBES = 5
_WHOLE = re.compile(rf"\d{{1,{MOST_DIGITS}}}")
_MOST_LETTERS = 200
_NUMBERS = re.compile(r"(?<!\d)(\d{1,4})\.(\d{1,4})(?!\d)")
_PLACE = ("hostname", "port", "datadir")
_ABOUT_COMMITS = (
    "innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", BINLOG_ENGINE,
    "innodb_flush_method", REDO_LOG, REDO_TIMEOUT, *PAUSE["mariadb"], *PAUSE["mysql"],
)  # fmt: skip


@dataclass(frozen=True)
class Server:
    """A server as it was found on connecting."""

    flavour: str
    """`mariadb` or `mysql`."""
    version: int
    """major * 100 + minor."""
    description: dict[str, object]
    """`name`, `version`, `place`, `local`, as in `Observation.server`."""
    role: str
    started_epoch_s: float
    """By the server's own `Uptime`, whole seconds."""
    process: int | None
    """Its process on this machine; None when it is not here or sessions share threads."""
    own_thread: int
    """The thread that serves Redolab's own connection."""
    instruments: bool
    """performance_schema is on and may be read."""
    timed_files: bool
    """It counts and times file operations."""
    current_waits: bool
    """It keeps the wait of the moment."""
    binlog: bool
    sync_binlog: int
    """After so many groups of commits the binary log is flushed; 0 for never by the server itself."""
    identity: str
    parameters: Mapping[str, str]
    not_available: tuple[tuple[str, str], ...]
    binlog_engine: str = ""
    """The engine that keeps the binary log; empty where that has its own files."""

    @property
    def facts(self) -> ServerFacts:
        """The server's identity."""
        engine = {BINLOG_ENGINE: self.binlog_engine} if self.binlog_engine else {}
        about = {**self.description, "binlog": self.binlog, **engine}
        return ServerFacts(about, self.identity, self.parameters)

    @property
    def source(self) -> str:
        """Where its waits are read, as in `Instrument.source`."""
        return "performance_schema" if self.current_waits else "processlist"


def identify(connection: Connection, target: Target) -> Server:
    """Ask a server what it is, and the kernel whether it is here.

    Raises:
        RefusedError: a right or a part of the server is missing without which nothing can be seen.
    """
    row = fetch(connection, "select_server", 500)[0]
    flavour = "mariadb" if "mariadb" in row["version"].lower() else "mysql"
    numbers = _NUMBERS.search(row["version"])
    if numbers is None or len(row["version"]) > _MOST_LETTERS:
        raise StrangeAnswerError("the server's answer has an impossible version")
    version = int(numbers[1]) * 100 + int(numbers[2])
    _check_reach(flavour, version, bool(row["performance_schema"]), row["version"])
    _check_process_right(connection, flavour, version, row["role"])
    uptime_s = float(read_status(connection)["uptime"])
    thread = int(fetch(connection, "select_own_thread", version, flavour)[0]["thread"] or 0)
    process, why_remote = _find_here(connection, thread, uptime_s)
    missing = [] if why_remote is None else [("CPU and run queue of sessions", why_remote)]
    parameters = _parameters(connection) | redo_log_state(connection, flavour)
    strange = strange_engine(parameters)
    if strange:
        raise RefusedError(f"{strange} Watch a server that keeps its binary log in files or in InnoDB.")
    on, consumers, why_off = _instruments(connection, bool(row["performance_schema"]), row["role"])
    missing += [] if why_off is None else [("exact times of file operations, names of locks", why_off)]
    return Server(
        flavour=flavour,
        version=version,
        description={
            "name": "MariaDB" if flavour == "mariadb" else "MySQL",
            "version": row["version"],
            "place": target.place,
            "local": process is not None,
        },
        role=row["role"],
        started_epoch_s=time.time() - uptime_s,
        process=process,
        own_thread=thread,
        instruments=on,
        timed_files=bool(consumers.get("counted")),
        current_waits=bool(consumers.get("waits_current")),
        binlog=bool(row["log_bin"]),
        sync_binlog=_whole(parameters.get("sync_binlog", "0")),
        identity=_identity(parameters),
        parameters={name: parameters[name] for name in _ABOUT_COMMITS if name in parameters},
        not_available=tuple(missing),
        binlog_engine=binlog_engine(parameters) if row["log_bin"] else "",
    )


def read_status(connection: Connection) -> dict[str, float]:
    """The server's counters of interest, by name in lower case."""
    rows = fetch(connection, "select_status", 500)
    return Row((row["Variable_name"].lower(), float(row["Value"])) for row in rows)


def _parameters(connection: Connection) -> dict[str, str]:
    rows = fetch(connection, "select_identity", 500)
    return {row["Variable_name"].lower(): str(row["Value"]) for row in rows}


def _whole(value: str) -> int:
    if not _WHOLE.fullmatch(value):
        raise StrangeAnswerError("the server's answer has text in the place of a number")
    return int(value)


def _identity(parameters: Mapping[str, str]) -> str:
    """MySQL has a name for its data; MariaDB is known by where they lie."""
    names = parameters.get("server_uuid") or " ".join(parameters.get(name, "") for name in _PLACE)
    return hashlib.sha256(f"mysql {names}".encode()).hexdigest()[:32]


def _check_reach(flavour: str, version: int, instruments: bool, text: str) -> None:
    if version < (1000 if flavour == "mariadb" else 507):
        raise RefusedError(f"This server is {text}. MariaDB from 10.0 and MySQL from 5.7 can be watched.")
    if flavour == "mysql" and not instruments:
        raise RefusedError(
            "This MySQL runs without performance_schema, so it does not show which thread serves which "
            "session. Set performance_schema=ON in the server's configuration and restart the server."
        )


def _check_process_right(connection: Connection, flavour: str, version: int, role: str) -> None:
    try:
        fetch(connection, "select_sessions", version, flavour)
    except pymysql.Error as error:
        if error_number(error) not in _ACCESS_DENIED:
            raise
        also = "" if flavour == "mariadb" else f" GRANT SELECT ON performance_schema.* TO {quoted(role)};"
        raise RefusedError(
            f"{role} may see only its own sessions ({error_text(error)}). GRANT PROCESS ON *.* TO "
            f"{quoted(role)};{also}"
        ) from error


def quoted(role: str) -> str:
    """`user@host` as a statement names it.

    >>> quoted("bench@localhost")
    "'bench'@'localhost'"
    """
    user, _, host = role.rpartition("@")
    return "@".join("'" + part.replace("'", "''") + "'" for part in (user, host))


def _find_here(connection: Connection, thread: int, uptime_s: float) -> tuple[int | None, str | None]:
    """The server's process on this machine, or the reason why none is recognised."""
    if thread == 0:
        return (
            None,
            "sessions share threads (thread_handling=pool-of-threads), so no thread belongs to one session",
        )
    remote = "the server is on another machine or in a container of its own: run Redolab in the same place"
    process = find_server(thread, socket_of(connection), _PROGRAMS)
    if process is None:
        return None, remote
    age = age_s(process)
    # Recovery of a crashed server runs after the clock of Uptime began.
    if age is None or abs(age - uptime_s) > _START_TOLERANCE_S:
        return None, remote
    # A far server's thread may have the number of a thread here, but that one does not work when asked.
    for _ in range(_PROBES):
        before = _used_ns(process, thread)
        connection.ping(reconnect=False)
        fetch(connection, "select_server", 500)
        after = _used_ns(process, thread)
        if before is not None and after is not None and after > before:
            return process, None
    return None, remote


def _used_ns(process: int, thread: int) -> int | None:
    try:
        threads = _core.process_threads(process)
    except OSError:
        return None
    return next((task.cpu_ns for task in threads if task.pid == thread), None)


def _instruments(connection: Connection, on: bool, role: str) -> tuple[bool, dict[str, int], str | None]:
    """Whether performance_schema may be used, what it keeps, and why it is of no use where it is not."""
    if not on:
        return (
            False,
            {},
            (
                "performance_schema is off; performance_schema=ON in the server's configuration needs a "
                "restart, and cost 16 % of throughput where it was measured"
            ),
        )
    try:
        return True, fetch(connection, "select_consumers", 500)[0], None
    except pymysql.Error as error:
        if error_number(error) not in _ACCESS_DENIED:
            raise
        return False, {}, f"GRANT SELECT ON performance_schema.* TO {quoted(role)};"
