"""The throughput of a run whose settings differ in one number, as a small plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.report.screen.plot import SweepPoint, plotted
from redolab.report.tables import wording
from redolab.report.tables.cells import Results
from redolab.report.tables.forecast import ENOUGH


def run_plot(results: Results, width: int) -> list[str]:
    """The lines of the plot, the first level with nearly all of the best marked.

    None where the settings differ in something else, or fewer than three of them have a throughput.

    Args:
        results: the results object of a stored run.
        width: of the screen, characters.
    """
    factor = _swept(results["settings"])
    if factor is None:
        return []
    settings = sorted(results["settings"], key=lambda item: float(item["levels"][factor]))
    rates = [item["throughput_per_s"] for item in settings]
    points = [
        SweepPoint(item["levels"][factor], *(rate.get(end) for end in ("point", "low", "high")))
        for item, rate in zip(settings, rates, strict=True)
    ]
    known = [point.value or 0.0 for point in points]
    enough = next((place for place, value in enumerate(known) if value >= ENOUGH * max(known) > 0), None)
    title = f"{wording.units(results).capitalize()} per s over {factor.replace('_', ' ')}"
    return plotted(points, title, width, enough, f"{100 * ENOUGH:g} % of the best")


def _swept(settings: Sequence[Mapping[str, Any]]) -> str | None:
    """The one factor in which the settings differ, if its levels are numbers."""
    levels = [item.get("levels") or {} for item in settings]
    names = list(dict.fromkeys(name for each in levels for name in each))
    differing = [name for name in names if len({each.get(name) for each in levels}) > 1]
    if len(differing) != 1 or any(item.get("throughput_per_s") is None for item in settings):
        return None
    values = [each.get(differing[0]) for each in levels]
    return differing[0] if all(_is_number(value) for value in values) else None


def _is_number(text: str | None) -> bool:
    try:
        return text is not None and float(text) >= 0
    except ValueError:
        return False
