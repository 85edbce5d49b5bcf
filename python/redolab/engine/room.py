"""Is there room on the disk for what a load will write? Asked before anything is made."""

from __future__ import annotations

import os
from pathlib import Path

from redolab.errors import RefusedError
from redolab.load import Load, Scans

_SPARE_BYTES = 1 << 30


def bytes_written(load: Load, per_version: int) -> int:
    """What `load` has on the disk at once at the most, in bytes; 0 where that is next to nothing.

    Args:
        load: what is to be done.
        per_version: bytes that one row version takes in the table and in the log.
    """
    return load.versions * per_version if isinstance(load, Scans) else 0


def check_room(place: Path, needed: int) -> None:
    """Make sure that `needed` bytes fit where `place` is, and leave a gigabyte free.

    A place that cannot be asked is taken as large enough.

    Raises:
        RefusedError: they do not.
    """
    try:
        found = os.statvfs(place)
    except OSError:
        return
    free = found.f_bavail * found.f_frsize
    if needed and needed + _SPARE_BYTES > free:
        raise RefusedError(
            f"The rows need about {_gigabytes(needed)} on the disk of {place}, with their versions and the "
            f"log, and {_gigabytes(_SPARE_BYTES)} are to stay free; {_gigabytes(free)} are free there. "
            "Nothing was made. Ask for fewer with --rows, or free some space."
        )


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"
