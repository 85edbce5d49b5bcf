"""One run per server at a time, whichever schema it uses: locks that every user of the server can see.

The guard of a run holds a lock of its own until it has cleaned up, so that nobody begins before.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Collection

from redolab.errors import RefusedError

_LIMIT_S = 5.0
_PAUSE_S = (0.05, 0.25)


class ServerLock(ABC):
    """The locks on one server, as one connection takes and sees them."""

    @abstractmethod
    def try_run(self) -> bool:
        """Take the lock of a run until the connection is closed; returns whether it was free."""

    @abstractmethod
    def let_go(self) -> None:
        """Give the lock of a run back."""

    @abstractmethod
    def hold_as_guard(self) -> None:
        """Take the guard's lock, in addition to the run's own."""

    @abstractmethod
    def await_end_of_run(self, limit_s: float) -> bool:
        """Wait until the run's own connection is gone; returns whether it is."""

    @abstractmethod
    def other_holder(self, own: Collection[int] = ()) -> str | None:
        """The other holder of one of Redolab's locks on this server, in words.

        Args:
            own: connections that belong to this run, its guard's for one.
        """

    def take(self, limit_s: float, own: Collection[int] = ()) -> str | None:
        """Keep other runs off this server while the connection is open.

        Two that begin at the same moment may both see each other: each lets go and tries again after a random
        pause.

        Args:
            limit_s: how long to try. A run that was just killed lets go when the server notices, and its
                guard when it has cleaned up.
            own: connections that belong to this run, its guard's for one.

        Returns who holds the server instead; None where it was free.
        """
        give_up = time.monotonic() + limit_s
        while True:
            had = self.try_run()
            other = self.other_holder(own)
            if had and other is None:
                return None
            if had:
                self.let_go()
            if other is not None and time.monotonic() > give_up:
                return other
            time.sleep(random.uniform(*_PAUSE_S))

    def take_for_run(self, own: Collection[int] = ()) -> None:
        """Take the server for this run; `own` are connections of its guard.

        Raises:
            RefusedError: another run is at work on it.
        """
        _refuse_other(self.take(_LIMIT_S, own))

    def check_free(self) -> None:
        """Make sure that no other run is at work.

        Raises:
            RefusedError: one is.
        """
        _refuse_other(self.other_holder())


def _refuse_other(holder: str | None) -> None:
    if holder is not None:
        raise RefusedError(
            f"Another Redolab run is at work on this server, or its guard is cleaning up ({holder}); two "
            "runs would spoil each other's figures and parameters. Wait for the end of that run, or use "
            "another server."
        )
