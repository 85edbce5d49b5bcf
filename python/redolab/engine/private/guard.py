"""A process that outlives Redolab just long enough to clean up after it.

Redolab holds the guard's standard input. When that closes, for whatever reason (the end of a run,
a crash, SIGKILL), the guard stops the private server and removes its directory, or puts the
parameters of somebody's server back. It runs in a session of its own, so that a Ctrl-C in the
terminal does not reach it or the server. Standard library only until it must talk to a database: then it
imports the module that is named to it, `redolab.engine.<database>.own.guard_database`, and no other.

    python -m redolab.engine.private.guard      reads one JSON object a line from standard input

    {"server": {...}}     make a private server's directory and take charge of it (`ServerCharge` below);
                          answers {} or {"error": ...}
    {"initialise": [..]}  run the command that makes its data directory; answers {} or {"error": ...}
    {"start": true}       start it; answers {"pid": ..., "start_ticks": ...} or {"error": ...}
    {"database": {...}, "module": "...", "keep": {...}}
                          take charge of somebody's database: connection parameters, the module that
                          recovers it, and what was changed there by now; answers {"pid": ...}
    {"keep": {...}}       what the run has changed there, or is about to (`redolab.engine.server.kept.Kept`);
                          it has no answer, so that no change waits for the guard
    {"hold": true}        hold its server again after a restart; answers {"pid": ...}
    {"release": true}     nothing is left to do

A request that cannot be served is answered with {"error": ...}.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import select
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypedDict, cast

from redolab.engine.private.directory import make_server_directory, remove_server
from redolab.engine.private.processes import as_user, find_process
from redolab.engine.server.kept import Kept
from redolab.errors import RedolabError, RefusedError
from redolab.files.folder import Folder

# Standard input is the only way in, and what comes that way may name no other module.
_MODULE = re.compile(r"redolab\.engine\.[a-z]+\.own\.guard_database")

_IGNORED = (signal.SIGINT, signal.SIGTERM)
_SOON_S = 5.0
"""Time after which a reader learns what is waited for."""
_GONE = "the guard process is gone"
_SILENT_S = 60.0
"""How long an answer about a database may take; connecting has a shorter limit of its own."""


class ServerCharge(TypedDict, total=False):
    """The order for a private server; for a file alone, its directory."""

    directory: str
    """Directory of the server, with `data` in it; the guard makes and locks it, and removes it at the end."""
    user: int | None
    """The user that it runs as; None for this user."""
    limit_s: float
    """Limit until it is ready."""
    env: Mapping[str, str]
    argv: Sequence[str]
    pid_file: str
    """File in its data directory; the first line is the server's process."""
    ready_line: tuple[int, str] | None
    """A line of that file, from 0, and its text when the server is ready; None where the file alone shows it.
    """


class DatabaseCharge(Protocol):
    """One database whose state the guard answers for; its module has a class of this name."""

    @property
    def pid(self) -> int:
        """The server process of its connection."""
        ...

    def keep(self, kept: Kept) -> None:
        """Take what the run has changed, in place of what was kept before."""
        ...

    def hold(self) -> None:
        """Hold the server again, where its restart ended the connection; raises `RefusedError`."""
        ...

    def release(self) -> None:
        """Nothing is left to do."""
        ...

    def clean_up(self) -> None:
        """Put everything back once the run is gone."""
        ...


