"""Values that the parameters of a server had before a run, and return to after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redolab.dialect.statements import RoleValue


@dataclass(frozen=True)
class ParameterBefore:
    """One parameter that a run's settings change, as it was before."""

    parameter: str
    value: str | None
    """As the server shows it; None where the role, the database or the connection of the run has a value of
    its own, which hides the server's."""
    altered: bool | None = None
    """Whether the server keeps the value by a statement of its own (PostgreSQL's ALTER SYSTEM), which a
    restart does not undo; None where that was not looked at."""
    server: str = ""
    """The server's name where several are measured side by side."""
    of_roles: Sequence[RoleValue] | None = None
    """Values that roles have of their own; None where that was not looked at, or could not be."""
