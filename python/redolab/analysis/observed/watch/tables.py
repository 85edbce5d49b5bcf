"""The tables of a watch: its figures, and what they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.analysis.exhibits import Column, Table
from redolab.analysis.observed.exhibits import figures_table
from redolab.analysis.observed.figures import WATCH
from redolab.analysis.observed.watch.gaps import Gap, moment_text
from redolab.analysis.observed.watch.measures import Found
from redolab.analysis.observed.watch.stretches import Stretches
from redolab.units import clock


def known_table(found: Mapping[str, Found]) -> Table:
    """Every figure that is known, with its interval."""
    return figures_table(
        "figures",
        "What a commit costs, and how busy everything was",
        WATCH,
        {key: item.estimate() for key, item in found.items() if item.point is not None},
        "In brackets: the 95 % interval over the stretches of time, each weighted by its time or its work. "
        "The interval allows for the correlation between successive stretches.",
    )


def missing_table(found: Mapping[str, Found]) -> Table:
    """The figures that are not known, and why."""
    return Table(
        "missing",
        "What is not known",
        (Column("figure", "Figure", "text"), Column("why", "Why", "text")),
        [{"figure": WATCH[key].name, "why": item.why} for key, item in found.items() if item.point is None],
    )


def starts_table(stretches: Stretches, missed: list[Gap]) -> Table:
    """A row for each start of the watching."""
    rows: list[dict[str, Any]] = []
    for start in dict.fromkeys(stretches.starts.tolist()):
        mine = stretches.only(stretches.starts == start)
        good = mine.counting
        rows.append(
            {
                "start": str(start),
                "from": moment_text(float(mine.began[0])),
                "to": moment_text(float(max(mine.began[-1], mine.ended[-1]))),
                "counted": clock(good.elapsed_s),
                "stretches": len(good),
                "spoiled": len(mine) - len(good),
            }
        )
    lost = clock(sum(gap.length_s for gap in missed))
    return Table(
        "starts",
        "When the server was watched",
        (
            Column("start", "Start", "text"),
            Column("from", "From", "text"),
            Column("to", "To", "text"),
            Column("counted", "Counted", "text"),
            Column("stretches", "Stretches", "count"),
            Column("spoiled", "Not counted", "count"),
        ),
        rows[:_MOST_STARTS],
        f"Between the first and the last stretch {lost} were not watched." if missed else "",
    )


_MOST_STARTS = 200
