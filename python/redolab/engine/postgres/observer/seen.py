"""What watching a server's processes gave in one stretch of time, before the server's counters join it."""

from __future__ import annotations

from dataclasses import dataclass

from redolab.records.observation import Episodes, Instrument, Looks, Observed, WaitEnds

SESSION_KINDS = frozenset({"client backend", "parallel worker"})
"""The kinds of process that serve a client."""


@dataclass(frozen=True)
class Seen:
    """Parts of an `Observation`, each as documented there."""

    elapsed_s: float
    ticks: int
    processes: tuple[Observed, ...]
    events: tuple[tuple[str, str], ...]
    looks: Looks
    wait_ends: tuple[WaitEnds, ...]
    log_sync: Episodes | None
    log_write: Episodes | None
    ended_cpu_s: float | None
    instrument: Instrument


class EventCodes(dict[tuple[str, str], int]):
    """Codes of wait events in the order in which they were met, beginning with idle and none."""

    def __init__(self) -> None:
        super().__init__({("", "idle"): 0, ("", ""): 1})

    def __missing__(self, event: tuple[str, str]) -> int:
        self[event] = len(self)
        return self[event]
