"""Redolab's part: a run or a watch as a process of its own, with what it says and whom it starts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from redolab import open_run
from redolab.records.run import Run
from tests.kill.machine import at_work
from tests.servers import PASSWORD, Ended, command, in_this_process

_DONE = re.compile(r"\d+ of \d+ samples")
_GUARD = b"redolab.engine.private.guard"


class Lab:
    """The place of one user of Redolab's: what it keeps, and the one command that is under way."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir()
        (place / "tmp").mkdir()
        self.environment = {
            "XDG_CACHE_HOME": f"{place}/cache", "XDG_DATA_HOME": f"{place}/data", "TMPDIR": f"{place}/tmp",
            "HOME": str(place), "PGPASSWORD": PASSWORD,
        }  # fmt: skip
        self.began_s = time.monotonic()

    def start(self, out: str, *words: str) -> None:
        """Start a command with its own run directory."""
        self.out = self.place / out
        self.lines: list[str] = []
        self.guards_seen: set[int] = set()
        self.killed = False
        self.process = subprocess.Popen(
            command(*words, "--out", self.out), env={**os.environ, **self.environment}, cwd=self.place,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            errors="replace", start_new_session=True,
        )  # fmt: skip
        self.began_s = time.monotonic()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for line in stream:
                self.lines.append(line.rstrip())

    @property
    def over(self) -> bool:
        return self.process.poll() is not None

    @property
    def announced(self) -> int:
        """How many samples it says are stored; -1 before it measures."""
        if not any(line.startswith(("measuring", "watching")) for line in self.lines):
            return -1
        return sum(1 for line in self.lines if _DONE.match(line))

    @property
    def last_words(self) -> str:
        """What it and its guard said of the end, after the announcements of a run."""
        began = next(
            (n for n, line in enumerate(self.lines) if line.startswith(("measuring", "watching"))), None
        )
        if began is None:
            return "\n".join(line for line in self.lines if "redolab: " in line or "Traceback" in line)
        return "\n".join(line for line in self.lines[began + 1 :] if not _DONE.match(line))

    def strike(self, number: signal.Signals) -> bool:
        """Send a signal to the command; whether it was there."""
        if self.over:
            return False
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
            self.killed = self.killed or number == signal.SIGKILL
            return True
        return False

    def guards(self) -> list[int]:
        """The guards that live."""
        found = [pid for pid in at_work(self.place) if _GUARD in _command_line(pid)]
        self.guards_seen |= set(found)
        return found

    def strike_guards(self, number: signal.Signals) -> list[int]:
        """The same for its guards; which they were."""
        found = self.guards()
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return found

    def left(self) -> list[str]:
        """What is still running of it."""
        return [
            _command_line(pid).replace(b"\0", b" ").decode(errors="replace") for pid in at_work(self.place)
        ]

    def await_quiet(self, limit_s: float) -> bool:
        """Wait until nothing of it runs; whether that came about."""
        give_up = time.monotonic() + limit_s
        # Its guard has the same stderr, which ends with the last of them.
        self._reader.join(timeout=limit_s)
        while at_work(self.place):
            if time.monotonic() > give_up:
                return False
            time.sleep(0.2)
        return True

    def kill_all(self) -> None:
        """Let nothing of it go on."""
        for pid in at_work(self.place):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stored(self) -> Run | None:
        """What it stored, as anybody reads it; None where nothing was."""
        return open_run(self.out) if (self.out / "manifest.json").exists() else None

    def report(self) -> Ended:
        """`redolab report` of what it stored."""
        return in_this_process(self.place, "report", str(self.out), environment=self.environment)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def run_words(url: str, seed: int, blocks: int, scope: Sequence[str] = ()) -> tuple[str, ...]:
    """The cheapest run that changes parameters of the whole server."""
    return (
        "run", "commit-mode", "--quick", "--engine", url, "--yes", "--blocks", str(blocks),
        "--seconds", "0.2", "--sessions", "1", "--settings", "wait/immediate,nowait/batch",
        "--seed", str(seed), *scope,
    )  # fmt: skip


def watch_words(url: str, seconds: float) -> tuple[str, ...]:
    """A short watch."""
    return ("watch", url, "--seconds", f"{seconds:g}")
