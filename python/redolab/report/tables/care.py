"""Cautions for whoever relies on a run: the same list on the page and in the terminal."""

from __future__ import annotations

from redolab.report.tables.cells import Results

Caution = tuple[str, str]
"""An outcome (`failed` or `warning`), and the sentence."""


def read_with_care(results: Results) -> list[Caution]:
    """The checks of a run that failed or warn, then its own warnings; each once."""
    checks = [
        (item["outcome"], f"{item['name']}: {item['text']}")
        for item in results.get("diagnostics") or ()
        if item["outcome"] in ("failed", "warning")
    ]
    return list(dict.fromkeys([*checks, *(("warning", text) for text in results["warnings"])]))
