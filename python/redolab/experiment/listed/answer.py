"""The answer of a list file: the best setting against the baseline."""

from __future__ import annotations

from typing import Any

from redolab.analysis.compared import Compared, circumstances
from redolab.analysis.results import results
from redolab.analysis.verdict import verdict
from redolab.records.run import Run


def analyse(_run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a run of a list file, finished or not; plain JSON types only.

    Args:
        compared: the run, compared.
    """
    return results(compared, verdict(None, compared.null, compared.throughputs, circumstances(compared)))
