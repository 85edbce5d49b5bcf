"""Where Redolab puts things: new runs, what outlives them, and the user's config.toml."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import platformdirs

_NAME = "redolab"


def data_directory() -> Path:
    """The directory; it need not exist yet.

    Source: XDG Base Directory Specification.
    """
    return Path(platformdirs.user_data_dir(_NAME, appauthor=False))


def config_directory() -> Path:
    """The directory of the user's config.toml, `~/.config/redolab` on Linux; it need not exist."""
    return Path(platformdirs.user_config_dir(_NAME, appauthor=False))


def default_run_directory(name: str) -> Path:
    """Where a new run goes that no place was named for.

    Args:
        name: of its experiment, or of the kind of report that it is made of.
    """
    return Path("redolab-runs") / f"{name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
