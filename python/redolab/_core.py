"""Replacement of the compiled part (crate redolab-py) in an installation that does not have it.

Python prefers a compiled module of the same name. So this one is imported only from the wheel for any
machine. It has the names that other modules need to be imported. Measurements, simulations and forecasts are
refused, in one place. A test compares it with the compiled part.
"""

from __future__ import annotations

from typing import Any

from redolab.parts import MissingPartError, why_not_compiled

BATCHES = 20
CPU_FACTORS = (0.25, 2.0)
ELBOW = 0.95
EXTRAPOLATED = 2.0
INTERVAL_LEVEL = 0.95
LEAST_S = 1e-7
LEVEL = 0.9
LOG_DEVICE_LIBRARY = b""
POST_SHARE = 0.3
PRIOR = 0.15
PRIOR_WEIGHT = 2
SEED = 1
WAKE_SHARE = 0.7
WAL_WRITER_DELAY_S = 0.2
FORECAST = [
    "throughput_per_s",
    "response_time_ms",
    "response_time_ms_p95",
    "cpu_utilization",
    "device_utilization",
    "commit_time_ms",
    "commit_time_ms_p50",
    "commit_time_ms_p95",
    "commit_time_ms_p99",
    "commits_per_flush",
    "rows_per_s",
]


class SimulationTooLongError(ValueError):
    """Never raised here: nothing is simulated."""


class NoSteadyStateError(ValueError):
    """Never raised here: no queue is solved."""


class NoAnswerError(ValueError):
    """Never raised here: no setting is looked for."""


class GroupCommitParameters:
    """Parameters of the simulator, which cannot be made here."""

    def __init__(self, **_: Any) -> None:
        raise _missing()


def check_scenario(_: Any) -> None:
    """Nothing: without simulation there is nothing to check, and a page checks its own input."""


def _missing() -> MissingPartError:
    return MissingPartError(why_not_compiled() or "Redolab's compiled part is not installed.")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise _missing()
