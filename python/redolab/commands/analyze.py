"""`redolab analyze`: from a file of numbers to what they say."""

from __future__ import annotations

from typing import Any

from redolab.errors import UsageError
from redolab.values.file import read_values


def analyze(
    place: str, value: str | None, against: str | None, group: str | None, children: int | None
) -> dict[str, Any]:
    """Read a column of a CSV file and analyse it; gives the results object.

    Args:
        place: of the file; `-` for the standard input.
        value: the column of numbers, or None for the only one.
        against: a column that is taken off it row by row, or None.
        group: the column of groups, or None.
        children: into how many groups the values are cut in their order, or None for the square root.

    Raises:
        UsageError: options that exclude one another, or a file that cannot be analysed.
    """
    from redolab.values.figures import analyse_values

    if group is not None and children is not None:
        raise UsageError(
            "--children cuts the values into groups in their order, --group takes the groups from a column. "
            "Leave one of the two out."
        )
    return analyse_values(read_values(place, value, group, against), children)
