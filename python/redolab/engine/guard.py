"""A process that outlives Redolab just long enough to clean up after it.

Redolab holds the guard's standard input. When that closes, for whatever reason (the end of a run,
a crash, SIGKILL), the guard stops the private server and removes its directory, or puts the
parameters of somebody's server back. It runs in a session of its own, so that a Ctrl-C in the
terminal does not reach it or the server. Standard library only until it must talk to a database.

    python -m redolab.engine.guard      reads one JSON object a line from standard input

    {"server": {...}}     take charge of a private server's directory (`Charge` below)
    {"initialise": [..]}  run the command that makes its data directory; answers {} or {"error": ...}
    {"start": true}       start it; answers {"pid": ...} or {"error": ...}
    {"database": {...}}   take charge of somebody's database: connection parameters
    {"release": true}     nothing is left to do
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

MARIADB_PID_FILE = "mariadbd.pid"
_STOP_LIMIT_S = 10.0
_LOCK_LIMIT_S = 60.0


class Guard:
    """The guard as Redolab sees it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "redolab.engine.guard"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
            cwd="/",
        )

    @classmethod
    def for_database(cls, parameters: Mapping[str, Any]) -> Guard:
        """A guard that recovers a database. Parameters go through a pipe: no password is shown."""
        guard = cls()
        guard.ask({"database": dict(parameters)})
        return guard

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and wait for the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline() or "{}")
        except (OSError, ValueError) as error:
            return {"error": f"the guard process is gone ({error})"}
        return answer

    def release(self) -> None:
        """Tell the guard that nothing is left to do, and wait for it."""
        self.ask({"release": True})
        self.close()

    def close(self) -> None:
        """Let the guard do its work and wait until it is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def as_user(user: int | None) -> dict[str, Any]:
    """How `subprocess` is told to run a command as another user."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def lock_directory(directory: Path) -> IO[bytes] | None:
    """Take a private server's directory, or None when a living guard has it or it is gone.

    The lock is close-on-exec: a server that inherited it would hold it for ever.
    """
    try:
        file = (directory / "lock").open("wb")
    except OSError:
        return None  # Its guard is just removing it.
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def remove_server(directory: Path) -> None:
    """Stop whatever server runs in `directory`, then remove the directory and its socket's."""
    data = directory / "data"
    identity = _postmaster_file(data)
    if identity and is_running(data):
        _stop(identity[0])
    if identity and identity[1] is not None and shutil.which("ipcrm"):
        # A killed server leaves its small System V segment behind; a stopped one does not.
        subprocess.run(["ipcrm", "-m", str(identity[1])], capture_output=True, check=False)
    with suppress(OSError):
        shutil.rmtree((directory / "socket").resolve(strict=True))
    shutil.rmtree(directory, ignore_errors=True)


def is_running(data: Path) -> bool:
    """Whether a server runs in `data`."""
    identity = _postmaster_file(data)
    return identity is not None and _is_postmaster(identity[0], data)


def kill_server(data: Path) -> float:
    """Kill every process of the server in `data` at once; returns the monotonic time of it."""
    identity = _postmaster_file(data)
    if not identity or not is_running(data):
        return time.monotonic()
    # A stopped postmaster starts no process that the list would miss.
    os.kill(identity[0], signal.SIGSTOP)
    pids = (*_children(identity[0]), identity[0])
    killed_at = time.monotonic()
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _await_end(pids)
    return killed_at


def _postmaster_file(data: Path) -> tuple[int, int | None] | None:
    """Pid and shared-memory id from the file in which a running server wrote them."""
    try:
        lines = _pid_file(data).read_text().splitlines()
        segment = lines[6].split() if len(lines) > 6 else []
        return int(lines[0]), int(segment[1]) if len(segment) == 2 else None
    except (OSError, ValueError, IndexError):
        return None


def _pid_file(data: Path) -> Path:
    """PostgreSQL's, or MariaDB's where there is none."""
    own = data / "postmaster.pid"
    return own if own.exists() else data / MARIADB_PID_FILE


def _is_postmaster(pid: int, data: Path) -> bool:
    try:
        return os.fsencode(data) in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def _children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid:
                    found.append(int(entry.name))
    return found


def _stop(pid: int) -> None:
    children = _children(pid)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGQUIT)  # immediate shutdown: the data is thrown away anyway
    if not _await_end((pid, *children)):
        for each in (pid, *children):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        _await_end((pid, *children))


def _await_end(pids: tuple[int, ...]) -> bool:
    give_up = time.monotonic() + _STOP_LIMIT_S
    while time.monotonic() < give_up:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.01)
    return False


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _initialise(charge: Mapping[str, Any], argv: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        argv,
        env=charge["env"],
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        **as_user(charge["user"]),
    )
    return {"error": " ".join(done.stderr.split()[-40:])} if done.returncode else {}


def _start(charge: Mapping[str, Any]) -> dict[str, Any]:
    """Start the server and wait until it accepts connections."""
    data, log = Path(charge["directory"]) / "data", Path(charge["directory"]) / "server.log"
    with log.open("ab") as output:
        server = subprocess.Popen(
            charge["argv"],
            env=charge["env"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            **as_user(charge["user"]),
        )
    give_up = time.monotonic() + charge["limit_s"]
    while time.monotonic() < give_up:
        with suppress(OSError, IndexError):
            file = _pid_file(data)
            lines = file.read_text().splitlines()
            # MariaDB writes its file when it is ready; PostgreSQL writes a line when it is.
            ready = file.name == MARIADB_PID_FILE or lines[7].strip() == "ready"
            if int(lines[0]) == server.pid and ready:
                return {"pid": server.pid}
        if server.poll() is not None:
            return {"error": f"it ended with status {server.returncode}"}
        time.sleep(0.005)
    return {"error": f"it was not ready within {charge['limit_s']:.0f} s"}


def _recover_database(parameters: Mapping[str, Any]) -> None:
    import psycopg

    from redolab.engine.connection import Connector
    from redolab.engine.parameters import recover
    from redolab.engine.preflight import lock_database
    from redolab.errors import RedolabError
    from redolab.outlet import say

    connector = Connector("")
    connector.parameters = parameters
    try:
        with connector.connect("redolab guard") as control:
            # Another run that is faster with the lock has put everything back before it began.
            if lock_database(control, _LOCK_LIMIT_S):
                recover(control)
    except (RedolabError, psycopg.Error) as error:
        say(f"redolab: The database was not cleaned up after a killed run: {error}")


def main() -> None:
    """Serve requests until standard input closes, then clean up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    charge: Mapping[str, Any] | None = None
    database: Mapping[str, Any] | None = None
    lock = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        if "server" in request:
            charge = request["server"]
            lock = lock or lock_directory(Path(charge["directory"]))
        elif "initialise" in request and charge:
            answer = _initialise(charge, request["initialise"])
        elif "start" in request and charge:
            answer = _start(charge)
        elif "database" in request:
            database = request["database"]
        elif "release" in request:
            database = None
        with suppress(OSError):  # Redolab may be gone while its request is served.
            os.write(1, (json.dumps(answer) + "\n").encode())
    if charge and lock:
        remove_server(Path(charge["directory"]))
    if database is not None:
        _recover_database(database)


if __name__ == "__main__":
    main()
