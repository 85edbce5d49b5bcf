"""The sentences that a watch and reports share: what to change first, and how long single waits were."""

from __future__ import annotations

from redolab import units
from redolab.analysis.observed.exhibits import Cumulative

MUCH, SOME = 0.5, 0.1
"""Log sync's shares of time from which it is the first thing to change, and one thing among others."""
_NEARLY_ALL = 0.9


def advice(share: float, first: str) -> str:
    """What to change, by log sync's share of time; `first` where it is the first thing."""
    if share >= MUCH:
        return first
    return "Commits are one thing to change" if share >= SOME else "Look elsewhere first"


def each_wait(sync: Cumulative, write: Cumulative) -> list[str]:
    """What the histograms say that means cannot: how many waits are longer than nearly every write."""
    bound = next((at for at, part in write.items() if part >= _NEARLY_ALL and at in sync), None)
    if bound is None:
        return []
    return [
        f"Less than {units.significant(1e3 * bound)} ms took {units.percent(write[bound])} of the log "
        f"writes, and {units.percent(sync[bound])} of the syncs."
    ]
