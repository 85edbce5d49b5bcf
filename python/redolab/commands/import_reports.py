"""`redolab import awr|statspack`: reports that a database wrote itself, as a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from redolab.analysis.reports.series import FILE, series
from redolab.commands.process import end_when_interrupted
from redolab.files.writing import write_file
from redolab.importers.layout import Kind, kind_of
from redolab.importers.series import Progress, import_reports
from redolab.outlet import say, terminal
from redolab.printable import printable
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
    place = out if out is not None else default_place(kind)
    # What an interruption says must not be of another run.
    check_free(place)
    end_when_interrupted(f"Interrupted. If {place} is there, it is not whole: remove it, and import again.")
    with _progress(len(files)) as progress:
        run = import_reports(files, kind, place, progress, command)
    write_file(run.path / FILE, series(run).encode())
    return run


def default_place(kind: Kind) -> Path:
    """The run directory where none is named."""
    return Path("redolab-runs") / f"{kind}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"


class _Lines:
    """Progress as plain lines, about ten of them, where no terminal is."""

    def __init__(self, files: int) -> None:
        self.files, self.done = files, 0

    def advance(self, file: str) -> None:
        """One more file is read."""
        self.done += 1
        if self.files > 1 and self.done * 10 // self.files > (self.done - 1) * 10 // self.files:
            say(f"{self.done} of {self.files} reports ({printable(file)})")


class _Bar:
    """Progress as a bar with time left."""

    def __init__(self, bars: Bars, files: int) -> None:
        self.bars, self.task = bars, bars.add_task("reading", total=files)

    def advance(self, file: str) -> None:
        """One more file is read."""
        self.bars.update(self.task, advance=1, description=f"{printable(file)[:24]:<24}")


@contextmanager
def _progress(files: int) -> Iterator[Progress]:
    console = terminal(stderr=True)
    if not console.is_terminal or files == 1:
        yield _Lines(files)
        return
    with Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bars:
        yield _Bar(bars, files)
