"""The wait sampler for a server on this machine: reads published events from the server's memory.

Event and scheduler state are read together, and only pairs whose event did not change meanwhile
count; a thread of the compiled part does it, at real-time priority where that is allowed. So even
waits of 50 us are divided well, which a query to `pg_stat_activity` cannot do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Literal, Self

from redolab import _core
from redolab.engine.wait_events import EventNames, name_event
from redolab.sample import TickCount, Ticks

RATE_PER_S = 50.0
Scope = Literal["session", "background"]


def why_not_readable(postmaster: int, names: EventNames | None) -> str | None:
    """Why the server's memory cannot be read from here, or None when it can.

    Args:
        postmaster: the server's first process.
        names: the numbers of this server version's events, where they are known.
    """
    if names is None:
        return "the numbers of this version's wait events are not known"
    try:
        _core.WaitSampler(postmaster, RATE_PER_S, 0, []).stop()
    except PermissionError:
        return (
            "the server's memory may not be read (run Redolab as the server's user, or with CAP_SYS_PTRACE)"
        )
    except OSError as error:
        return f"the server's memory cannot be read ({error})"
    return None


class MemoryWatch:
    """Samples one server while its `with` block runs."""

    def __init__(
        self,
        postmaster: int,
        names: EventNames,
        own: Collection[int],
        sessions: Collection[int],
        seed: int,
    ) -> None:
        """Watch over the children of `postmaster`.

        Args:
            postmaster: the server's first process.
            names: the numbers of this server version's events.
            own: Redolab's own server processes, left out.
            sessions: the working sessions' server processes.
            seed: of the gaps between ticks.
        """
        self.ticks = Ticks()
        self._postmaster, self._names, self._seed = postmaster, names, seed
        self._own, self._sessions = list(own), frozenset(sessions)

    def __enter__(self) -> Self:
        self._sampler: _core.WaitSampler | None = None
        self._counts: Counter[tuple[Scope, str, str, str, bool]] = Counter()
        self.resume()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.pause()
        rows = tuple(
            TickCount(scope, kind, wait_class, event, "runnable" if runnable else "asleep", ticks)
            for (scope, kind, wait_class, event, runnable), ticks in sorted(self._counts.items())
        )
        self.ticks = replace(self.ticks, counts=rows)

    def resume(self) -> None:
        """Go on sampling."""
        with suppress(OSError):  # The server is just going down: no tick of this sample.
            self._sampler = _core.WaitSampler(self._postmaster, RATE_PER_S, self._seed, self._own)
            self._seed += 1

    def pause(self) -> None:
        """Read nothing until `resume`."""
        if self._sampler is None:
            return
        seen, self._sampler = self._sampler.stop(), None
        for sight in seen.sights:
            scope: Scope = "session" if sight.pid in self._sessions else "background"
            pair = name_event(self._names, sight.event)
            self._counts[scope, sight.kind, *pair, sight.runnable] += sight.ticks
        before = self.ticks
        self.ticks = replace(
            before,
            rounds=before.rounds + seen.rounds,
            late=before.late + seen.late,
            lost=before.lost + seen.lost,
            cpu_s=before.cpu_s + seen.cpu_ns / 1e9,
            torn=before.torn + seen.torn,
            looks=before.looks + seen.torn + sum(sight.ticks for sight in seen.sights),
            realtime=seen.realtime,
        )
