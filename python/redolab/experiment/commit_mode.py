"""commit-mode: what do wait/nowait and immediate/batch do to commits, and why?"""

from __future__ import annotations

from itertools import product

from redolab.difference import difference
from redolab.engine.base import Engine, Load
from redolab.engine.commit_parameters import FACTORS
from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Measured, Moment, Size
from redolab.sample import Scope

# `cpu`: 1,000 rows fit in a few dozen pages. `io`: a row of 1,000 bytes in half-filled pages makes
# 10,000 rows span 2,500 pages per session, each of which goes whole into the log after a checkpoint.
_LOADS = {"cpu": (1_000, 10), "io": (10_000, 1_000)}


def commit_load(name: str | None, sessions: int, scope: Scope) -> Load:
    """One single-row update per commit, over a key range per session."""
    name = name or "cpu"
    if name not in _LOADS:
        raise UsageError(f"There is no load {name!r}. Use --load {' or --load '.join(_LOADS)}.")
    rows, padding_bytes = _LOADS[name]
    return Load(name, sessions, scope, rows, padding_bytes)


def _measure(engine: Engine, moment: Moment) -> Measured:
    design, stop = moment.design, moment.stop
    engine.apply(moment.setting)
    engine.settle()
    if design.warmup_s > 0:
        engine.work(design.warmup_s, stop)
    started_at, start_s = moment.now()
    before = engine.snapshot()
    with engine.watch(design.seconds) as watch:
        work = engine.work(design.seconds, stop)
    after = engine.snapshot()
    return difference(moment.trial, started_at, start_s, before, after, work, watch.ticks)


_BOTH = [dict(zip(FACTORS, levels, strict=True)) for levels in product(*FACTORS.values())]
_WAIT_ALONE = [{"commit_wait": level} for level in FACTORS["commit_wait"]]

EXPERIMENT = Experiment(
    name="commit-mode",
    question="What do wait/nowait and immediate/batch do to commits here, and why?",
    record="sample",
    combinations={"/".join(levels.values()): levels for levels in (*_BOTH, *_WAIT_ALONE)},
    default_settings=tuple("/".join(levels.values()) for levels in _BOTH),
    baseline="wait/immediate",
    quick=Size(blocks=10, seconds=1.5, warmup_s=0.3),
    full=Size(blocks=32, seconds=90, warmup_s=10),
    null_pair=True,
    load=commit_load,
    measure=_measure,
)
