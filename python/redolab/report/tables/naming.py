"""The meaning of the parts of settings' names."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.report.tables.cells import Results

_FEWEST = 3
"""Number of parts from which a name needs an explanation: `wait/batch` explains itself."""
_WORDS: Mapping[str, str] = {"commit_wait": "wait", "commit_logging": "logging", "pause_ms": "pause in ms"}


def parts_of_names(results: Results) -> str:
    """The factors in the settings' names in their order, as a sentence; empty where names have few."""
    longest: Mapping[str, str] = max(
        (
            setting["levels"]
            for setting in results["settings"]
            if setting["name"] == "/".join(setting["levels"].values())
        ),
        key=len,
        default={},
    )
    if len(longest) < _FEWEST:
        return ""
    parts = [_WORDS.get(factor, factor.replace("_", " ")) for factor in longest]
    return f"The parts of a setting's name are {' / '.join(parts)}."
