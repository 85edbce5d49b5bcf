"""Does a row's 95 % interval hold its true share in 95 of 100 repeats?

Scripted sessions are looked at again and again, at ticks with exponential gaps; the rows of each
session, of a kind of session and of the instance are compared with what the processes really did.
`python -m tests.validation.test_division` prints the table in docs/explanation/method.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from redolab.analysis.live.division import Blocked, Division, divide_each, divide_group
from tests.validation.trajectories import (
    BY_ANOTHER,
    CLIENT,
    CPU,
    LOCK,
    MAIN_LOOP,
    NOTHING,
    SYNC,
    Cells,
    alternating,
    group_commit,
    looked_at,
    short_lived,
    spent_s,
)

LIVES, DRAWS = 10, 200
SCORED_SESSIONS = 8
ENOUGH = 10
"""Expected looks at a row from which on coverage is held from both sides."""
SEED = 101
"""The method's constants were chosen with seeds 1 and 3: it is judged by another."""
Floats = npt.NDArray[np.float64]
Lives = Callable[..., Cells]


@dataclass
class Score:
    """How often a row's interval held the truth where the row was shown."""

    shown: int = 0
    held: int = 0
    looks: float = 0.0
    """Looks that found the row, in all repeats; 0 for the CPU, which is no sampled row."""
    repeats: int = 0
    share: float = 0.0

    @property
    def coverage(self) -> float:
        return self.held / self.shown

    @property
    def enough(self) -> bool:
        return self.looks >= ENOUGH * self.repeats


_MIX = {CPU: 0.003, SYNC: 0.0025, LOCK: 0.0007, NOTHING: 0.0001}
_CLIENTS = {CPU: 0.002, SYNC: 0.002, LOCK: 0.001, CLIENT: 0.01}
SCENARIOS: Mapping[str, tuple[Lives, tuple[float, ...]]] = {
    "1 session, waits of exponential length": (
        partial(alternating, sessions=1, means_s=_MIX), (1.0, 5.0, 30.0),
    ),
    "1 session, 95 % in one wait": (
        partial(alternating, sessions=1, means_s={CPU: 0.0003, LOCK: 0.0095, SYNC: 0.0002}), (5.0,),
    ),
    "8 sessions, waits of constant length": (
        partial(alternating, sessions=8, means_s=_MIX, constant=True), (1.0,),
    ),
    "8 sessions that wait for clients": (partial(alternating, sessions=8, means_s=_CLIENTS), (1.0, 5.0)),
    "8 sessions, group commit, constant": (
        partial(group_commit, sessions=8, flush_s=0.005, cpu_s=0.001, constant=True), (1.0, 5.0),
    ),
    "32 sessions, group commit, exponential": (
        partial(group_commit, sessions=32, flush_s=0.005, cpu_s=0.001, constant=False), (1.0, 5.0),
    ),
    "100 short sessions a second": (
        partial(short_lived, per_s=100, means_s={CPU: 0.003, SYNC: 0.004, LOCK: 0.002}), (1.0, 3.0),
    ),
}  # fmt: skip


def wal_writer(rng: np.random.Generator, seconds: float) -> Cells:
    """A background process that mostly idles in its main loop."""
    return alternating(rng, 1, seconds, {MAIN_LOOP: 0.2, CPU: 0.001, SYNC: 0.004})


def scores(lives: Lives, seconds: float, seed: int = SEED) -> dict[tuple[str, int], Score]:
    """Score every row of the sessions, of one kind of session out of two, and of the instance."""
    rng = np.random.default_rng(seed)
    found: defaultdict[tuple[str, int], Score] = defaultdict(Score)
    for _ in range(LIVES):
        sessions = lives(rng, seconds=seconds)
        everybody = np.vstack([sessions, wal_writer(rng, seconds)])
        count = len(sessions)
        kind = np.append(np.arange(count) % 2, 2)
        groups = {"kind": np.flatnonzero(kind == 0), "instance": np.arange(count + 1)}
        if count == 1:
            del groups["kind"]
        truth = spent_s(everybody)
        looked = looked_at(everybody, kind, kind == 2)
        few = min(count, SCORED_SESSIONS)
        for draw in range(DRAWS):
            seen = looked(rng)
            if draw % few == 0:
                score(found, "session", divide_each(first(seen, few)), truth[:few], seen.counts[:few])
            for name, members in groups.items():
                whole = truth[members].sum(0, keepdims=True)
                counts = seen.counts[members].sum(0, keepdims=True)
                score(found, name, divide_group(seen, members), whole, counts)
    return found


