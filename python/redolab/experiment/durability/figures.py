"""The figure of a durability run, as data."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.records.sample import Kill


def missing(settings: Sequence[str], made: Sequence[Kill]) -> Figure:
    """Acknowledged commits missing after each kill that counts."""
    counting = {
        name: [kill for kill in made if kill.setting == name and kill.spoiled is None] for name in settings
    }
    return Figure(
        key="missing",
        title="Each kill",
        caption="Acknowledged commits that were missing after recovery, in the order of the kills.",
        x=Axis("Kill"),
        y=Axis("Acknowledged commits missing"),
        series=[
            Series(name, [kill.sample for kill in mine], [kill.missing for kill in mine])
            for name, mine in counting.items()
        ],
    )
