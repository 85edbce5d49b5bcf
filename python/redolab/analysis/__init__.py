"""From a stored run to figures: pure functions, no database, the same figures every time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redolab.errors import UsageError

if TYPE_CHECKING:
    from redolab.store import Run


def analyse(run: Run) -> dict[str, Any]:
    """Every figure of a stored run, as the results object that scripts and the report read.

    Raises:
        UsageError: this version knows no analysis for the run's experiment.
    """
    # SciPy and statsmodels take seconds to load; only who asks for figures waits.
    from redolab.analysis import commit_mode, durability

    analyses = {"commit-mode": commit_mode.analyse, "durability": durability.analyse}
    name = run.manifest["experiment"]
    if name not in analyses:
        raise UsageError(f"{run.path} is a run of {name!r}, which this version cannot analyse.")
    return analyses[name](run)
