"""The experiments, by name. Each has a folder of its own, with its plan and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module

from redolab.errors import UsageError
from redolab.experiment.base import Experiment
from redolab.likely import did_you_mean

_FOLDERS = (
    "commit_mode",
    "durability",
    "rows_per_commit",
    "session_count",
    "commit_scaling",
    "response_curve",
    "cpu_capacity",
    "consistent_read",
    "sampling_distribution",
    "calibrate",
)
"""Folders whose `plan.EXPERIMENT` can be run by its name, in the order of `redolab experiments`."""


def _named(folder: str) -> tuple[str, Experiment]:
    experiment: Experiment = import_module(f"{__name__}.{folder}.plan").EXPERIMENT
    return experiment.name, experiment


EXPERIMENTS: Mapping[str, Experiment] = dict(map(_named, _FOLDERS))


def find_experiment(name: str, also: Iterable[str] = ()) -> Experiment:
    """The experiment of that name.

    Args:
        name: the experiment's name.
        also: other words that may have been meant.

    Raises:
        UsageError: no experiment has that name.
    """
    if name not in EXPERIMENTS:
        raise UsageError(
            f"Redolab has no experiment {name!r}.{did_you_mean(name, [*EXPERIMENTS, *also])} It "
            f"has: {', '.join(EXPERIMENTS)}."
        )
    return EXPERIMENTS[name]
