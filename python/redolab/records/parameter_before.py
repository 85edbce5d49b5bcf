"""Values that the parameters of a server had before a run, and return to after it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ParameterBefore:
    """One parameter that a run's settings change, as it was before."""

    parameter: str
    value: str
    """As the server shows it."""
    altered: bool | None = None
    """Whether the server keeps the value by a statement of its own (PostgreSQL's ALTER SYSTEM), which a
    restart does not undo; None where that was not looked at."""
    server: str = ""
    """The server's name where several are measured side by side."""
