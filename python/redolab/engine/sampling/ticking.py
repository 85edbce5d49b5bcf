"""A clock that ticks at random moments: the gaps are exponential, so no tick falls into step with a load."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["seen", "lost", "over"]
"""The outcome of a tick. After `over` no tick can succeed any more, so the ticking ends."""


@dataclass(frozen=True)
class TimeKept:
    """How the clock kept time in one stretch of it."""

    late: int = 0
    """Ticks later than half a mean gap."""
    lost: int = 0
    """Ticks that failed."""
    cpu_s: float = 0.0
    """CPU of the ticking thread."""


class Ticking:
    """Calls a function in a thread, again and again, until it is stopped."""

    def __init__(self, tick: Callable[[], Outcome], rate_per_s: Callable[[], float], seed: int) -> None:
        """Begin at once.

        Args:
            tick: called in the thread.
            rate_per_s: mean ticks per second; asked before each gap. It may depend on how much there is to
                look at, but never on what was observed.
            seed: of the gaps.
        """
        self._tick, self._rate_per_s = tick, rate_per_s
        self._random = random.Random(seed)
        self._late = self._lost = 0
        self._cpu_s = 0.0
        self._cut = TimeKept()
        self._done = threading.Event()
        self._on = threading.Event()
        self._on.set()
        self._thread = threading.Thread(target=self._run, name="wait sampler", daemon=True)
        self._thread.start()

    def cut(self) -> TimeKept:
        """How it kept time since the last cut."""
        before, self._cut = self._cut, TimeKept(self._late, self._lost, self._cpu_s)
        return TimeKept(
            self._cut.late - before.late, self._cut.lost - before.lost, self._cut.cpu_s - before.cpu_s
        )

    def stop(self) -> None:
        """End after the tick in hand."""
        self._done.set()
        self.resume()
        self._thread.join()

    def pause(self) -> None:
        """Do not tick until `resume`."""
        self._on.clear()

    def resume(self) -> None:
        """Go on ticking."""
        self._on.set()

    def _run(self) -> None:
        rate_per_s = self._rate_per_s()
        due = time.monotonic() + self._random.expovariate(rate_per_s)
        while not self._done.wait(max(0.0, due - time.monotonic())):
            if not self._on.is_set():
                self._on.wait()
                # An exponential gap has no memory, so a new one may begin here.
                due = time.monotonic() + self._random.expovariate(rate_per_s)
                continue
            self._late += time.monotonic() - due > 0.5 / rate_per_s
            outcome = self._tick()
            self._lost += outcome != "seen"
            self._cpu_s = time.thread_time()
            if outcome == "over":
                break
            rate_per_s = self._rate_per_s()
            due = max(due, time.monotonic()) + self._random.expovariate(rate_per_s)
        self._cpu_s = time.thread_time()
