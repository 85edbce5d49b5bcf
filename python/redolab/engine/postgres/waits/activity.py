"""The wait sampler: ticks of `pg_stat_activity` joined with each process's scheduler state.

Sampling divides waits of a millisecond and more well and waits of 50 us badly: a query reads the event of
one moment and the kernel's state of another (docs/explanation/method.md). CPU and run queue are
therefore never taken from ticks but from the kernel's own accounts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from types import TracebackType
from typing import Any, Literal, Self

from redolab import _core
from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.postgres.waits.ticking import Ticking
from redolab.records.sample import TickCount, Ticks

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
        self._connection, self._seed = connection, seed
        self._own, self._sessions, self._local = list(own), frozenset(sessions), local
        self._seen: Counter[tuple[Any, ...]] = Counter()

    def __enter__(self) -> Self:
        self._ticking = Ticking(self._tick, self._connection, RATE_PER_S, self._seed)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ticking = self._ticking
        ticking.stop()
        counts = tuple(
            TickCount(scope, kind, wait_class, event, state, count)
            for (scope, kind, wait_class, event, state), count in sorted(self._seen.items())
        )
        self.ticks = Ticks(
            counts,
            ticking.ticks,
            ticking.late,
            ticking.lost,
            ticking.cpu_s,
            looks=sum(self._seen.values()),
        )

    def pause(self) -> None:
        """Read nothing until `resume`."""
        self._ticking.pause()

    def resume(self) -> None:
        """Go on sampling."""
        self._ticking.resume()

    def _tick(self, connection: Connection) -> None:
        rows = fetch(connection, "select_activity", {"own": self._own})
        states: list[str | None] = [None] * len(rows)
        if self._local:
            states = _core.task_states([row["pid"] for row in rows])
        self._seen.update(
            (
                "session" if row["pid"] in self._sessions else "background",
                row["backend_type"],
                row["wait_class"],
                row["event"],
                _state(state),
            )
            for row, state in zip(rows, states, strict=True)
        )


def _state(letter: str | None) -> Literal["awake", "asleep", "unknown"]:
    if letter is None:
        return "unknown"
    return "awake" if letter == "R" else "asleep"
