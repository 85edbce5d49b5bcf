"""Costs of a run, measured or inferred, or why it does not have any."""

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
    """The limits of the simulations; None for all that they need."""


WHOLE = Effort()


class NoCostsError(UsageError):
    """A run does not have the costs of a commit, a row and a flush."""

    def __init__(self, run: Run, why: str) -> None:
        """`why`: whole sentences, without the run's path."""
        super().__init__(f"No forecast can start from {run.path}. {why}")
        self.why = why
        """The reason in sentences without the run's path, for stored results."""


@dataclass(frozen=True)
class Measured:
    """A setting as it was measured."""

    scenario: Scenario
    loop: str
    quantities: Mapping[str, Estimate]
    """Measured figures, by the names in `redolab.forecast.models.quantities.QUANTITIES`."""


@dataclass(frozen=True)
class RunCosts:
    """The costs of a run, and their uncertainty."""

    point: Costs
    replicates: tuple[Costs, ...]
    """The same from the run's blocks drawn anew, with replacement."""
    measured: Mapping[str, Measured]
    """By setting."""
    today: str
    """The setting that a forecast starts from and is compared with."""
    cautions: tuple[str, ...] = ()
    """Assumptions, in sentences."""
    other_s: float = 0.0
    """Waits of a transaction today in the server that are neither CPU nor log: the model's times do not
    include them."""
    rows_counted: bool = True
    """Whether the rows of a commit of today's setting were counted."""

    def other_ms(self, scenario: Scenario) -> float:
        """These waits for a transaction of another scenario, ms: each row has its part."""
        rows = self.measured[self.today].scenario.rows_per_commit
        return 1e3 * self.other_s * scenario.rows_per_commit / rows

    def measured_at(self, scenario: Scenario) -> Measured | None:
        """The setting that was measured of a scenario; None without one.

        Settings that differ in factors of their own are one scenario to the model: None where it is
        not clear which of them is meant.
        """
        alike = [
            item
            for item in self.measured.values()
            if item.scenario == scenario and item.loop == self.point.loop
        ]
        return alike[0] if len(alike) == 1 else None
