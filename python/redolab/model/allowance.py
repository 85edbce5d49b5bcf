"""The amount that may be simulated before an answer is given up: events first, the clock last.

Events are the same on every machine, so an answer that needs too many is given up everywhere. Time is the
last bound, for a machine that is slow: CPU time, which does not pass while other processes have the CPUs, and
three times as long by the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import TypeVar

from redolab._core import SimulationTooLongError

T = TypeVar("T")

TOO_MUCH = "to simulate this load takes more than {events:,} events"
TOO_LATE = "the simulations were not done after {seconds:g} s of CPU time"
_BUSY = 3.0
"""Seconds by the clock for each of CPU time, on a machine that others keep busy."""


class OutOfTimeError(SimulationTooLongError):
    """The clock ran out, which another machine's might not have done."""


class Allowance:
    """Events and time left for simulations together. A thread needs a part of its own (`divided`)."""

    def __init__(self, events: int, seconds: float | None = None) -> None:
        """Begin.

        Args:
            events: simulated ones, of all simulations together.
            seconds: of CPU time from now on; None for any time.
        """
        self._all, self.rest = events, events
        """Events that are left; below 0 where the last simulation took more than there were."""
        self._seconds = seconds
        self._began_s, self._began_cpu_s = time.monotonic(), time.process_time()

    @property
    def left(self) -> int:
        """How many events the next simulation may take.

        Raises:
            OutOfTimeError: the clock ran out.
            SimulationTooLongError: no event is left.
        """
        if self._seconds is not None:
            cpu_s, passed_s = time.process_time() - self._began_cpu_s, time.monotonic() - self._began_s
            if cpu_s >= self._seconds or passed_s >= _BUSY * self._seconds:
                raise OutOfTimeError(TOO_LATE.format(seconds=self._seconds))
        if self.rest <= 0:
            raise SimulationTooLongError(self.too_much)
        return self.rest

    @property
    def too_much(self) -> str:
        """The reason for giving up once no event is left, as the end of a sentence."""
        return TOO_MUCH.format(events=self._all)

    def spent_on(self, simulated: Callable[[int], tuple[T, int]]) -> T:
        """The result of a simulation, whose events are subtracted.

        Args:
            simulated: gets the most events that it may take; returns its result and the events that it took.

        Raises:
            OutOfTimeError: the clock ran out.
            SimulationTooLongError: it takes more events than are left.
        """
        most = self.left
        try:
            found, events = simulated(most)
        except SimulationTooLongError as error:
            self.rest -= most
            raise SimulationTooLongError(self.too_much) from error
        self.rest -= events
        return found

    def expect(self, events: float) -> None:
        """Give up at once where more is to come than there is.

        Raises:
            SimulationTooLongError: it is.
        """
        if events > self.rest:
            raise SimulationTooLongError(self.too_much)

    def divided(self, parts: int) -> list[Allowance]:
        """Equal parts of what is left, for as many threads; `give_back` subtracts the events that they spend.

        Raises:
            OutOfTimeError: the clock ran out.
            SimulationTooLongError: no event is left.
        """
        found = []
        for _ in range(parts):
            part = copy(self)
            part.rest = self.left // parts
            found.append(part)
        return found

    def give_back(self, parts: list[Allowance]) -> None:
        """Subtract the events that the parts spent."""
        each = self.rest // max(1, len(parts))
        self.rest -= sum(each - part.rest for part in parts)
