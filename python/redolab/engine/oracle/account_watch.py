"""The waits of sessions during a sample, from the server's own account: no sampler is at work.

Its rows are in ticks, of a millisecond of the account each, so that everything that divides time by ticks
divides it as Oracle has it. Time that is neither CPU nor a wait has ticks without an event.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Literal, Self

from redolab.engine.oracle.observer.account import session_waits
from redolab.engine.oracle.observer.reading import Reading
from redolab.records.sample import TickCount, Ticks

TICKS_PER_S = 1000.0
SOURCE = "V$SESSION_EVENT"
State = Literal["on_cpu", "asleep"]
_TICKS_PER_US = TICKS_PER_S / 1e6


class AccountWatch:
    """Two readings, before the load and after it."""

    def __init__(self, read: Callable[[], Reading], sessions: Collection[int]) -> None:
        """Take how to read and the SIDs of the working sessions."""
        self._read, self._sessions = read, sessions
        self._before: Reading | None = None
        self._cpu_s = 0.0
        self.ticks = Ticks()

    def __enter__(self) -> Self:
        self._before = self._timed()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the difference, where the load came to its end."""
        if error is None and self._before is not None:
            self.ticks = _ticks(self._before, self._timed(), self._sessions, self._cpu_s)

    def _timed(self) -> Reading:
        began = time.thread_time()
        reading = self._read()
        self._cpu_s += time.thread_time() - began
        return reading


def _ticks(before: Reading, after: Reading, sessions: Collection[int], cpu_s: float) -> Ticks:
    elapsed_s = after.at_s - before.at_s
    counts: Counter[tuple[bool, str, str, str, State]] = Counter()
    for key, earlier in before.sessions.items():
        later = after.sessions.get(key)
        if later is None or (earlier.scope == "session" and earlier.sid not in sessions):
            continue
        is_session = earlier.scope == "session"
        waits = session_waits(earlier, later)
        for (wait_class, event), (_, waited_us) in waits.items():
            counts[is_session, later.kind, wait_class, event, "asleep"] += round(waited_us * _TICKS_PER_US)
        cpu_us = max(0, later.cpu_us - earlier.cpu_us)
        counts[is_session, later.kind, "", "", "on_cpu"] += round(cpu_us * _TICKS_PER_US)
        rest_us = elapsed_s * 1e6 - cpu_us - sum(waited_us for _, waited_us in waits.values())
        counts[is_session, later.kind, "", "", "asleep"] += max(0, round(rest_us * _TICKS_PER_US))
    rows = tuple(
        TickCount("session" if is_session else "background", kind, wait_class, event, state, ticks)
        for (is_session, kind, wait_class, event, state), ticks in counts.items()
        if ticks
    )
    rounds = max(1, round(elapsed_s * TICKS_PER_S))
    return Ticks(rows, rounds=rounds, looks=sum(row.ticks for row in rows), cpu_s=cpu_s, sampled_s=elapsed_s)
