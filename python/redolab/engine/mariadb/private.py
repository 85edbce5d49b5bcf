"""A private MariaDB of the installed program: its own directory and socket, removed afterwards.

It has no network and no tables of users: whoever can enter its directory, which is its owner alone, is
its administrator. Its guard process stops it and removes its directory, whatever becomes of Redolab.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path

from redolab.engine.private.directory import make_inside, remove_server
from redolab.engine.private.guard import Guard, ServerCharge
from redolab.engine.private.place import base_directory, cache_mib, check_room, last_words, take_charge
from redolab.errors import RefusedError

_START_LIMIT_S = 60.0
_SOCKET_PATH_LIMIT = 100
_CACHE_MIB = 512
_PID_FILE = "mariadbd.pid"


class PrivateMariaDB:
    """One private server, running from construction until `stop`."""

    def __init__(self, disk_bytes: int, cache_bytes: int) -> None:
        """Make and start the server.

        Args:
            disk_bytes: how much disk it will need.
            cache_bytes: how large its cache should be; at least its usual size.

        Raises:
            RefusedError: it cannot be started here; the text says why.
        """
        program = _program()
        base = base_directory(None)
        check_room(base, disk_bytes)
        self.directory = base / secrets.token_hex(6)
        self.socket = self.directory / "s"
        _check_socket(self.socket)
        data = self.directory / "data"
        charge: ServerCharge = {
            "directory": str(self.directory),
            "user": None,
            "limit_s": _START_LIMIT_S,
            "pid_file": _PID_FILE,
            "ready_line": None,  # It writes the file when it is ready.
            "env": {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
            "argv": [
                program, "--no-defaults", *_as_root(),
                f"--datadir={data}", f"--socket={self.socket}", f"--pid-file={data / _PID_FILE}",
                f"--tmpdir={self.directory}",
                "--skip-networking", "--skip-grant-tables", "--skip-log-bin",
                f"--innodb-buffer-pool-size={cache_mib(cache_bytes, _CACHE_MIB)}M",
                "--innodb-log-file-size=512M",
                # What its undo log needs is given back only on purge: nothing may wait for that at the end.
                "--innodb-fast-shutdown=3",
            ],
        }  # fmt: skip
        self._guard = Guard()
        try:
            take_charge(base, self.directory, self._guard, charge)
            make_inside(data, None)
            answer = self._guard.ask({"start": True})
            if "pid" not in answer:
                raise RefusedError(
                    f"The private MariaDB did not start: {answer.get('error')}. "
                    f"Its last words: {last_words(self.directory / 'server.log')}"
                )
        except BaseException:
            self.stop()
            raise
        self.pid: int = answer["pid"]

    def stop(self) -> None:
        """Stop the server and remove its directory."""
        self._guard.close()
        if self.directory.exists():  # The guard was killed, or had not taken charge yet.
            remove_server(self.directory)


def look() -> tuple[str, Path]:
    """The version of the installed program, and where servers would live; nothing is made.

    Raises:
        RefusedError: there can be no server here; the text says why.
    """
    program = _program()
    base = base_directory(None, make=False)
    _check_socket(base / ("0" * 12) / "s")
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    words = answer.stdout.split()
    return (words[words.index("Ver") + 1] if "Ver" in words else answer.stdout.strip()), base


def _check_socket(path: Path) -> None:
    if len(str(path)) > _SOCKET_PATH_LIMIT:
        raise RefusedError(
            f"{path} is too long for a socket. Set XDG_CACHE_HOME to a directory with a shorter path."
        )


def _program() -> str:
    found = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise RefusedError(
            "MariaDB is not installed here: no mariadbd was found. On Debian and Ubuntu: "
            "apt-get install mariadb-server-core; or leave --engine out for the embedded PostgreSQL."
        )
    return str(Path(found).resolve())


def _as_root() -> list[str]:
    """The server runs as root only when told so."""
    return ["--user=root"] if os.geteuid() == 0 else []
