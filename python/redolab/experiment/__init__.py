"""The experiments, by name. Each has a folder of its own, with its plan and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from redolab.errors import UsageError
from redolab.experiment.base import Experiment

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
"""Whose `plan.EXPERIMENT` can be run by its name, in the order of `redolab experiments`."""


def _named(folder: str) -> tuple[str, Experiment]:
    experiment: Experiment = import_module(f"{__name__}.{folder}.plan").EXPERIMENT
    return experiment.name, experiment


EXPERIMENTS: Mapping[str, Experiment] = dict(map(_named, _FOLDERS))


def find_experiment(name: str) -> Experiment:
    """The experiment of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in EXPERIMENTS:
        if "://" in name:
            raise UsageError("That is the URL of a server, and no experiment: give it with --engine.")
        raise UsageError(f"There is no experiment {name!r}. There are: {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
