"""Somebody's server, as the breaker and its judge have it: their own connection, never Redolab's words."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from redolab.engine.private.directory import remove_server
from tests.breaker.machine import Clock, Disk

State = dict[tuple[str, str], str]
"""What the judge compares: by kind of thing and name. `("parameter", "sync_binlog"): "1"`."""
Rows = list[dict[str, Any]]
START_LIMIT_S = 60.0


class StatementError(Exception):
    """A statement that the server did not take."""


class Somebody(ABC):
    """One server with an administrator of its own, and the user `lab` that Redolab connects as."""

    engine: str
    """As it is named on the command line of the breaker."""
    own: str
    """What Redolab makes there, as SQL drops it: `schema redolab`."""

    def __init__(self, megabytes: int) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="redolab-breaker-"))
        self.place.chmod(0o755)
        self.clock = Clock(self.place)
        self._make(self.place / "server")
        self.disk = Disk(self.place / "server" / "data", megabytes)
        self.revive()
        self._settle_in()

    @property
    @abstractmethod
    def url(self) -> str:
        """As it is given to Redolab."""

    @abstractmethod
    def hold(self, *statements: str) -> Callable[[], None]:
        """Execute in a connection that stays; returns what ends it.

        Raises:
            StatementError: as for `execute`.
        """

    @abstractmethod
    def execute(self, *statements: str) -> Rows:
        """Execute as the administrator, whatever is read-only; the rows of the last.

        Raises:
            StatementError: the server did not take it, or was not there.
        """

    @abstractmethod
    def state(self) -> State:
        """Everything that a run must leave as it was, and whether something of Redolab's is there."""

    @abstractmethod
    def at_work(self) -> int:
        """How many connections of Redolab's user there are."""

    @abstractmethod
    def end_connections(self) -> None:
        """Kill every connection of Redolab's user."""

    @abstractmethod
    def forgets(self, key: tuple[str, str]) -> bool:
        """Whether a restart takes what somebody set back to the configuration."""

    @abstractmethod
    def allow(self) -> None:
        """Give the user its rights."""

    @abstractmethod
    def alive(self) -> bool:
        """Whether its process is there."""

    @abstractmethod
    def end(self, how: signal.Signals) -> None:
        """Stop it, or kill it."""

    @abstractmethod
    def _make(self, place: Path) -> None: ...

    @abstractmethod
    def _begin(self) -> None:
        """Start its process, whose disk and clock are its own."""

    @abstractmethod
    def _settle_in(self) -> None:
        """Make the user and what it needs."""

    def revive(self) -> None:
        """Start it wherever it is not there, and wait until it answers."""
        give_up = time.monotonic() + START_LIMIT_S
        while True:
            if not self.alive():
                self._begin()
            with suppress(StatementError):
                self.execute("select 1")
                return
            assert time.monotonic() < give_up, f"{self.engine} does not answer: {self.place}"
            time.sleep(0.05)

    def mend(self) -> None:
        """Start it again as somebody does whose disk may be full: free that first."""
        self.disk.free()
        self.revive()

    def close(self) -> None:
        """End it and remove it."""
        with suppress(ProcessLookupError):
            self.end(signal.SIGKILL)
        self.disk.close()
        remove_server(self.place / "server")
        shutil.rmtree(self.place, ignore_errors=True)
