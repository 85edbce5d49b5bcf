"""`redolab analyze`: from a file of numbers, or a column of a run, to what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redolab.errors import UsageError
from redolab.values.file import read_values


def analyze(
    place: str, value: str | None, against: str | None, group: str | None, children: int | None
) -> dict[str, Any]:
    """Read a column of a CSV file or of a run's samples and analyse it; gives the results object.

    Args:
        place: of the file or the run directory; `-` for the standard input.
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
    if _is_run(place):
        from redolab.files.understood import understood
        from redolab.values.run_columns import read_run_values

        with understood(Path(place)):
            return analyse_values(read_run_values(Path(place), value, group, against), children)
    return analyse_values(read_values(place, value, group, against), children)


def _is_run(place: str) -> bool:
    """Whether it is a directory with a run's manifest."""
    try:
        return place != "-" and (Path(place) / "manifest.json").is_file()
    except (OSError, ValueError):
        return False
