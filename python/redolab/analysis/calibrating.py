"""From a stored run to what forecasts need: costs that were measured directly, each with its scatter.

CPU time per commit is a sum of what a transaction, its rows, its flushes and its waits cost:

    cpu per commit = commit + row * rows + flush * flushes per commit + wake * waits per commit

where a commit that waits for the log and does not flush waits for somebody else's flush. Every term on the
right was counted, so the four costs follow from settings in which the counts differ, by least squares on the
relative differences with no cost negative. What a flush takes on the device is what a lone session sleeps.

Sources: kernel accounts (schedstat), the server's counters of log flushes; Lawson and Hanson, Solving Least
Squares Problems (1974), chapter 23, by way of SciPy (`scipy.optimize.nnls`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redolab.analysis.estimates import Estimate
from redolab.model.calibration import Calibration, Scenario
from redolab.sample import Sample
from redolab.store import Run

REPLICATES = 40
QUANTILES = 200
_CONDITION = 200.0
_AGAIN = "`redolab run calibrate` measures it in under a minute"


@dataclass(frozen=True)
class Measured:
    """A setting as it was measured."""

    scenario: Scenario
    loop: str
    quantities: Mapping[str, Estimate]
    """Of `redolab.model.forecast.QUANTITIES`, those that were measured."""


@dataclass(frozen=True)
class Calibrated:
    """What a run says of costs, and of how sure they are."""

    point: Calibration
    replicates: tuple[Calibration, ...]
    """The same from the run's blocks drawn anew, with replacement."""
    measured: Mapping[str, Measured]
    """By setting."""
    today: str
    """The setting that a forecast starts from and is compared with."""


@dataclass(frozen=True)
class _Observed:
    """A setting's samples with what its levels say."""

    scenario: Scenario
    samples: Sequence[Sample]


def calibrate(run: Run) -> Calibrated:
    """Read costs from a run.

    Raises:
        UsageError: the run does not tell them; the text says which, and what to run.
    """
    raise NotImplementedError
