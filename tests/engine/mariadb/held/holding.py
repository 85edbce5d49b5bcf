"""Somebody's server with users, and a process that holds it until it is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pymysql

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.hold import HeldServer
from redolab.engine.mariadb.parameters import Parameters
from redolab.records.sample import Setting
from tests.mariadb import PASSWORD, MariaDB
from tests.servers import wait_until

REDO, BINLOG = "innodb_flush_log_at_trx_commit", "sync_binlog"
PARAMETERS = (REDO, BINLOG)
WEAK = {REDO: "0", BINLOG: "0"}
GRANTS: Mapping[str, tuple[str, ...]] = {
    "mariadb": ("PROCESS ON *.*", "SUPER ON *.*", "BINLOG ADMIN ON *.*"),
    "mysql": ("PROCESS ON *.*", "SYSTEM_VARIABLES_ADMIN ON *.*", "SELECT ON `performance_schema`.*"),
}
INSIDE = ("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP")
_DRIVER = """
import sys, threading, time
from redolab.engine.mariadb.connection import ask
from tests.engine.mariadb.held.holding import begin, hold_of
hold = hold_of(sys.argv[1])
begin(hold)
for statement in sys.argv[2:]:
    working = hold._connector.connect("redolab session 1")
    hold.note_sessions([working.thread_id()])
    threading.Thread(target=ask, args=(working, statement), daemon=True).start()
print(hold.guard_pids()[0], flush=True)
time.sleep(600)
"""


def grants_of(server: MariaDB) -> tuple[str, ...]:
    """What a run needs there, one grant each."""
    return (*(f"{privilege} ON `redolab`.*" for privilege in INSIDE), *GRANTS[server.flavour])


@contextmanager
def account(server: MariaDB, name: str, *grants: str) -> Iterator[str]:
    """The URL of a user with these grants, by TCP and with its password."""
    server.ask(f"create user {name} identified by '{PASSWORD}'")
    try:
        for grant in grants:
            server.ask(f"grant {grant} to {name}")
        yield f"mysql://{name}:{PASSWORD}@127.0.0.1:{server.port}/"
    finally:
        server.ask(f"drop user {name}")


def hold_of(url: str) -> HeldServer:
    return HeldServer(Connector.to_url(url), None)


def begin(hold: HeldServer, values: Mapping[str, str] = WEAK) -> Parameters:
    """Take the server, and change its parameters."""
    hold.check_rights(PARAMETERS)
    hold.make_schema()
    parameters = hold.change(PARAMETERS)
    apply(hold, values)
    return parameters


def apply(hold: HeldServer, values: Mapping[str, str]) -> None:
    assert hold.parameters is not None
    weak = Setting("weak", {}, values, {}, "memory", "lost")
    hold.parameters.plan([weak])
    hold.parameters.foresee(weak)
    hold.parameters.apply(weak)


def end(hold: HeldServer) -> None:
    """Let it go, as the engine does."""
    try:
        hold.leave(threading.Event())
    except BaseException:
        hold.leave_to_guard()
        raise
    finally:
        hold.close()


@contextmanager
def held_elsewhere(url: str, *statements: str, stderr: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the server; its sessions execute the statements meanwhile."""
    with subprocess.Popen(
        [sys.executable, "-c", _DRIVER, url, *statements], stdout=subprocess.PIPE, stderr=stderr, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().strip().isdigit()
            yield process
        finally:
            process.kill()


def guard_of(process: subprocess.Popen[str]) -> int:
    """The guard that a process started."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as stream:  # noqa: PTH123
        (guard,) = stream.read().split()
    return int(guard)


def settings(server: MariaDB) -> dict[str, Any]:
    return server.ask(f"select @@global.{REDO} as redo, @@global.{BINLOG} as binlog")[0]


def databases(server: MariaDB) -> set[str]:
    return {row["name"] for row in server.ask("select schema_name as name from information_schema.schemata")}


def await_no_session(server: MariaDB, name: str) -> None:
    wait_until(lambda: all(row["User"] != name for row in server.ask("show processlist")), "its sessions end")


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def refusal(error: pymysql.Error | BaseException) -> str:
    """The text of an error, which never has the password in it."""
    assert PASSWORD not in repr(error)
    return str(error)
