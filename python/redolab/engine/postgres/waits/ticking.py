"""A clock that ticks at random moments: the gaps are exponential, so no tick falls into step with a load."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

import psycopg

from redolab.engine.postgres.connecting.connection import Connection


class Ticking:
    """Calls a function that asks the server over one connection, in a thread, until it is stopped."""

    def __init__(
        self, tick: Callable[[Connection], None], connection: Connection, rate_per_s: float, seed: int
    ) -> None:
        """Begin at once.

        Args:
            tick: called in the thread; a `psycopg.Error` it raises makes a lost tick.
            connection: used by the thread alone meanwhile; when it breaks, the ticking ends.
            rate_per_s: mean ticks per second.
            seed: of the gaps.
        """
        self.ticks = self.late = self.lost = 0
        self.cpu_s = 0.0
        self._tick, self._connection, self._rate_per_s = tick, connection, rate_per_s
        self._random = random.Random(seed)
        self._done = threading.Event()
        self._on = threading.Event()
        self._on.set()
        self._thread = threading.Thread(target=self._run, name="wait sampler", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the tick in hand."""
        self._done.set()
        self.resume()
        self._thread.join()

    def pause(self) -> None:
        """Ask nothing until `resume`."""
        self._on.clear()

    def resume(self) -> None:
        """Go on ticking."""
        self._on.set()

    def _run(self) -> None:
        due = time.monotonic() + self._random.expovariate(self._rate_per_s)
        while not self._done.wait(max(0.0, due - time.monotonic())):
            if not self._on.is_set():
                self._on.wait()
                # An exponential gap has no memory, so a new one may begin here.
                due = time.monotonic() + self._random.expovariate(self._rate_per_s)
                continue
            self.late += time.monotonic() - due > 0.5 / self._rate_per_s
            try:
                self._tick(self._connection)
                self.ticks += 1
            except psycopg.Error:
                self.lost += 1
                if self._connection.closed:
                    break
            self.cpu_s = time.thread_time()
            due = max(due, time.monotonic()) + self._random.expovariate(self._rate_per_s)
        self.cpu_s = time.thread_time()
