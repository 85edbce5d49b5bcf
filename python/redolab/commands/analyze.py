"""`redolab analyze`: from a file of numbers, or a column of a run, to their analysis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from redolab.commands.options import Json
from redolab.commands.page import write_page
from redolab.console import say, show_json
from redolab.errors import UsageError
from redolab.report.screen.values import print_values


def command(
    file: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="A file of numbers, or several of one kind; a run directory; - for stdin.",
            show_default=False,
        ),
    ],
    value: Annotated[
        str | None, typer.Option(help="The column of numbers.", show_default="the only one")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="A column of numbers to subtract, row by row: do the two differ?")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="A column that names the group of each value: compare the groups.")
    ] = None,
    children: Annotated[
        int | None,
        typer.Option(
            help="Cut the values, in order, into this many groups and analyse the groups' means.",
            show_default="the square root of their number",
        ),
    ] = None,
    decimal: Annotated[
        str | None,
        typer.Option(help="The mark before decimals: . or , (a comma).", show_default="detected"),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="The encoding of the file, for example latin1.", show_default="detected"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write a page with the histograms.")] = None,
    json: Json = False,
) -> None:
    """Analyse the column, show the analysis, and write a page of it where one is asked for."""
    results = analyze(
        file[0], value, against, group, children, further=file[1:], decimal=decimal, encoding=encoding
    )
    if out is not None:
        write_page(results, "values", out, "--out")
    (show_json if json else print_values)(results)
    if out is not None:
        say(f"Page: {out}")


def analyze(
    place: str,
    value: str | None,
    against: str | None,
    group: str | None,
    children: int | None,
    *,
    further: Sequence[str] = (),
    decimal: str | None = None,
    encoding: str | None = None,
) -> dict[str, Any]:
    """Read a column of a file, or of several, or of a run's samples and analyse it; gives the results object.

    Args:
        place: path of the file or the run directory; `-` for the standard input.
        value: the column of numbers, or None for the only one.
        against: a column that is subtracted from it row by row, or None.
        group: the column of groups, or None.
        children: into how many groups the values are cut in their order, or None for the square root.
        further: places of files of the same kind, whose values follow those of the first.
        decimal: the mark before decimals, or None to find out.
        encoding: of the letters of the files, or None to find out.

    Raises:
        UsageError: options that exclude one another, or a file that cannot be analysed.
    """
    from redolab.values.figures import analyse_values
    from redolab.values.file import joined, read_values

    if group is not None and children is not None:
        raise UsageError(
            "--children cuts the values into groups in their order, --group takes the groups from a "
            "column. Leave one of the two out."
        )
    if decimal not in (None, ".", ","):
        raise UsageError(f"--decimal is {decimal[:40]!r}; use . or a comma.")
    if _is_run(place) and not further:
        from redolab.files.usage_errors import as_usage_errors
        from redolab.values.run_columns import read_run_values

        with as_usage_errors(Path(place)):
            return analyse_values(read_run_values(Path(place), value, group, against), children)
    files = [
        read_values(one, value, group, against, decimal=decimal, encoding=encoding)
        for one in (place, *further)
    ]
    return analyse_values(joined(files), children)


def _is_run(place: str) -> bool:
    """Whether it is a directory with a run's manifest."""
    try:
        return place != "-" and (Path(place) / "manifest.json").is_file()
    except (OSError, ValueError):
        return False
