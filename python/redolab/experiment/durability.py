"""durability: how many acknowledged commits does a hard kill of the server lose?"""

from __future__ import annotations

from redolab.engine.base import Engine, Load
from redolab.errors import UsageError
from redolab.experiment import commit_mode
from redolab.experiment.base import Experiment, Measured, Moment, Size
from redolab.sample import Kill, Scope


def ledger_load(name: str | None, sessions: int, scope: Scope) -> Load:
    """One insert per commit into a ledger, so that a missing one shows."""
    if name is not None:
        raise UsageError(
            "durability has a load of its own, one insert per commit into a ledger, so that a missing "
            "one shows: leave --load out."
        )
    return Load("ledger", sessions, scope, rows_per_session=1, padding_bytes=0)


def _measure(engine: Engine, moment: Moment) -> Measured:
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
    return kill, [], [], []


EXPERIMENT = Experiment(
    name="durability",
    question="How many acknowledged commits does a hard kill of the server lose?",
    record="kill",
    combinations=commit_mode.EXPERIMENT.combinations,
    default_settings=commit_mode.EXPERIMENT.default_settings,
    baseline="wait/immediate",
    quick=Size(blocks=10, seconds=1.6, warmup_s=0),
    full=Size(blocks=40, seconds=3, warmup_s=0),
    null_pair=False,
    load=ledger_load,
    measure=_measure,
)