def first(seen: Blocked, count: int) -> Blocked:
    """The same of the first processes alone, as far as dividing each by itself needs it."""
    return replace(
        seen,
        elapsed_s=seen.elapsed_s[:count],
        blocked_s=seen.blocked_s[:count],
        counts=seen.counts[:count],
        exact_s=seen.exact_s[:count],
    )


def score(
    found: dict[tuple[str, int], Score], name: str, division: Division, truth: Floats, counts: Floats
) -> None:
    """Add one repeat's rows: the sampled ones, and the CPU's share of a busy time that is sampled."""
    elapsed = truth.sum(1)
    busy = elapsed - truth[:, :2].sum(1)
    time, low, high = (np.atleast_2d(item) for item in (division.time_s, division.low, division.high))
    for column in range(CPU):
        if column == MAIN_LOOP or not truth[:, column].any():
            continue
        share = truth[:, column] / (elapsed if column == CLIENT else busy)
        # What is unaccounted is always shown.
        shown = (time[:, column] > 0) | (column == NOTHING)
        add(
            found[name, column], share, shown, (low[:, column] <= share) & (share <= high[:, column]),
            counts[:, column],
        )  # fmt: skip
    if truth[:, :2].any():
        share, cpu = truth[:, CPU] / busy, truth[:, CPU] / elapsed
        held = (cpu <= share * (1 - division.idle_low)) & (share * (1 - division.idle_high) <= cpu)
        add(found[name, CPU], share, share > 0, held, np.zeros(len(share)))


def add(
    entry: Score, share: Floats, shown: npt.NDArray[np.bool_], held: npt.NDArray[np.bool_],
    looks: Floats,
) -> None:  # fmt: skip
    entry.shown += int(shown.sum())
    entry.held += int((shown & held).sum())
    entry.looks += float(looks.sum())
    entry.repeats += len(share)
    entry.share += float(share.sum())


def cases() -> Iterator[tuple[str, float]]:
    for name, (_, windows) in SCENARIOS.items():
        for seconds in windows:
            yield name, seconds


@pytest.mark.parametrize(("name", "seconds"), list(cases()))
def test_an_interval_holds_the_true_share_in_95_of_100_repeats(name: str, seconds: float) -> None:
    found = scores(SCENARIOS[name][0], seconds)
    assert {scope for scope, _ in found} >= {"session", "instance"}
    wrong = {
        (scope, column, round(entry.share / entry.repeats, 4)): entry.coverage
        for (scope, column), entry in found.items()
        if not 0.93 <= entry.coverage <= (0.97 if entry.enough else 1.0)
    }
    assert wrong == {}


if __name__ == "__main__":
    _NAMES = {
        CLIENT: "client", SYNC: "sync", BY_ANOTHER: "by another", LOCK: "lock",
        NOTHING: "unaccounted", CPU: "CPU",
    }  # fmt: skip
    for _name, _seconds in cases():
        for (_scope, _column), _entry in sorted(scores(SCENARIOS[_name][0], _seconds).items()):
            print(
                f"{_name} | {_seconds:g} s | {_scope} | {_NAMES[_column]} | "
                f"{100 * _entry.share / _entry.repeats:.2f} % | {_entry.looks / _entry.repeats:.1f} | "
                f"{100 * _entry.coverage:.1f} % {'*' if _entry.enough else ''}"
            )
