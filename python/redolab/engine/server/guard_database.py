"""The guard's part for somebody's database: it holds the server until everything is put back.

Its lock stays when Redolab is killed. So no other run begins before it has cleaned up.
Each database has a `DatabaseCharge` of its own at `own/guard_database.py`, which says how.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from redolab.console import say, standard_streams
from redolab.engine.server.kept import Memory
from redolab.engine.server.server_lock import ServerLock
from redolab.errors import RedolabError, RefusedError, sentence

PATIENCE_S = 600.0
"""How long a guard waits for a server that restarts, or for somebody's lock: nobody waits for the guard."""
TRIES_ON = (
    "Redolab's guard (the process that cleans up) tries once more. The guard waits up to "
    f"{PATIENCE_S / 60:.0f} minutes for somebody's lock, or for a server that does not answer."
)
"""The work that a run that ends leaves to its guard, as a sentence."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 4.0


class _Connection(Protocol):
    def close(self) -> None: ...


class DatabaseCharge(Memory, ABC):
    """One database whose state the guard answers for."""

    errors: tuple[type[Exception], ...]
    """Errors that the driver raises."""
    _control: _Connection
    lock: ServerLock
    """The lock by which `connect` holds the server."""
    _is_done = False
    """Whether it has put everything back, and no other run did."""

    def __init__(self) -> None:
        """Connect, and hold the server.

        Raises:
            RefusedError: the server cannot be reached.
        """
        super().__init__()
        self.connect()

    @property
    @abstractmethod
    def pid(self) -> int:
        """The number of its connection on the server."""

    @abstractmethod
    def connect(self) -> None:
        """Open the connection, in place of one that is lost, and take the guard's lock.

        Raises:
            RefusedError: the server cannot be reached.
        """

    @abstractmethod
    def answers(self) -> bool:
        """Whether the connection is there."""

    def run_is_gone(self, limit_s: float, *, lost: bool) -> bool:
        """Wait until the run's own connection is gone; returns whether no other run has begun since.

        Whoever begins puts everything back first.

        Args:
            limit_s: how long to wait.
            lost: whether this guard's lock was lost meanwhile, so that somebody may have begun.

        Raises:
            RefusedError: it is not gone by then.
        """
        if lost:
            return self.lock.take(limit_s) is None
        if not self.lock.await_end_of_run(limit_s):
            raise RefusedError("The killed run's connection is still at work on the server")
        return True

    @abstractmethod
    def put_back(self) -> str:
        """Put everything back; returns what the user must know of it, as sentences."""

    def hold(self) -> None:
        """Hold the server again, where its restart ended the connection.

        Raises:
            RefusedError: the server cannot be reached.
        """
        if not self.answers():
            self._connect_anew()

    def release(self) -> None:
        """Nothing is left to do."""
        with suppress(*self.errors):
            self._control.close()

    def clean_up(self) -> None:
        """Put everything back once the run is gone; a server that is not there is waited for.

        Failures are reported on stderr, where anybody still reads that.
        """
        with standard_streams():
            self._clean_up()
        self.release()

    def _clean_up(self) -> None:
        give_up, pause_s, lost = time.monotonic() + PATIENCE_S, _FIRST_PAUSE_S, False
        while wrong := self._try(give_up, lost):
            # Where the server answers it was the server that said no, and would say so again.
            if self.answers() or time.monotonic() > give_up:
                say(f"redolab: The server is not as it was before the run: {wrong}")
                break
            if not lost:
                say(
                    f"redolab: The server is not put back yet: {wrong} The guard of the run (the process "
                    f"that cleans up) waits for the server, up to {PATIENCE_S / 60:.0f} minutes."
                )
            lost = True
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        if self._is_done:
            say("redolab: The guard of the run has put everything back on the server.")

    def _try(self, give_up: float, lost: bool) -> str:
        """Put everything back; returns what the user must know of it, as sentences."""
        try:
            if not self.answers():
                lost = True
                self._connect_anew()
            limit_s = max(0.0, give_up - time.monotonic())
            if not self.run_is_gone(limit_s, lost=lost):
                return ""
            wrong = self.put_back()
            self._is_done = not wrong
            return wrong
        except self._foreseen as error:
            return sentence(self.words(error))

    @property
    def _foreseen(self) -> tuple[type[Exception], ...]:
        return (RedolabError, *self.errors)

    def _connect_anew(self) -> None:
        # After a restart these numbers are somebody else's.
        self.keep(replace(self.kept, sessions=()))
        self.connect()

    @abstractmethod
    def words(self, error: Exception) -> str:
        """The text of an error, without a full stop."""
