"""Where private servers live, each in a locked directory of its own; what killed runs left is swept."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from redolab.engine.private.guard import Guard, ServerCharge
from redolab.errors import RefusedError
from redolab.files.directories import UnsafeError, check_own_directory, own_directory

_MEND = "set XDG_CACHE_HOME to a directory with room"
_LAST_BYTES = 10_000


def take_charge(directory: Path, guard: Guard, charge: ServerCharge) -> None:
    """Let the guard make the directory of a server, in its charge from the first moment on.

    Raises:
        RefusedError: it cannot.
    """
    answer = guard.ask({"server": charge})
    if "error" in answer:
        raise RefusedError(
            f"The private server's directory {directory} cannot be made: {answer['error']}. "
            "Set XDG_CACHE_HOME to a directory of your own."
        )


def base_directory(user: int | None, make: bool = True) -> Path:
    """The directory of all private servers: on a real disk when the home has one, and this user's alone.

    Args:
        user: whom the server will run as; None for this user.
        make: whether it is made where it is missing; otherwise nothing is changed.

    Raises:
        RefusedError: there is none that only root and this user can write to or exchange.
    """
    cache = os.environ.get("XDG_CACHE_HOME")
    home = Path(cache) if cache else Path.home() / ".cache"
    temporary = Path(tempfile.gettempdir()).absolute() / f"redolab-{os.geteuid()}"
    # A home may be closed to the user that the server runs as.
    places = [home.absolute() / "redolab" / "servers", temporary] if user is None else [temporary]
    reasons = []
    for base in places:
        try:
            if not (make or base.exists()):
                check_own_directory(base)
                return base
            opened = own_directory(base, (0o700 if user is None else 0o711) if make else 0)
        except UnsafeError as error:
            reasons.append(f"{error.strerror}")
            continue
        except OSError as error:
            reasons.append(f"{base} cannot be made ({error.strerror})")
            continue
        writable = os.access(".", os.W_OK, dir_fd=opened)
        os.close(opened)
        if writable:
            return base
        reasons.append(f"{base} cannot be written")
    mend = "XDG_CACHE_HOME" if user is None else "TMPDIR"
    raise RefusedError(
        f"No safe directory for the private server was found: {'; '.join(reasons)}. Set {mend} to a "
        "directory of your own that others cannot write to."
    )


def check_room(place: Path, disk_bytes: int, mend: str = _MEND) -> None:
    """Make sure that a run has room; a place that cannot be inspected counts as having it.

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
    """The last lines of a server's log; of one that marks its errors, the last errors."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LAST_BYTES))
            lines = file.read(_LAST_BYTES).decode(errors="replace").splitlines()
            return " / ".join([line for line in lines if "[ERROR]" in line][-5:] or lines[-3:])
    except OSError:
        return "(no log)"
