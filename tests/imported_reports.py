"""Written reports, imported: what tests of the analysis, of the page and of hostile bytes begin with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from redolab.experiment.answers import analyse
from redolab.importers.layout import Kind
from redolab.importers.series import import_reports
from redolab.records.run import Run


class Silent:
    """Progress that nobody sees."""

    def begin(self, reports: int) -> None:
        """So many are about to be read."""

    def advance(self, file: str) -> None:
        """One more file is read."""


def imported(place: Path, pages: Sequence[str], kind: Kind = "awr") -> Run:
    """The run of such reports, in the order given."""
    files = []
    place.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(pages, 1):
        files.append(place / f"report_{number:03}.html")
        files[-1].write_text(page, newline="")
    return import_reports(files, kind, place / "run", Silent(), "redolab import")


def results_of(place: Path, pages: Sequence[str], kind: Kind = "awr") -> dict[str, Any]:
    """The results object of such reports."""
    return analyse(imported(place, pages, kind))


def table(results: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The rows of a table."""
    found = [item for item in results["tables"] if item["key"] == key]
    assert len(found) == 1
    rows: list[dict[str, Any]] = found[0]["rows"]
    return rows
