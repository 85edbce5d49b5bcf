"""Whether Redolab could start a server of its own here: asked of what a start itself asks first."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from redolab import _core
from redolab.engine.linux.local_server import MEMORY_FILESYSTEMS, filesystem
from redolab.engine.offer import Wanted
from redolab.engine.private.place import check_room
from redolab.errors import RefusedError
from redolab.records.checkup import Check, Checkup, missing


def check_private(name: str, look: Callable[[], tuple[str, Path]], wanted: Mapping[str, Wanted]) -> Checkup:
    """Checks of the programs, of the disk that servers would live on, and of its free space.

    Args:
        name: of the engine, for a reader.
        look: the version of its programs and the directory of its servers; raises `RefusedError`, or
            `OSError` where they cannot be executed.
        wanted: the runs asked about.
    """
    try:
        version, base = look()
    except (RefusedError, OSError) as error:
        why = str(error) if isinstance(error, RefusedError) else f"Its programs cannot be executed ({error})."
        return Checkup((missing(name, why),), dict.fromkeys(wanted, why))
    refusals = {}
    standing = next(place for place in (base, *base.parents) if place.exists())
    for run, asked in wanted.items():
        try:
            check_room(standing, asked.disk_bytes)
        except RefusedError as error:
            refusals[run] = str(error)
    return Checkup((Check(name, "works", version), disk_check(base, standing)), refusals)


def disk_check(base: Path, existing: Path) -> Check:
    """The disk under the private servers.

    Args:
        base: their directory.
        existing: the part of it that exists.
    """
    name = "Disk of private servers"
    kind = filesystem(existing) or "a file system the kernel does not name"
    room = f"{shutil.disk_usage(existing).free / 1e9:,.1f} GB free on {kind}, {base}"
    if kind in MEMORY_FILESYSTEMS:
        return Check(
            name, "limited", room,
            "That directory is in memory: a flush of the log costs almost nothing there, and commits look "
            "fast.",
            "Set XDG_CACHE_HOME to a directory on the disk that is to be measured.",
        )  # fmt: skip
    return Check(name, "works", room)


def device_check() -> Check:
    """Whether log devices can be emulated under private servers."""
    name = "Emulated log device"
    if _core.LOG_DEVICE_LIBRARY:
        return Check(name, "works", "for private servers")
    return Check(
        name,
        "missing",
        "no library",
        "--log-device-ms cannot be used.",
        "An emulated log device needs Linux and a C compiler.",
    )
