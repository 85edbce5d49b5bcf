"""Watching a live server, read-only and without load; goes on after the server's restart.

What a database does in its own way is a hook; each has an observer of its own at `observer/observer.py`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import replace
from threading import Event

from redolab.errors import RefusedError
from redolab.records.observation import Observation, ServerFacts


class Observer(ABC):
    """A server under observation. Closed by `close`, whatever happened before."""

    restart_limit_s, retry_s = 30.0, 0.25
    """How long a server that went away is waited for, and how often it is tried."""
    stops_early = False
    """Whether a server that went away is no longer awaited once the watching must end."""
    session_numbers: str
    """The number by which a session is named, and where the server itself shows it, in words."""
    facts: ServerFacts
    """The server's identity; from `open`."""

    def __init__(
        self, target: str, seed: int = 0, stop: Event | None = None, reopen: bool = True, calm: bool = False
    ) -> None:
        """Connect and begin to watch, as `open_observer` says."""
        self._stop = stop if stop and self.stops_early else Event()
        self._seed, self._reopens, self._calm = seed, reopen, calm
        self._until_break: Observation | None = None
        self.aim(target)
        self.open()

    @abstractmethod
    def aim(self, target: str) -> None:
        """Take the URL.

        Raises:
            UsageError: it cannot be read.
        """

    @abstractmethod
    def open(self) -> None:
        """Connect and begin to watch.

        Raises:
            RefusedError: the server cannot be reached or watched.
        """

    @abstractmethod
    def look(self) -> Observation:
        """The observation since the last look; `broken`, and disconnected, where the connection was lost.

        Raises:
            RefusedError: the server refuses what it gave before.
        """

    @abstractmethod
    def resume(self, last: Observation) -> Observation:
        """Go on by `reopen`.

        Args:
            last: what was seen until the connection was lost.

        Returns what `read` gives, with a warning that says what became of the server.

        Raises:
            RefusedError: the server went away, and stayed away.
        """

    @abstractmethod
    def end(self) -> object:
        """Disconnect."""

    def is_away(self, error: RefusedError) -> bool:  # noqa: ARG002
        """Whether the server may be there again after such an error."""
        return True

    def read(self) -> Observation:
        """The observation since the last reading; for the first one, since the observer was opened.

        Meant to be called about once a second: sessions that live shorter than the time between two
        readings are known by what the kernel shows of them alone. The time in which the server was away is
        in no observation.

        Raises:
            RefusedError: the server went away, and stayed away; or refuses what it gave before.
        """
        last = self._until_break or self.look()
        if last.broken is None:
            return last
        self._until_break = last
        if self._stop.is_set():
            return warned(last, "The server did not answer when Redolab stopped watching it.")
        return self.resume(last) if self._reopens else last

    def reopen(self) -> None:
        """Connect again, and wait for a server that is away.

        Raises:
            RefusedError: it stayed away.
        """
        give_up_s = time.monotonic() + self.restart_limit_s
        while True:
            try:
                self.open()
            except RefusedError as error:
                late = time.monotonic() > give_up_s
                if late or not self.is_away(error) or self._stop.wait(self.retry_s):
                    raise
            else:
                self._until_break = None
                return

    def close(self) -> None:
        """End the observation; nothing is left behind."""
        if self._until_break is None:
            self.end()


def warned(seen: Observation, text: str) -> Observation:
    """The same, with a further warning."""
    return replace(seen, warnings=(*seen.warnings, text))
