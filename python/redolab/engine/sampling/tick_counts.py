"""A sample's ticks, counted from what was observed during it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Literal

from redolab.records.observation import STATES, Observation, State
from redolab.records.sample import TickCount, Ticks

Scope = Literal["session", "background"]


def ticks_of(observation: Observation, sessions: Collection[int]) -> Ticks:
    """Count an observation's looks, the idle ones too, by what they found.

    Args:
        observation: of the sample's time.
        sessions: the working sessions' connections, as the server calls them; all others are
            background, other clients' sessions too.
    """
    instrument = observation.instrument
    return Ticks(
        counts=tuple(_counts(observation, frozenset(sessions))),
        rounds=observation.ticks,
        late=instrument.late,
        lost=instrument.lost,
        cpu_s=instrument.cpu_s,
        torn=instrument.torn,
        looks=instrument.looks,
        realtime=instrument.realtime,
    )


def _counts(observation: Observation, sessions: frozenset[int]) -> Iterator[TickCount]:
    looks = observation.looks
    counts = Counter(zip(looks.process.tolist(), looks.event.tolist(), looks.state.tolist(), strict=True))
    for idle in observation.idle:
        counts[idle.process, idle.event, idle.state] += idle.looks
    totals: Counter[tuple[Scope, str, str, str, State]] = Counter()
    for (place, event, state), ticks in counts.items():
        process = observation.processes[place]
        scope: Scope = "session" if process.connection in sessions else "background"
        totals[scope, process.kind, *observation.events[event], STATES[state]] += ticks
    return (TickCount(*combination, ticks) for combination, ticks in sorted(totals.items()))
