"""What a run says of costs, however they were come by, or why it says nothing of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from redolab.errors import UsageError
from redolab.forecast.costs.costs import Costs, Scenario
from redolab.model.allowance import Allowance
from redolab.records.run import Run
from redolab.stats.estimates import Estimate

REPLICATES = 40


@dataclass(frozen=True)
class Effort:
    """How much goes into costs that are solved by simulation."""

    replicates: int = REPLICATES
    allowance: Allowance | None = None
    """What the simulations may take; None for all that they need."""


WHOLE = Effort()


class NoCostsError(UsageError):
    """A run does not tell what a commit, a row and a flush cost."""

    def __init__(self, run: Run, why: str) -> None:
        """Say `why` of a run: a predicate, without the run's name."""
        super().__init__(f"{run.path} {why}")
        self.why = why
        """What the run is or lacks, as a predicate: where a run lies is no figure."""


@dataclass(frozen=True)
class Measured:
    """A setting as it was measured."""

    scenario: Scenario
    loop: str
    quantities: Mapping[str, Estimate]
    """What was measured, by the names in `redolab.forecast.models.quantities.QUANTITIES`."""


@dataclass(frozen=True)
class RunCosts:
    """What a run says of costs, and of how sure they are."""

    point: Costs
    replicates: tuple[Costs, ...]
    """The same from the run's blocks drawn anew, with replacement."""
    measured: Mapping[str, Measured]
    """By setting."""
    today: str
    """The setting that a forecast starts from and is compared with."""
    cautions: tuple[str, ...] = ()
    """What was taken for granted, in sentences."""
    other_s: float = 0.0
    """Of a transaction's time today, waits in the server that are neither CPU nor log: the model's times are
    without them."""
    rows_counted: bool = True
    """Whether it was counted how many rows a commit of today's setting has."""

    def other_ms(self, scenario: Scenario) -> float:
        """Those waits of a transaction of another scenario, ms: each row has its part."""
        rows = self.measured[self.today].scenario.rows_per_commit
        return 1e3 * self.other_s * scenario.rows_per_commit / rows

    def measured_at(self, scenario: Scenario) -> Measured | None:
        """The setting that was measured of a scenario; None without one.

        Settings that differ in factors of their own are one scenario to the model: there is none where it is
        not clear which of them is meant.
        """
        alike = [
            item
            for item in self.measured.values()
            if item.scenario == scenario and item.loop == self.point.loop
        ]
        return alike[0] if len(alike) == 1 else None
