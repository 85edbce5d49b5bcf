"""Where Redolab puts things: new runs, and what outlives them (`$XDG_DATA_HOME/redolab`)."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path


def data_directory() -> Path:
    """The directory; it need not exist yet.

    Source: XDG Base Directory Specification.
    """
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "redolab"


def default_run_directory(name: str) -> Path:
    """Where a new run goes that no place was named for.

    Args:
        name: of its experiment, or of the kind of report that it is made of.
    """
    return Path("redolab-runs") / f"{name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
