"""A table of a report as it was printed: every layout is read into such tables first."""

from __future__ import annotations

from dataclasses import dataclass

from redolab.bounds import MOST_CELLS, OutOfBoundsError


@dataclass(frozen=True)
class Grid:
    """One printed table; cells are text without spaces around it, and empty where nothing was printed."""

    title: str
    """Title of the table: headings above it and, in HTML, its summary, on one line, in lower case."""
    headings: tuple[str, ...]
    """Headings of its columns, each on one line, in the case printed; empty for a table without headings."""
    rows: tuple[tuple[str, ...], ...]
    """Each as long as the headings where there are any."""


class Cells:
    """Counts the cells of one report: a short line of a wide table has as many as a long one."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._count = 0

    def take(self, count: int) -> None:
        """Count so many, before they are made.

        Raises:
            OutOfBoundsError: they are more than any report has.
        """
        self._count += count
        if self._count > MOST_CELLS:
            raise OutOfBoundsError(f"its tables have more than {MOST_CELLS:,} cells")
