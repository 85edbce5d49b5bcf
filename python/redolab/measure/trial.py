"""Measuring one trial, by its record: a sample between two snapshots, a kill, or values drawn."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from redolab.engine.base import Engine
from redolab.errors import ConnectionLostError
from redolab.measure.difference import difference
from redolab.records.design import Design, Trial
from redolab.records.draw import Draw
from redolab.records.load import Amount
from redolab.records.sample import Kill, LatencyRow, OverheadRow, ProcessTime, Sample, Setting, WaitRow

Measured = tuple[Sample | Kill | Draw, list[WaitRow], list[ProcessTime], list[OverheadRow], list[LatencyRow]]


@dataclass(frozen=True)
class TrialContext:
    """Inputs for measuring a trial, in addition to the engine."""

    trial: Trial
    setting: Setting
    design: Design
    clock: Callable[[], float]
    """Seconds since the run began."""
    stop: threading.Event
    seam: int = 0
    """How often the run has gone on with a new private server."""

    def now(self) -> tuple[str, float]:
        """UTC in ISO 8601, and seconds since the run began."""
        return datetime.now(UTC).isoformat(timespec="milliseconds"), self.clock()


def measure_sample(engine: Engine, moment: TrialContext) -> Measured:
    """Put the setting in force, warm up, and measure one sample under the wait sampler.

    Raises:
        ConnectionLostError: the sessions could do nothing in the warm-up.
    """
    design, stop = moment.design, moment.stop
    engine.apply(moment.setting)
    engine.settle()
    # Nothing was done under the setting yet.
    machine = engine.probe()
    warm = engine.work(Amount(design.warmup_s), stop) if design.warmup_s > 0 else None
    if warm and warm.trouble and not warm.units:
        # A server that refused all of it would refuse the sample too; a lost connection is made anew.
        raise ConnectionLostError(warm.trouble)
    started_at, start_s = moment.now()
    before = engine.snapshot()
    fixed_work = design.units or design.units_each
    with engine.watch(0.0 if fixed_work else design.length(moment.trial.block)) as watch:
        work = engine.work(design.amount(moment.trial), stop)
    after = engine.snapshot()
    if warm and warm.trouble:
        # The sessions that died then do not report the reason again.
        work = replace(work, trouble=warm.trouble)
    sample, waits, profile, overhead, latency = difference(
        moment.trial, started_at, start_s, before, after, work, watch.ticks
    )
    beside = replace(sample, seam=moment.seam, cpu_loop_s=machine.cpu_loop_s, flush_s=machine.flush_s)
    return beside, waits, profile, overhead, latency


def measure_kill(engine: Engine, moment: TrialContext) -> Measured:
    """Put the setting in force, and kill the server under load.

    Raises:
        UsageError: it is not Redolab's own server.
    """
    trial = moment.trial
    engine.apply(moment.setting)
    started_at, start_s = moment.now()
    found = engine.kill_and_recover(moment.design.seconds, moment.stop)
    kill = Kill(
        sample=trial.sample,
        block=trial.block,
        position=trial.position,
        setting=trial.setting,
        started_at=started_at,
        start_s=start_s,
        elapsed_s=found.load_s,
        spoiled=None if found.acknowledged else "nothing was acknowledged before the kill",
        sessions=found.sessions,
        acknowledged=found.acknowledged,
        missing=found.missing,
        unacknowledged=found.unacknowledged,
        loss_window_s=found.loss_window_s,
        recovery_s=found.recovery_s,
    )
    return kill, [], [], [], []


def measure_draw(engine: Engine, moment: TrialContext) -> Measured:
    """Put the setting in force, and draw its values.

    Raises:
        UsageError: the engine draws no values.
    """
    trial = moment.trial
    engine.apply(moment.setting)
    started_at, start_s = moment.now()
    groups, values = engine.draw(trial.sample)
    draw = Draw(
        sample=trial.sample,
        block=trial.block,
        position=trial.position,
        setting=trial.setting,
        started_at=started_at,
        start_s=start_s,
        elapsed_s=moment.clock() - start_s,
        spoiled=None,
        groups=groups,
        values=values,
    )
    return draw, [], [], [], []


MEASURES: Mapping[str, Callable[[Engine, TrialContext], Measured]] = {
    "sample": measure_sample,
    "kill": measure_kill,
    "draw": measure_draw,
}
"""Functions by the record that a trial yields."""
