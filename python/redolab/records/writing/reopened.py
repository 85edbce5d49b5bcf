"""The directory of a stored run, opened again to be written further by one process alone."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow.compute as pc

from redolab.errors import UsageError
from redolab.files import system
from redolab.files.directories import UnsafeError
from redolab.files.folder import Folder
from redolab.records.run import Run
from redolab.records.store import PARTS
from redolab.records.writing.writer import unsafe

MADE_AFTERWARDS = ("results.json", "report.html", "league.json")
"""Files that `redolab report` makes of the others."""


def opened(path: Path) -> Folder:
    """The directory of an earlier run, to be written further.

    Raises:
        RefusedError: root would write where others can.
        OSError: it cannot be opened.
    """
    try:
        return Folder.to_write(path, alone=True)
    except UnsafeError as error:
        raise unsafe(path, error) from error


def measured(run: Run, refusal: str) -> tuple[int, float]:
    """How many samples a run has, and seconds from its beginning to the end of the last.

    Args:
        run: the run.
        refusal: where they are not numbered 1, 2, 3 ...; `{path}` is the run's.

    Raises:
        UsageError: the refusal.
    """
    numbers = run.samples["sample"].to_pylist()
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        raise UsageError(refusal.format(path=run.path))
    ends = pc.max(pc.add(run.samples["start_s"], run.samples["elapsed_s"])).as_py()
    return len(numbers), float(ends or 0.0)


def parts_in(folder: Folder) -> Folder:
    """Its directory of parts, made where there is none."""
    with suppress(FileExistsError):
        return folder.inner(PARTS, make=True)
    return folder.inner(PARTS)


def lock(folder: Folder, parts: Folder, busy: str) -> None:
    """Lock the directory of parts for this process alone, until it ends.

    Args:
        folder: of the run.
        parts: in it.
        busy: the refusal where another process has it; `{path}` is the run's.

    Raises:
        UsageError: another process has it, or has just closed the run.
    """
    try:
        system.lock(parts.fileno(), wait=False)
    except BlockingIOError as error:
        raise UsageError(busy.format(path=folder.path)) from error
    except OSError:
        # A file system without locks: other processes cannot be kept away.
        return
    if not folder.holds(parts):
        raise UsageError(f"Another process closed {folder.path} just now. Start the command again.")
