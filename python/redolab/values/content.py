"""Where somebody's numbers come from: a file, a pipe or the standard input."""

from __future__ import annotations

import io
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from redolab.bounds import MOST_PIPED_BYTES
from redolab.errors import UsageError
from redolab.files.foreign import bounded, open_regular, read_regular


@dataclass(frozen=True)
class Content:
    """The file, which may be opened more than once."""

    place: str
    """As it was named; `stdin` for the standard input."""
    source: Path | bytes
    """What came through a pipe is kept, because it can be read once alone."""

    def open(self) -> BinaryIO:
        """A stream of its own from the beginning."""
        return io.BytesIO(self.source) if isinstance(self.source, bytes) else self.source.open("rb")


def open_content(place: str) -> Content:
    """The file at that place; what comes through a pipe is waited for and read.

    Args:
        place: of the file; `-` for the standard input.

    Raises:
        UsageError: it cannot be read, is no file, or more comes through a pipe than is held in memory.
    """
    if place == "-":
        piped = sys.stdin.buffer.read(MOST_PIPED_BYTES + 1)
        return Content("stdin", bounded(piped, "stdin", MOST_PIPED_BYTES))
    path = Path(place)
    try:
        if stat.S_ISFIFO(path.stat().st_mode):
            return Content(place, read_regular(path, MOST_PIPED_BYTES, pipes=True))
        os.close(open_regular(path))
    except OSError as error:
        raise UsageError(
            f"{place} cannot be read: {error.strerror}. Name a CSV file, or - for the standard input."
        ) from error
    return Content(place, path)
