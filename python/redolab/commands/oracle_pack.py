"""`redolab oracle-pack`: the script whose output `redolab import` reads."""

from __future__ import annotations

from redolab.importers.pack import script
from redolab.outlet import show


def command() -> None:
    """Write the script to the standard output."""
    show(script())