class Guard:
    """The guard as Redolab sees it."""

    _tell: Callable[[str], None]

    def __init__(self) -> None:
        self.connection: int | None = None
        """The number of its connection on the server, where it has one."""
        self._silent = False
        self._limit_s: float | None = None
        # What it will ignore would end it as long as it is starting; it begins with this thread's mask.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _IGNORED)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "redolab.engine.private.guard"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                text=True,
                cwd="/",
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def is_gone(self) -> bool:
        """Whether it has ended, which it never does before it is released."""
        return self._process.poll() is not None

    @property
    def end(self) -> str:
        """How it came to its end, in words."""
        return "gave no answer and was ended" if self._silent else "was ended by somebody"

    @classmethod
    def for_database(
        cls, module: str, parameters: Mapping[str, Any], kept: Kept, report: Callable[[str], None]
    ) -> Guard:
        """A guard that recovers a database. Parameters go through a pipe: no password is shown.

        Args:
            module: `redolab.engine.<database>.own.guard_database`; its `DatabaseCharge` gets the parameters.
            parameters: of the connection.
            kept: what the run has changed by now, which it has from its first moment on.
            report: gets a line for the user where the guard gives no answer soon.

        Raises:
            RefusedError: it cannot connect.
        """
        guard = cls()
        guard._limit_s, guard._tell = _SILENT_S, report
        answer = guard.ask({"database": dict(parameters), "module": module, "keep": kept.as_json()})
        if "pid" not in answer:
            guard.close()
            raise RefusedError(f"Redolab's guard cannot connect: {answer.get('error')}")
        guard.connection = answer["pid"]
        return guard

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and wait for the answer; a guard of a database that gives none is ended."""
        assert self._process.stdout is not None
        try:
            self._send(request)
            self._await(self._process.stdout.fileno(), select.POLLIN)
            line = self._process.stdout.readline()
            answer: dict[str, Any] = json.loads(line) if line else {"error": _GONE}
        except (OSError, ValueError) as error:
            return {"error": f"{_GONE} ({error})"}
        return answer

    def keep(self, kept: Kept) -> None:
        """Let the guard know what was changed; it has this from now on, whatever becomes of this process."""
        with suppress(OSError):  # Whether it is gone is asked elsewhere.
            self._send({"keep": kept.as_json()})

    def release(self) -> None:
        """Tell the guard that nothing is left to do, and wait for it."""
        self.ask({"release": True})
        self.close()

    def leave_to_it(self) -> None:
        """Let the guard do its work, which may take long, and do not wait for it."""
        threading.Thread(target=self.close, name="guard", daemon=True).start()

    def close(self) -> None:
        """Let the guard do its work and wait until it is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _send(self, request: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        left = memoryview(json.dumps(request).encode() + b"\n")
        while left:
            self._await(self._process.stdin.fileno(), select.POLLOUT)
            # As much as a pipe that can be written to is sure to take.
            left = left[os.write(self._process.stdin.fileno(), left[: select.PIPE_BUF]) :]

    def _await(self, descriptor: int, event: int) -> None:
        """Wait until the pipe can be used.

        Raises:
            TimeoutError: the guard was stopped, or hangs; it is ended.
        """
        ready = select.poll()
        ready.register(descriptor, event)
        if self._limit_s is None:
            ready.poll()
            return
        soon_s = min(_SOON_S, self._limit_s)
        if ready.poll(soon_s * 1000):
            return
        self._tell(
            f"redolab: The guard of this run (it cleans up), process {self.pid}, gives no answer; "
            "waiting for it ..."
        )
        if not ready.poll((self._limit_s - soon_s) * 1000):
            self._silent = True
            self._process.kill()
            self._process.wait()
            raise TimeoutError(f"no answer within {self._limit_s:.0f} s")


def _initialise(charge: ServerCharge, argv: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        argv,
        env=charge["env"],
        cwd=Path(charge["directory"]) / "data",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        **as_user(charge["user"]),
    )
    return {"error": " ".join(done.stderr.split()[-40:])} if done.returncode else {}


def _start(charge: ServerCharge) -> dict[str, Any]:
    """Start the server and wait until it accepts connections."""
    data = Path(charge["directory"]) / "data"
    with Folder.to_write(Path(charge["directory"])) as folder:
        log = folder.append("server.log")
    try:
        server = subprocess.Popen(
            charge["argv"],
            env=charge["env"],
            # By that its processes are known, from the first moment on.
            cwd=data,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            **as_user(charge["user"]),
        )
    finally:
        os.close(log)
    process = find_process(server.pid)
    give_up = time.monotonic() + charge["limit_s"]
    while time.monotonic() < give_up:
        if process is not None and _is_ready(data / charge["pid_file"], charge["ready_line"], server.pid):
            return asdict(process)
        if server.poll() is not None:
            return {"error": f"it ended with status {server.returncode}"}
        time.sleep(0.005)
    return {"error": f"it was not ready within {charge['limit_s']:.0f} s"}


def _is_ready(pid_file: Path, ready_line: tuple[int, str] | None, pid: int) -> bool:
    """Whether the server has written that it accepts connections, and nobody else in its name."""
    with suppress(OSError, IndexError):
        lines = _lines(pid_file)
        ready = ready_line is None or lines[ready_line[0]].strip() == ready_line[1].encode()
        return lines[0].strip() == str(pid).encode() and ready
    return False


def _lines(path: Path) -> list[bytes]:
    """The lines of a small file that the server's user may have put there; no link is followed."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(file, 4096).splitlines() if stat.S_ISREG(os.fstat(file).st_mode) else []
    finally:
        os.close(file)


def _keeper(module: str) -> Callable[[Mapping[str, Any]], DatabaseCharge]:
    """The class that takes charge of a database, in the module of this name.

    Raises:
        RefusedError: no database of Redolab's is recovered by such a module.
    """
    try:
        if not _MODULE.fullmatch(module):
            raise ImportError(name=module)
        return cast("Callable[..., DatabaseCharge]", importlib.import_module(module).DatabaseCharge)
    except (ImportError, AttributeError) as error:
        raise RefusedError(f"The guard cannot recover a database by {module!r}.") from error


def _serve_database(request: Mapping[str, Any], database: DatabaseCharge | None) -> DatabaseCharge | None:
    """Serve a request about a database; returns the charge that is left."""
    if "database" in request:
        database = _keeper(str(request.get("module")))(request["database"])
        database.keep(Kept.from_json(request["keep"]))
        return database
    if database is not None:
        if "hold" in request:
            database.hold()
        elif "release" in request:
            database.release()
            return None
    return database


def main() -> None:
    """Serve requests until standard input closes, then clean up."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    # A server that it starts has its own way with them.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _IGNORED)
    charge: ServerCharge | None = None
    database: DatabaseCharge | None = None
    lock = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        if "server" in request:
            charge = request["server"]
            try:
                lock = lock or make_server_directory(Path(charge["directory"]), charge.get("user"))
            except OSError as error:
                answer = {"error": error.strerror}
        elif "initialise" in request and charge:
            answer = _initialise(charge, request["initialise"])
        elif "start" in request and charge:
            answer = _start(charge)
        elif "keep" in request and "database" not in request:
            if database is not None:
                database.keep(Kept.from_json(request["keep"]))
            continue
        else:
            try:
                database = _serve_database(request, database)
                answer = {} if database is None else {"pid": database.pid}
            except RedolabError as error:
                answer = {"error": str(error)}
        with suppress(OSError):  # Redolab may be gone while its request is served.
            os.write(1, (json.dumps(answer) + "\n").encode())
    if charge and lock:
        remove_server(Path(charge["directory"]))
    if database is not None:
        database.clean_up()


if __name__ == "__main__":
    main()
