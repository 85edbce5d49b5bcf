"""Where private servers live, each in a locked directory of its own; one without a lock is swept."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redolab.engine.guard import Guard, lock_directory, remove_server
from redolab.errors import RefusedError

_MEND = "set XDG_CACHE_HOME to a directory with room"


def take_charge(base: Path, directory: Path, guard: Guard, charge: Mapping[str, Any]) -> None:
    """Remove what killed runs left in `base`, make `directory` there, and give it to the guard."""
    # Under the base's lock, so that another start does not take the new directory for a leaving.
    with (base / "lock").open("wb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        sweep(base)
        directory.mkdir(mode=0o700)
        guard.ask({"server": charge})


def sweep(base: Path) -> None:
    """Remove what killed runs left in `base`: servers still running, and their directories."""
    for directory in base.iterdir():
        if directory.is_dir():
            lock = lock_directory(directory)
            if lock is not None:
                remove_server(directory)
                lock.close()


def base_directory(user: int | None) -> Path:
    """On a real disk when the home has one, never shared with others."""
    cache = os.environ.get("XDG_CACHE_HOME")
    home = Path(cache) if cache else Path.home() / ".cache"
    for base in (
        (home / "redolab" / "servers") if user is None else None,
        Path(tempfile.gettempdir()) / f"redolab-{os.geteuid()}",
    ):
        if base is None:
            continue
        try:
            base.mkdir(parents=True, exist_ok=True, mode=0o700 if user is None else 0o711)
        except OSError:
            continue
        if base.stat().st_uid == os.geteuid() and os.access(base, os.W_OK):
            return base
    raise RefusedError(
        f"No place for the private server: neither {home} nor {tempfile.gettempdir()} can be written. "
        "Set XDG_CACHE_HOME to a directory that you may write to."
    )


def check_room(place: Path, disk_bytes: int, mend: str = _MEND) -> None:
    """Make sure that a run has room; a place that cannot be looked at is taken to have it.

    Raises:
        RefusedError: there is not.
    """
    try:
        free = shutil.disk_usage(place).free
        where = place.resolve()
    except OSError:
        return
    if free < disk_bytes:
        raise RefusedError(
            f"The run needs about {disk_bytes / 1e9:,.1f} GB of disk, and {where} has {free / 1e9:,.1f} GB "
            f"free. Ask for fewer rows, or {mend}. Nothing was made."
        )


def cache_mib(wanted_bytes: int, usual_mib: int) -> int:
    """The size of a private server's cache, MiB: what is wanted, at most a quarter of the memory here."""
    quarter = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    return max(usual_mib, min(wanted_bytes, quarter) >> 20)


def last_words(log: Path) -> str:
    """The last lines of a server's log."""
    try:
        return " / ".join(log.read_text(errors="replace").splitlines()[-3:])
    except OSError:
        return "(no log)"
