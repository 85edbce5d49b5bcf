"""Where Redolab keeps what outlives a run: `$XDG_DATA_HOME/redolab`, by default `~/.local/share/redolab`."""

from __future__ import annotations

import os
from pathlib import Path


def data_directory() -> Path:
    """The directory; it need not exist yet.

    Source: XDG Base Directory Specification.
    """
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "redolab"
