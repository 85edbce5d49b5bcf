"""Scripted life of sessions: what each does in every cell of time, and looks at it at Poisson times."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from redolab.analysis.live.division import Blocked

CELL_S = 1e-4
RATE_PER_S = 50.0
CLIENT, MAIN_LOOP, SYNC, BY_ANOTHER, LOCK, NOTHING, CPU, ABSENT = range(8)
Cells = npt.NDArray[np.uint8]
"""Processes x cells."""
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def alternating(
    rng: np.random.Generator,
    sessions: int,
    seconds: float,
    means_s: Mapping[int, float],
    constant: bool = False,
) -> Cells:
    """Sessions that go round through states, independently; constant or exponential lengths."""
    cells = round(seconds / CELL_S)
    states, means = np.array(list(means_s), np.uint8), np.array(list(means_s.values()))
    rounds = int(1.3 * seconds / means.sum()) + 50
    lives = np.empty((sessions, cells), np.uint8)
    for life in lives:
        lengths = np.tile(means, (rounds, 1)) if constant else rng.exponential(means, (rounds, len(means)))
        ends = lengths.cumsum() / CELL_S - rng.random() * means.sum() / CELL_S
        life[:] = np.tile(states, rounds)[np.searchsorted(ends, np.arange(cells) + 0.5)]
    return lives


def group_commit(
    rng: np.random.Generator, sessions: int, seconds: float, flush_s: float, cpu_s: float, constant: bool
) -> Cells:
    """Sessions on CPU at the beginning of each flush, then asleep until it ends: all wake together.
    One flushes, the others wait for it; now and then one waits for a lock instead."""
    cells = round(seconds / CELL_S)
    flushes = int(1.5 * seconds / flush_s) + 50
    lengths = np.full(flushes, flush_s) if constant else rng.exponential(flush_s, flushes)
    ends = lengths.cumsum() / CELL_S - rng.random() * flush_s / CELL_S
    time = np.arange(cells) + 0.5
    flush = np.searchsorted(ends, time)
    since = time - (ends - lengths / CELL_S)[flush]
    waits = np.where(rng.random((sessions, flushes)) < 0.03, LOCK, BY_ANOTHER)
    waits[rng.integers(0, sessions, flushes), np.arange(flushes)] = SYNC
    awake = rng.exponential(cpu_s / CELL_S, (sessions, flushes))
    return np.where(since < awake[:, flush], CPU, waits[:, flush]).astype(np.uint8)


def short_lived(
    rng: np.random.Generator, per_s: float, seconds: float, means_s: Mapping[int, float]
) -> Cells:
    """Processes that come, do each thing once, and go."""
    lives = np.full((rng.poisson(per_s * seconds), round(seconds / CELL_S)), ABSENT, np.uint8)
    for life in lives:
        lengths = rng.exponential(list(means_s.values()))
        ends = ((rng.random() * seconds + np.concatenate([[0], lengths.cumsum()])) / CELL_S).astype(int)
        for state, begin, end in zip(means_s, ends, ends[1:], strict=False):
            life[begin:end] = state
    return lives


def spent_s(lives: Cells) -> npt.NDArray[np.float64]:
    """The truth: seconds of each process in each column, CPU last."""
    return np.stack([(lives == column).sum(1) for column in range(ABSENT)], 1) * CELL_S


def looked_at(lives: Cells, kind: Integers, background: Flags) -> Callable[[np.random.Generator], Blocked]:
    """An observer of `lives`: each call looks at them anew, at ticks with exponential gaps.

    What it knows is the exact accounts and what its looks found.
    """
    cells = lives.shape[1]
    by_cell = np.ascontiguousarray(lives.T)
    spent = spent_s(lives)
    here = lives != ABSENT
    born, gone = here.argmax(1), cells - here[:, ::-1].argmax(1)

    def look(rng: np.random.Generator) -> Blocked:
        at = np.sort(rng.integers(0, cells, rng.poisson(RATE_PER_S * cells * CELL_S)))
        seen = by_cell[at]
        tick, process = np.nonzero((seen > MAIN_LOOP) & (seen != ABSENT))
        state = seen[tick, process].astype(np.int64)
        return Blocked(
            elapsed_s=spent.sum(1),
            blocked_s=spent[:, :CPU].sum(1),
            counts=np.stack([(seen == column).sum(0) for column in range(CPU)], 1).astype(np.float64),
            first_tick=np.searchsorted(at, born),
            last_tick=np.searchsorted(at, gone),
            unnamed=np.ones(len(lives)),
            in_main_loop=background,
            pool=kind,
            tick=tick,
            process=process,
            column=np.where(state == CPU, -1, state),
            ticks=len(at),
            exact_s=np.zeros((len(lives), CPU)),
        )

    return look
