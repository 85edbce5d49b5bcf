"""Published findings compared with this run's results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab import units
from redolab.report.tables import cells
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable


def findings(results: Results) -> ShownTable:
    """One row per published finding: their figure, ours with its interval, and whether they agree."""
    rows = [
        [
            Cell(item["finding"]),
            Cell(item["theirs"]),
            _ours(item["ours"], item["unit"]),
            cells.outcome(item["agreement"]),
            Cell(item["why"]),
        ]
        for item in results.get("published") or ()
    ]
    columns = (
        ShownColumn("Finding", align="left"),
        ShownColumn("Published", align="left"),
        ShownColumn("This run", align="left"),
        ShownColumn("Outcome", align="left"),
        ShownColumn("Why", align="left"),
    )
    return ShownTable("findings", "Published findings and this run", columns, rows)


def in_words(finding: Mapping[str, Any]) -> str:
    """One finding in a sentence or two; the reason where it does not agree."""
    ours = _ours(finding["ours"], finding["unit"])
    here = "" if ours.text == cells.NOT_AVAILABLE else f"; here {ours.full}"
    why = "" if finding["agreement"] == "agrees" else f" ({finding['why'].rstrip('.')})"
    return f"{finding['finding']}: published {finding['theirs']}{here}{why}."


def sources(results: Results) -> list[str]:
    """Where the findings were published, each source once."""
    return list(dict.fromkeys(item["source"] for item in results.get("published") or ()))


def _ours(value: Mapping[str, Any] | None, unit: str) -> Cell:
    cell = cells.estimate(value)
    if cell.text == cells.NOT_AVAILABLE:
        return cell
    return Cell(f"{cell.text} {unit}".strip(), cell.interval)


def summary(results: Results) -> str:
    """How many of the published findings this run agrees with, in a sentence."""
    outcomes = [finding["agreement"] for finding in results["published"]]
    agreed = outcomes.count("agrees")
    others = [
        f"{outcomes.count(name)} {words}"
        for name, words in (("differs", "differ"), ("not comparable", "not comparable"))
        if name in outcomes
    ]
    rest = f" ({', '.join(others)})" if others else ""
    return f"{agreed} of {units.counted(len(outcomes), 'published finding')} agree with this run{rest}."
