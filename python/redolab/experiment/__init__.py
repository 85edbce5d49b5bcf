"""The experiments, by name. Each is one small file that states its question, factors and load."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.errors import UsageError
from redolab.experiment.base import Experiment
from redolab.experiment.calibrate import plan as calibrate
from redolab.experiment.commit_mode import plan as commit_mode
from redolab.experiment.commit_scaling import plan as commit_scaling
from redolab.experiment.consistent_read import plan as consistent_read
from redolab.experiment.cpu_capacity import plan as cpu_capacity
from redolab.experiment.durability import plan as durability
from redolab.experiment.rows_per_commit import plan as rows_per_commit
from redolab.experiment.sampling_distribution import plan as sampling_distribution
from redolab.experiment.session_count import plan as session_count

EXPERIMENTS: Mapping[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        commit_mode,
        durability,
        rows_per_commit,
        session_count,
        commit_scaling,
        cpu_capacity,
        consistent_read,
        sampling_distribution,
        calibrate,
    )
}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in EXPERIMENTS:
        raise UsageError(f"There is no experiment {name!r}. There are: {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
