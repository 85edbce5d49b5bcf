"""`redolab import awr|statspack|oracle-pack`: reports that a database wrote itself, as a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from redolab.analysis.observed.awr.series import FILE, series
from redolab.commands.process import end_when_interrupted
from redolab.commands.progress import shown
from redolab.files.folder import write_file
from redolab.files.places import default_run_directory
from redolab.importers.layout import kind_of
from redolab.importers.series import import_reports
from redolab.records.run import Run
from redolab.records.writer import check_free


def execute(name: str, files: Sequence[Path], out: Path | None, command: str) -> Run:
    """Import the files, with progress where there are several, and write their figures as columns too.

    Args:
        name: of the kind of report.
        files: of one database.
        out: the run directory; a new one in redolab-runs where none is named.
        command: how it was asked for.

    Raises:
        UsageError: nothing could be imported.
    """
    kind = kind_of(name)
    place = out if out is not None else default_run_directory(kind)
    # What an interruption says must not be of another run.
    check_free(place)
    end_when_interrupted(f"Interrupted. If {place} is there, it is not whole: remove it, and import again.")
    with shown("reading", "reports") as progress:
        run = import_reports(files, kind, place, progress, command)
    write_file(run.path / FILE, series(run).encode())
    return run
