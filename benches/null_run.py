"""One setting, 400 times: what a server does when nothing differs.

    python benches/null_run.py mariadb RUN

measures wait/immediate alone on a private server, 200 blocks of two samples, into the run directory RUN.
`tests/validation/test_null_pairs.py` cuts pairs from the stored samples of such runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

from redolab import open_run
from redolab.analysis.reading import read_samples
from redolab.engine import find_offer, open_engine
from redolab.experiment import EXPERIMENTS
from redolab.experiment.base import Plan, Wish
from redolab.measure import runner
from redolab.records.design import Design
from redolab.records.writing.writer import RunWriter

SETTING = "wait/immediate"
BLOCKS, SECONDS, SEED = 200, 0.3, 25
_LEFT_OUT = ("hashes", "status", "order", "mapping", "parameter_changes", "format", "command")


class _Silent:
    """No progress."""

    def begin(self, samples: int, seconds: float) -> None: ...

    def advance(self, setting: str) -> None: ...


def measure(target: str, out: Path) -> None:
    """Measure the setting on a private server, and keep its samples alone."""
    experiment = EXPERIMENTS["commit-mode"]
    ways = find_offer(target).ways
    plan = experiment.plan(Wish(seed=SEED, scope=ways.scopes[0], ways=ways))
    design = Design((SETTING,), SETTING, BLOCKS, SECONDS, 0.05, SEED)
    plan = Plan(design, {SETTING: plan.combinations[SETTING]}, plan.load)
    engine = open_engine(target, plan.load, plan.load.disk_bytes(None), (), SEED)
    whole = out.with_name(f"{out.name}-whole")
    outcome = runner.run(experiment, plan, engine, whole, _Silent(), "python benches/null_run.py")
    if outcome.error is not None:
        raise outcome.error
    run = open_run(whole)
    writer = RunWriter(out, {k: v for k, v in run.manifest.items() if k not in _LEFT_OUT})
    for sample in read_samples(run):
        writer.append(sample)
    writer.finish("finished")


if __name__ == "__main__":
    measure(sys.argv[1], Path(sys.argv[2]))
