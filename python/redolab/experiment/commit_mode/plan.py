"""commit-mode: what do wait/nowait and immediate/batch do to commits, and why?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from redolab.errors import RefusedError, UsageError
from redolab.experiment.base import Levels, Pilot, Plan, Size, Wish, one_number
from redolab.experiment.commit_modes import DEFAULT_SESSIONS, CommitModes
from redolab.records.capability import Capability
from redolab.records.load import Amount, Updates

# `hot` and `cpu`: 1,000 rows fit in a few dozen pages. `io`: a row of 1,000 bytes in half-filled pages makes
# 10,000 rows span 2,500 pages per session, each of which goes whole into the log after a checkpoint.
_LOADS = {"hot": (1_000, 10), "cpu": (1_000, 10), "io": (10_000, 1_000)}
_BOUND = "cpu"
"""The load whose units of work carry CPU."""
_TIMES = 12
"""Response time of a commit over the longest log sync, which is then a twelfth of it."""
_DESCHEDULED_S = 0.004
"""How long a session that flushes for others waits for a CPU: slices of the sessions before it."""
_PILOT_S, _PILOT_COMMITS = 0.3, 10
"""Length of a pilot, and commits of each session that it holds at the least."""
_FIRST_TURNS, _MOST_TURNS = 1_000, 10**9
_ROUNDS = 5


class CommitMode(CommitModes):
    """Sessions that update their own rows and commit each update."""

    name = "commit-mode"
    question = "What do wait/nowait and immediate/batch do to commits here, and why?"
    unit = "commit"
    needs: frozenset[Capability] = frozenset({"updates", "commit_modes"})
    options = frozenset({"sessions", "load", "scope"})
    quick = Size(blocks=10, seconds=1.5, warmup_s=0.3)
    full = Size(blocks=32, seconds=90, warmup_s=10)
    sequential = True
    side_by_side = True

    def load(self, wish: Wish, _settings: Mapping[str, Levels], /) -> Updates:
        """Updates of few cached rows, with CPU work or without, or of rows that fill the log."""
        name = wish.load or "hot"
        if name not in _LOADS:
            raise UsageError(f"commit-mode has no load {name!r}. Use --load {' or --load '.join(_LOADS)}.")
        rows, padding_bytes = _LOADS[name]
        sessions = one_number(wish, DEFAULT_SESSIONS)
        return Updates(name, sessions, wish.scope, rows, padding_bytes, loop=wish.loop)

    def fit(self, plan: Plan, pilot: Pilot, /) -> Plan:
        """For the load `cpu`: as much CPU in a unit of work as makes log sync a small part of its time."""
        if plan.load.name != _BOUND:
            return plan
        turns = _turns(plan.design.baseline, plan.load.sessions, pilot)
        levels = {"cpu_turns": str(turns)}
        combinations = {name: {**had, **levels} for name, had in plan.combinations.items()}
        return replace(plan, combinations=combinations)


def _turns(setting: str, sessions: int, pilot: Pilot) -> int:
    """Turns of the loop under which a commit of the setting takes `_TIMES` as long as its log sync can.

    The longest log sync is the whole time of a commit without turns, and the time a flush waits for a CPU.

    Raises:
        RefusedError: the pilot committed nothing, or no number of turns makes commits that slow.
    """

    def commit_s(turns: int, expected_s: float) -> float:
        seconds = max(_PILOT_S, _PILOT_COMMITS * expected_s)
        work = pilot(setting, Amount(seconds), {"cpu_turns": str(turns)})
        if not work.commits:
            raise RefusedError(
                f"The first short test of {setting} (the pilot) committed nothing in {seconds:g} s. Run "
                "again."
            )
        return work.session_elapsed_max_s * sessions / work.commits

    bare_s = commit_s(0, 0.0)
    wanted_s = _TIMES * (bare_s + _DESCHEDULED_S)
    turns, reached_s = _FIRST_TURNS, bare_s
    for _ in range(_ROUNDS):
        reached_s = commit_s(turns, reached_s)
        if 0.9 * wanted_s <= reached_s <= 1.25 * wanted_s:
            return turns
        # The time of the turns alone: the rest is there without them.
        taken_s = max(reached_s - bare_s, 0.02 * reached_s)
        turns = min(math.ceil(turns * (wanted_s - bare_s) / taken_s), _MOST_TURNS)
        reached_s = wanted_s
    reached_s = commit_s(turns, wanted_s)
    if reached_s < 0.9 * wanted_s:
        raise RefusedError(
            "The first short test (the pilot) found no CPU work that makes commits CPU-bound here: "
            f"{turns:,} turns of a loop make commits {reached_s / bare_s:.1f} times as slow, but "
            f"{wanted_s / bare_s:.1f} times are needed. Use --load hot."
        )
    return turns


EXPERIMENT = CommitMode()
