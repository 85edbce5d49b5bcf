"""Runs in a process of their own, in a place of their own, so that what they leave can be seen."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from redolab import open_run
from tests.servers import PASSWORD, command, wait_until


class Running:
    """`redolab run` of an experiment, under way."""

    def __init__(self, place: Path, *options: str, experiment: str = "commit-mode") -> None:
        self.place = place
        self.out = place / "run"
        (place / "tmp").mkdir(exist_ok=True)
        environment = os.environ | {
            "XDG_CACHE_HOME": str(place), "TMPDIR": str(place / "tmp"), "PGPASSWORD": PASSWORD,
        }  # fmt: skip
        self.process = subprocess.Popen(
            command("run", experiment, "--quick", *options, "--out", self.out),
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for line in stream:
                self.said.append(line.rstrip())

    @property
    def announced(self) -> int:
        """How many samples it says are stored."""
        done = [re.match(r"(\d+) of \d+ samples", line) for line in self.said]
        return max((int(match[1]) for match in done if match), default=0)

    def await_samples(self, number: int) -> None:
        wait_until(lambda: self.announced >= number or self.process.poll() is not None, "samples")

    def await_words(self, words: str) -> None:
        wait_until(lambda: any(words in line for line in self.said) or self.process.poll() is not None, words)

    def strike(self, number: signal.Signals) -> int:
        """Send a signal as a terminal would; returns how many samples were announced before it."""
        announced = self.announced
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
        return announced

    def end(self) -> int:
        """Wait for it and for its guard, which holds the same stderr; returns the exit code."""
        code = self.process.wait(timeout=60)
        self._reader.join(timeout=60)
        assert not self._reader.is_alive(), "a process of it goes on"
        assert not any("Traceback" in line for line in self.said), "\n".join(self.said)
        return code

    def stored(self) -> int:
        """How many whole samples can be read."""
        if not (self.out / "manifest.json").exists():
            return 0
        run = open_run(self.out)
        samples = set(run.samples.column("sample").to_pylist())
        assert samples == set(range(1, len(samples) + 1))
        assert set(run.profile.column("sample").to_pylist()) == samples
        return len(samples)

    def guards(self) -> list[int]:
        """Its guard processes."""
        return [
            pid for pid in at_work(self.place) if b"redolab.engine.private.guard" in _read(pid, "cmdline")
        ]


def at_work(place: Path) -> list[int]:
    """Processes that came from a run in `place`, by what they were started with and where they are."""
    mark = os.fsencode(place)
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            pid = int(entry.name)
            words = _read(pid, "environ") + _read(pid, "cmdline")
            with suppress(OSError):
                words += os.fsencode((entry / "cwd").readlink())
            if mark in words:
                found.append(pid)
    return found


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def left_in(place: Path) -> list[str]:
    """What a run left beside its run directory."""
    servers = place / "redolab" / "servers"
    left = [path.name for path in servers.glob("*") if path.name != "lock"]
    return left + [path.name for path in (place / "tmp").iterdir()]


def assert_nothing_left(place: Path) -> None:
    left = left_in(place)
    assert left == [], left
    wait_until(lambda: not at_work(place), "every process ends")


@contextmanager
def short_place() -> Iterator[Path]:
    """A directory with a short name; the path of a socket may be no longer than 107 bytes."""
    place = Path(tempfile.mkdtemp(prefix="redolab-kill-"))
    try:
        yield place
    finally:
        for pid in at_work(place):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(place)


def pause(seconds: float) -> None:
    """Let the run go on to a random moment: there is nothing to wait for."""
    time.sleep(seconds)
