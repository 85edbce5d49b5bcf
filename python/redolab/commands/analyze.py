"""`redolab analyze`: from a file of numbers, or a column of a run, to what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from redolab.commands.options import Json
from redolab.commands.page import write_page
from redolab.errors import UsageError
from redolab.outlet import say, show_json
from redolab.report.screen.values import print_values


def command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A CSV file, a run directory, or - for stdin.", show_default=False
        ),
    ],
    value: Annotated[
        str | None, typer.Option(help="The column of numbers.", show_default="the only one")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="A column of numbers to take off, row by row: do the two differ?")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="A column that names the group of each value: compare the groups.")
    ] = None,
    children: Annotated[
        int | None,
        typer.Option(
            help="Cut the values in their order into so many groups, and look at their means.",
            show_default="as many as values in each",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write a page with the histograms.")] = None,
    json: Json = False,
) -> None:
    """Analyse the column, show what it says, and write a page of it where one is asked for."""
    results = analyze(file, value, against, group, children)
    if out is not None:
        write_page(results, "values", out, "--out")
    (show_json if json else print_values)(results)
    if out is not None:
        say(f"Page: {out}")


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
    from redolab.values.file import read_values

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
