"""How many acknowledged commits a crash of the server may lose at the most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redolab.dialect.known import dialect_of


@dataclass(frozen=True)
class AtRisk:
    """The possible loss under a setting."""

    window_s: float
    """Age of the oldest commit that can be missing, by the server's manual."""
    commits: int
    """Commits acknowledged in that time at the measured rate."""

    def as_json(self) -> dict[str, Any]:
        """The figures as the results object has them."""
        return {"window_s": self.window_s, "commits": self.commits}


def at_risk(engine: str, declared: Mapping[str, Any], commits_per_s: float | None) -> AtRisk | None:
    """The most that a crash may lose under a setting; None where it loses nothing, or where that is not
    known.

    Args:
        engine: its name in the manifest.
        declared: the setting, as the manifest has it.
        commits_per_s: acknowledged commits; None where they were not measured.
    """
    longest_s = dialect_of(engine).longest_loss_s
    if declared["tier"] != "memory" or commits_per_s is None or longest_s is None:
        return None
    window_s = longest_s(declared["parameters"])
    return None if window_s is None else AtRisk(window_s, math.ceil(window_s * commits_per_s))
