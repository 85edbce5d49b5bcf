"""`redolab oracle-pack`: the script whose output `redolab import` reads."""

from __future__ import annotations

from redolab.console import show
from redolab.importers.pack import script


def command() -> None:
    """Write the script to the standard output."""
    show(script())
