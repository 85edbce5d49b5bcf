"""A check of a run that could change its answer: its outcome, and a sentence with the numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from redolab.units import minus

Outcome = Literal["passed", "failed", "warning", "not_available"]


@dataclass(frozen=True)
class Diagnostic:
    """One check: its outcome, and a sentence with the numbers."""

    name: str
    outcome: Outcome
    text: str

    def as_json(self) -> dict[str, Any]:
        """The check as the results object has it."""
        return asdict(self)


def signed_percent(share: float, decimals: int = 1) -> str:
    """A change in percent, its sign always shown."""
    return minus(f"{100 * share:+.{decimals}f} %")
