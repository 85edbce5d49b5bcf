"""The wait sampler for a server on this machine: reads published events from the server's memory.

Event and scheduler state are of one moment: where the event changed while the kernel was asked for
the state, the state is unknown. A thread of the compiled part reads them, at real-time priority where
that is allowed. So even waits of 50 us are divided accurately, which a query to `pg_stat_activity` cannot do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from redolab import _core
from redolab.dialect.log_waits import is_log_sync, is_log_write
from redolab.engine.postgres.waits.events import EventNames, name_event
from redolab.engine.sampling.event_codes import EventCodes
from redolab.records.observation import (
    STATES,
    Episodes,
    IdleLooks,
    Instrument,
    Looks,
    Observation,
    Observed,
    WaitEnds,
)

RATE_PER_S = 25.0
SESSION_KINDS = frozenset({"client backend"})
"""The kinds of process that serve a client."""
_BURSTS_PER_S = 0.5
_CALM = 0.1
"""Factor of both rates in a long watch. At 0.4 the cost of a watch can be measured
(`benches/watch_cost.py`).
"""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_ASLEEP = STATES.index("asleep")

Rows = Sequence[Mapping[str, Any]]


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
            "Redolab may not read the server's memory (run it as the server's user, or with CAP_SYS_PTRACE)"
        )
    except OSError as error:
        return f"the server's memory cannot be read ({error})"
    return None


class MemorySource:
    """Watches the children of one postmaster from construction until `stop` (a `sampling.Source`)."""

    name = "server memory"

    def __init__(
        self,
        postmaster: int,
        names: EventNames,
        own: Collection[int],
        seed: int,
        log_bursts: bool = False,
        calm: bool = False,
    ) -> None:
        """Begin to watch.

        Args:
            postmaster: the server's first process.
            names: the numbers of this server version's events.
            own: Redolab's own server processes, left out.
            seed: of the gaps between ticks.
            log_bursts: whether waits for the log are followed closely now and then, for their durations.
            calm: whether it looks and follows more rarely, in a long watch.

        Raises:
            OSError: the server's memory cannot be read.
        """
        pace = _CALM if calm else 1.0
        self._names, self._rate_per_s = names, pace * RATE_PER_S
        self._known: dict[tuple[int, int], Mapping[str, Any]] = {}
        self._at = _now()
        self._sampler = _core.WaitSampler(
            postmaster, self._rate_per_s, seed, list(own),
            log_sync=_numbers(names, is_log_sync) if log_bursts else (),
            log_write=_numbers(names, is_log_write) if log_bursts else (),
            bursts_per_s=pace * _BURSTS_PER_S if log_bursts else 0.0,
        )  # fmt: skip

    def pause(self) -> None:
        """Read nothing until `resume`."""
        self._sampler.pause()

    def resume(self) -> None:
        """Go on sampling."""
        self._sampler.resume()

    def read(self, rows: Rows) -> Observation:
        """The observation since the last reading; `rows` of `select_sessions` were asked for just now."""
        asked_at = time.clock_gettime(time.CLOCK_BOOTTIME)
        return self._seen(self._sampler.read(), rows, asked_at)

    def stop(self) -> Observation:
        """The observation since the last reading, and end."""
        return self._seen(self._sampler.stop(), (), 0.0)

    def _seen(self, window: _core.Window, rows: Rows, asked_at: float) -> Observation:
        codes = EventCodes()
        met = self._meet(window, rows, asked_at)
        numbers, places = np.unique(np.frombuffer(window.look_event, np.uint32), return_inverse=True)
        event_of = np.array([codes[name_event(self._names, int(number))] for number in numbers], np.uint32)
        looks = Looks(
            np.frombuffer(window.look_tick, np.uint32),
            np.frombuffer(window.look_process, np.uint32),
            event_of[places],
            np.frombuffer(window.look_state, np.uint8),
        )
        wait_ends = tuple(
            WaitEnds(end.process, codes[name_event(self._names, end.event)], end.exposure_ns / 1e9, end.ends)
            for end in window.wait_ends
        )
        idle = tuple(
            IdleLooks(process, codes[name_event(self._names, event)], _ASLEEP, count)
            for process, event, count in window.idle
        )
        at, self._at = self._at, _now()
        return Observation(
            at=at,
            elapsed_s=window.elapsed_s,
            ticks=window.ticks,
            processes=tuple(self._observed(process, window, met) for process in window.processes),
            events=tuple(codes),
            looks=looks,
            idle=idle,
            wait_ends=wait_ends,
            log_sync=_episodes(window, window.log_sync_s, window.log_sync_unfinished_s),
            log_write=_episodes(window, window.log_write_s, window.log_write_unfinished_s),
            ended_cpu_s=window.ended_cpu_ns / 1e9,
            instrument=Instrument(
                source=self.name,
                rate_per_s=self._rate_per_s,
                late=window.late,
                lost=window.lost,
                torn=window.torn,
                looks=window.looks,
                cpu_s=window.cpu_ns / 1e9,
                server_cpu_s=None,
                realtime=window.realtime,
            ),
        )

    def _meet(self, window: _core.Window, rows: Rows, asked_at: float) -> set[tuple[int, int]]:
        """Learn who the processes are; returns those that the server named this time.

        A pid can be given out again. But a process that began before the server was asked, and had not
        ended when the window was closed after it, had its pid all the time in between.
        """
        by_pid = {row["pid"]: row for row in rows}
        alive = {(process.pid, process.start_ticks): process for process in window.processes}
        self._known = {key: row for key, row in self._known.items() if key in alive}
        met = {
            key
            for key, process in alive.items()
            if key[0] in by_pid and not process.ended and key[1] / _TICKS_PER_S < asked_at
        }
        self._known |= {key: by_pid[key[0]] for key in met}
        return met

    def _observed(self, process: _core.Watched, window: _core.Window, met: set[tuple[int, int]]) -> Observed:
        key = process.pid, process.start_ticks
        row = self._known.get(key, {})
        kind = row.get("kind") or process.kind
        state = str(row.get("state")) if key in met else ""
        scope: Literal["session", "background"] = "session" if kind in SESSION_KINDS else "background"
        first_tick, last_tick = process.first_tick, process.last_tick
        if scope == "background" and first_tick == last_tick and not process.ended:
            # The postmaster and the logger publish nothing at all: off the CPU they wait for work.
            lived = round(window.ticks * process.elapsed_s / window.elapsed_s) if window.ticks else 0
            first_tick, last_tick = max(0, window.ticks - lived), window.ticks
        return Observed(
            pid=process.pid,
            started=process.start_ticks,
            connection=process.pid,
            kind=kind,
            scope=scope,
            user=row.get("user") or process.user,
            application=row.get("application"),
            database=row.get("database") or process.database,
            client=row.get("client"),
            first_tick=first_tick,
            last_tick=last_tick,
            skipped=process.skipped,
            elapsed_s=process.elapsed_s,
            cpu_s=process.cpu_ns / 1e9,
            run_queue_s=process.run_queue_ns / 1e9,
            ended=process.ended,
            polls_idle=int(state == "idle"),
            polls_in_transaction=int(state.startswith("idle in transaction")),
        )


def _numbers(names: EventNames, is_wanted: Callable[[str], bool]) -> list[int]:
    return [number for number, pair in names.items() if is_wanted(":".join(pair))]


def _episodes(window: _core.Window, durations: bytes, unfinished: bytes) -> Episodes:
    import numpy as np

    return Episodes(
        np.frombuffer(durations, np.float64),
        np.frombuffer(unfinished, np.float64),
        window.burst_gap_s,
        window.burst_s,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
