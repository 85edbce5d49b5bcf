"""Where Redolab puts things: new runs, data that outlive them, and the user's config.toml."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path


def data_directory() -> Path:
    """The directory of data that outlive runs; it need not exist yet.

    Source: XDG Base Directory Specification.
    """
    return _below("XDG_DATA_HOME", ".local/share")


def config_directory() -> Path:
    """The directory of the user's config.toml; it need not exist.

    Source: XDG Base Directory Specification.
    """
    return _below("XDG_CONFIG_HOME", ".config")


def _below(variable: str, usual: str) -> Path:
    """Redolab's directory below the one that a variable names, or below the usual one of the user's home."""
    return Path(os.environ.get(variable) or Path.home() / usual) / "redolab"


def default_run_directory(name: str) -> Path:
    """Where a new run goes if the user did not name a place.

    Args:
        name: of its experiment, or of the kind of report that it is made of.
    """
    return Path("redolab-runs") / f"{name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
