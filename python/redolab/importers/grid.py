"""A table of a report as it was printed: every layout is read into these before anything is understood."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """One printed table; cells are text without spaces around it, and empty where nothing was printed."""

    title: str
    """What it is called: headings above it and, in HTML, its summary, on one line, in lower case."""
    headings: tuple[str, ...]
    """Of its columns, each on one line, in the case printed; empty where the table has none."""
    rows: tuple[tuple[str, ...], ...]
    """Each as long as the headings where there are any."""
