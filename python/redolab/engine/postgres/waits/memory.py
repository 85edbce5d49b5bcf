"""The wait sampler for a server on this machine: reads published events from the server's memory.

Event and scheduler state are of one moment: where the event changed while the kernel was asked for
the state, the state is unknown. A thread of the compiled part reads them, at real-time priority where
that is allowed. So even waits of 50 us are divided well, which a query to `pg_stat_activity` cannot do.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self

from redolab import _core
from redolab.engine.postgres.waits.events import EventNames, name_event
from redolab.records.observation import STATES, State
from redolab.records.sample import TickCount, Ticks

RATE_PER_S = 25.0

Scope = Literal["session", "background"]

_ASLEEP = STATES.index("asleep")


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
        with suppress(OSError):  # The server is just going down: no tick of this sample.
            self._sampler = _core.WaitSampler(self._postmaster, RATE_PER_S, self._seed, self._own)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._sampler is None:
            return
        seen = self._sampler.stop()
        counts = tuple(self._counts(seen))
        self.ticks = Ticks(
            counts, seen.ticks, seen.late, seen.lost, seen.cpu_ns / 1e9, seen.torn, seen.looks, seen.realtime
        )

    def pause(self) -> None:
        """Read nothing until `resume`."""
        if self._sampler is not None:
            self._sampler.pause()

    def resume(self) -> None:
        """Go on sampling."""
        if self._sampler is not None:
            self._sampler.resume()

    def _counts(self, seen: _core.Window) -> Iterator[TickCount]:
        looks = zip(array("I", seen.look_process), array("I", seen.look_event), seen.look_state, strict=True)
        counts = Counter(looks)
        # A process that idles is asleep.
        counts.update({(process, event, _ASLEEP): ticks for process, event, ticks in seen.idle})
        totals: Counter[tuple[Scope, str, str, str, State]] = Counter()
        for (place, event, state), ticks in counts.items():
            process = seen.processes[place]
            scope: Scope = "session" if process.pid in self._sessions else "background"
            pair = name_event(self._names, event)
            totals[scope, process.kind, *pair, STATES[state]] += ticks
        return (TickCount(*combination, ticks) for combination, ticks in sorted(totals.items()))
