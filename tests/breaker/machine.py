"""What a server has to itself: a small disk in a mount namespace of its own, and a clock that can be set."""

from __future__ import annotations

import atexit
import os
import shutil
import struct
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

_CHUNK = b"\0" * 4096
_FILLER = "filler-of-the-breaker"


class Disk:
    """A tmpfs over `data` that is seen in one mount namespace alone; no limit where that is not allowed."""

    def __init__(self, data: Path, megabytes: int) -> None:
        self.why_not = namespace_refusal()
        """Why there is none of its own; None where there is."""
        self._data = data
        self._holder: subprocess.Popen[str] | None = None
        if self.why_not is None:
            self._mount(megabytes)

    def _mount(self, megabytes: int) -> None:
        disk = self._data.with_name("disk")
        disk.mkdir()
        script = (
            f"mount -t tmpfs -o size={megabytes}m,mode=0700 breaker '{disk}' "
            f"&& cp -a '{self._data}/.' '{disk}' && mount --bind '{disk}' '{self._data}' "
            "&& echo mounted && exec cat"
        )
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
        )  # fmt: skip
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "mounted\n"

    @property
    def inside(self) -> Path:
        """Where the data are, seen from the tests."""
        if self._holder is None:
            return self._data
        return Path(f"/proc/{self._holder.pid}/root") / self._data.relative_to("/")

    @property
    def prefix(self) -> list[str]:
        """What goes before a command that is to see the disk."""
        return [] if self._holder is None else ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt"]

    def fill(self) -> None:
        """Take the last byte."""
        assert self._holder is not None, self.why_not
        with suppress(OSError), (self.inside / _FILLER).open("ab", buffering=0) as file:
            room = os.statvfs(self.inside)
            os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize)
            file.seek(0, os.SEEK_END)
            while file.write(_CHUNK):
                pass

    def free(self) -> None:
        """Give back what was taken."""
        (self.inside / _FILLER).unlink(missing_ok=True)

    def close(self) -> None:
        if self._holder is not None:
            assert self._holder.stdin is not None
            assert self._holder.stdout is not None
            self._holder.stdin.close()
            self._holder.wait()
            self._holder.stdout.close()


@cache
def namespace_refusal() -> str | None:
    """Why no server can have a disk of its own here; None where one can."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return "unshare and nsenter are missing (util-linux)"
    place = tempfile.mkdtemp(prefix="redolab-breaker-")
    try:
        tried = subprocess.run(
            ["unshare", "--mount", "--propagation", "private",
             "mount", "-t", "tmpfs", "-o", "size=1m", "breaker", place],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        Path(place).rmdir()
    return " ".join(tried.stderr.split()) if tried.returncode else None


class Clock:
    """The clock of one server, which differs from the machine's by a number of seconds."""

    def __init__(self, place: Path) -> None:
        self._file = place / "clock"
        self._off_s = 0
        self._write()
        self._file.chmod(0o644)

    @property
    def environment(self) -> dict[str, str]:
        """What makes a program see it."""
        return {"LD_PRELOAD": str(_library()), "REDOLAB_BREAKER_CLOCK": str(self._file)}

    def step(self, seconds: int) -> None:
        """Set it, from now on."""
        self._off_s += seconds
        self._write()

    def _write(self) -> None:
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            os.pwrite(descriptor, struct.pack("=q", self._off_s), 0)
        finally:
            os.close(descriptor)


@cache
def _library() -> Path:
    place = Path(tempfile.mkdtemp(prefix="redolab-breaker-clock-"))
    place.chmod(0o755)
    atexit.register(shutil.rmtree, place)
    library = place / "clock.so"
    subprocess.run(
        ["cc", "-std=gnu11", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror",
         "-o", library, Path(__file__).with_name("clock.c"), "-ldl"],
        check=True,
    )  # fmt: skip
    return library
