"""The wait sampler: ticks of `pg_stat_activity` joined with each process's scheduler state.

Gaps between ticks are exponential, so that a tick cannot fall into step with the load. Sampling
divides waits of a millisecond and more well and waits of 50 us badly: a query reads the event of
one moment and the kernel's state of another (docs/explanation/method.md). CPU and run queue are
therefore never taken from ticks but from the kernel's own accounts.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Collection
from types import TracebackType
from typing import Any, Literal, Self

import psycopg

from redolab import _core
from redolab.engine.connection import Connection, fetch
from redolab.sample import TickCount, Ticks

RATE_PER_S = 20.0


class PgWatch:
    """Samples one server in a thread while its `with` block runs."""

    def __init__(
        self,
        connection: Connection,
        own: Collection[int],
        sessions: Collection[int],
        local: bool,
        seed: int,
    ) -> None:
        """Watch over `connection`.

        Args:
            connection: used by the sampler alone meanwhile.
            own: Redolab's own server processes, left out.
            sessions: the working sessions' server processes.
            local: whether this machine's kernel knows the server's processes.
            seed: of the gaps.
        """
        self.ticks = Ticks()
        self._connection = connection
        self._own, self._sessions, self._local = list(own), frozenset(sessions), local
        self._random = random.Random(seed)
        self._done = threading.Event()
        self._on = threading.Event()
        self._on.set()
        self._thread = threading.Thread(target=self._sample, name="wait sampler", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self.resume()
        self._thread.join()

    def pause(self) -> None:
        """Read nothing until `resume`."""
        self._on.clear()

    def resume(self) -> None:
        """Go on sampling."""
        self._on.set()

    def _sample(self) -> None:
        seen: Counter[tuple[Any, ...]] = Counter()
        rounds = late = lost = 0
        started = time.thread_time()
        due = time.monotonic() + self._random.expovariate(RATE_PER_S)
        while not self._done.wait(max(0.0, due - time.monotonic())):
            if not self._on.is_set():
                self._on.wait()
                # The gap has no memory, so a new one may begin here.
                due = time.monotonic() + self._random.expovariate(RATE_PER_S)
                continue
            late += time.monotonic() - due > 0.5 / RATE_PER_S
            try:
                seen.update(self._tick())
                rounds += 1
            except psycopg.Error:
                lost += 1
                if self._connection.closed:
                    break
            due = max(due, time.monotonic()) + self._random.expovariate(RATE_PER_S)
        counts = tuple(
            TickCount(scope, kind, wait_class, event, state, count)
            for (scope, kind, wait_class, event, state), count in sorted(seen.items())
        )
        cpu_s = time.thread_time() - started
        self.ticks = Ticks(counts, rounds, late, lost, cpu_s, looks=sum(seen.values()))

    def _tick(self) -> list[tuple[Any, ...]]:
        rows = fetch(self._connection, "select_activity", {"own": self._own})
        states: list[str | None] = [None] * len(rows)
        if self._local:
            states = _core.task_states([row["pid"] for row in rows])
        return [
            (
                "session" if row["pid"] in self._sessions else "background",
                row["backend_type"],
                row["wait_class"],
                row["event"],
                _state(state),
            )
            for row, state in zip(rows, states, strict=True)
        ]


def _state(letter: str | None) -> Literal["runnable", "asleep", "unknown"]:
    if letter is None:
        return "unknown"
    return "runnable" if letter == "R" else "asleep"
