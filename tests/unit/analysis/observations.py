"""Observations made up for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from redolab.records.observation import STATES, Episodes, Instrument, Looks, Observation, Observed

Look = tuple[int, int, str, str]
"""Tick, place of the process, event as `Class:Event` or `""`, scheduler state."""

SERVER = {"name": "postgresql", "version": "18.1", "place": "localhost:5432/app", "local": True}
INSTRUMENT = Instrument(
    source="server memory", rate_per_s=50.0, late=0, lost=0, torn=0, looks=0, cpu_s=0.0,
    server_cpu_s=0.0, realtime=True,
)  # fmt: skip


def make_process(pid: int = 1, elapsed_s: float = 1.0, **fields: Any) -> Observed:
    """A session that was there at every tick and used nothing, unless told otherwise."""
    process = Observed(
        pid=pid, started=1, connection=pid, kind="client backend", scope="session", user="app",
        application="web", database="app", client="local", first_tick=0, last_tick=-1, skipped=0,
        elapsed_s=elapsed_s, cpu_s=0.0, run_queue_s=0.0, ended=False, polls_idle=0, polls_in_transaction=0,
    )  # fmt: skip
    return replace(process, **fields)


def make_background(pid: int, kind: str = "walwriter", **fields: Any) -> Observed:
    """A background process, otherwise as `make_process`."""
    nobody: dict[str, Any] = dict.fromkeys(("user", "application", "database", "client"))
    return make_process(pid, **({"kind": kind, "scope": "background"} | nobody | fields))


def make_observation(
    processes: Sequence[Observed] = (),
    looks: Iterable[Look] = (),
    ticks: int = 50,
    elapsed_s: float = 1.0,
    **fields: Any,
) -> Observation:
    """An observation of `processes`; one whose `last_tick` is -1 was there to the end."""
    ordered = sorted(looks, key=lambda look: look[0])
    names = dict.fromkeys(("", "") if not event else _split(event) for _, _, event, _ in ordered)
    events = tuple(dict.fromkeys([("", "idle"), ("", ""), *names]))
    columns: tuple[list[int], ...] = (
        [look[0] for look in ordered],
        [look[1] for look in ordered],
        [events.index(_split(look[2]) if look[2] else ("", "")) for look in ordered],
        [STATES.index(look[3]) for look in ordered],
    )
    observation = Observation(
        server=SERVER,
        at="2026-11-21T10:00:00+00:00",
        elapsed_s=elapsed_s,
        ticks=ticks,
        processes=tuple(
            replace(process, last_tick=ticks) if process.last_tick < 0 else process for process in processes
        ),
        events=events,
        looks=Looks(
            np.array(columns[0], np.uint32), np.array(columns[1], np.uint32),
            np.array(columns[2], np.uint32), np.array(columns[3], np.uint8),
        ),
        wait_ends=(), timed=(), log_sync=None, log_write=None, counters={},
        ended_cpu_s=0.0, host_cpus=2, host_busy_s=None, host_steal_s=None,
        instrument=INSTRUMENT, not_available=(), warnings=(),
    )  # fmt: skip
    return replace(observation, **fields)


def make_episodes(durations_ms: Sequence[float], unfinished_ms: Sequence[float] = ()) -> Episodes:
    """Waits followed in 10 s of bursts that read every 50 us."""
    return Episodes(np.array(durations_ms) / 1e3, np.array(unfinished_ms, np.float64) / 1e3, 5e-5, 10.0)


def _split(event: str) -> tuple[str, str]:
    wait_class, _, name = event.partition(":")
    return wait_class, name
