"""`redolab import awr|statspack|oracle-pack`: reports that a database wrote itself, as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redolab.commands.options import Json, Out
from redolab.commands.process import command_line, end_when_interrupted
from redolab.commands.progress import shown
from redolab.commands.report import make_and_show
from redolab.files.folder import write_file
from redolab.files.places import default_run_directory


def command(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="awr, statspack or oracle-pack.", show_default=False)
    ],
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Reports of one database.", show_default=False)
    ],
    out: Out = None,
    json: Json = False,
) -> None:
    """Import the files, write their figures as columns too, and report them.

    Raises:
        UsageError: nothing could be imported.
    """
    from redolab.analysis.observed.awr.series import FILE, series
    from redolab.importers.layout import kind_of
    from redolab.importers.series import import_reports
    from redolab.records.writing.writer import check_free

    known = kind_of(kind)
    place = out if out is not None else default_run_directory(known)
    # What an interruption says must not be of another run.
    check_free(place)
    end_when_interrupted(f"Interrupted. If {place} is there, it is not whole: remove it, and import again.")
    with shown("reading", "reports") as progress:
        run = import_reports(files, known, place, progress, command_line())
    write_file(run.path / FILE, series(run).encode())
    make_and_show(run, json)
