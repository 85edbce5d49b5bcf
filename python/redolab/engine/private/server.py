"""A server of Redolab's own: its directory, its guard, its emulated log devices, its end, its new start."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from redolab.engine.private.directory import make_elsewhere, make_inside, remove_server
from redolab.engine.private.flushed_file import FlushedFile
from redolab.engine.private.guard import Guard, ServerCharge
from redolab.engine.private.log_device import Log, LogDevice
from redolab.engine.private.place import check_room, last_words, take_charge
from redolab.engine.private.processes import Process, is_alive, kill_server
from redolab.errors import RefusedError

_SOCKET_PATH_LIMIT = 90
_RECOVERY_LIMIT_S = 600.0


class GuardedServer:
    """One private server. Whoever makes it calls `_begin`, then `_start`, and `stop` if either fails."""

    def __init__(self, title: str, base: Path, user: int | None, disk_bytes: int) -> None:
        """Choose its directory, and start its guard.

        Args:
            title: of the server, for a reader.
            base: where private servers live.
            user: whom it runs as; None for this user.
            disk_bytes: how much disk it will need.

        Raises:
            RefusedError: there is too little room.
        """
        check_room(base, disk_bytes)
        self.directory = base / secrets.token_hex(6)
        self.data = self.directory / "data"
        self.device: LogDevice | None = None
        self._title, self._base, self._user = title, base, user
        self._process: Process | None = None
        self._guarded: ServerCharge = {}
        self._flushed: FlushedFile | None = None
        self._guard = Guard()

    @property
    def pid(self) -> int:
        """The server's first process, which started all its others."""
        assert self._process is not None, "it was started"
        return self._process.pid

    def flush_s(self) -> float | None:
        """Time of a flush of a small file next to its data now, seconds; None where it cannot be done."""
        if self._flushed is None:
            self._flushed = FlushedFile(self.directory)
        return self._flushed.flush_s()

    def crash(self) -> float:
        """Kill every process of the server at once; returns the monotonic time of it."""
        assert self._process is not None, "it was started"
        return kill_server(self._process)

    def restart(self) -> None:
        """Start the server again after a crash; returns once recovery is over."""
        self._guarded["limit_s"] = _RECOVERY_LIMIT_S
        self._start()

    def revive(self) -> None:
        """Start the server again if it has ended."""
        if self._process is None or not is_alive(self._process):
            self.restart()

    def stop(self) -> None:
        """Stop the server and remove its directory."""
        if self._flushed:
            self._flushed.close()
            self._flushed = None
        self._guard.close()
        if self.device:
            self.device.close()
            self.device = None
        if self.directory.exists():  # The guard was killed, or had not taken charge yet.
            remove_server(self.directory)

    def _begin(self, guarded_mark: ServerCharge) -> None:
        """Make the directories, in the guard's charge."""
        self._guarded = guarded_mark
        take_charge(self.directory, self._guard, guarded_mark)
        make_inside(self.data, self._user)

    def _put_under(self, logs: Sequence[Log], delays_s: Sequence[float]) -> Mapping[str, str]:
        """Make the emulated devices of its logs; returns what its environment must have, nothing without."""
        if not delays_s:
            return {}
        self.device = LogDevice(self.directory, logs, delays_s, self._user)
        return self.device.environment

    def _start(self) -> None:
        self._guard.ask({"server": self._guarded})
        answer = self._guard.ask({"start": True})
        if "pid" not in answer:
            raise RefusedError(
                f"{self._title} did not start: {answer.get('error')}. Its last output: "
                f"{last_words(self.directory / 'server.log')}"
            )
        self._process = Process(**answer)
        if self.device and not self.device.counters().attached:
            raise RefusedError(
                f"The emulated log device could not be loaded into {self._title}: the server does not load "
                "the library. A security policy (AppArmor, SELinux) may forbid preloading; leave "
                "--log-device-ms out to measure the real device."
            )

    def _initialise(self, argv: Sequence[str]) -> None:
        """Make the data directory. The guard does it: a killed Redolab must not leave it half made."""
        answer = self._guard.ask({"initialise": list(argv)})
        if "error" in answer:
            raise RefusedError(
                f"{self._title} could not be set up in {self._base}: {answer['error']}. "
                "Set XDG_CACHE_HOME to a directory with room that you may write to."
            )

    def _socket_place(self) -> Path:
        """The place of its socket `s`: here, unless the path would be too long for a socket."""
        if len(str(self.directory / "s")) <= _SOCKET_PATH_LIMIT:
            return self.directory
        try:
            return make_elsewhere(self.directory, self._user)
        except OSError as error:
            raise RefusedError(
                f"The path {self.directory} is too long for a socket, and there is no safe directory with a "
                f"shorter path: {error.strerror}. Set TMPDIR to a directory of your own with a short path."
            ) from error
