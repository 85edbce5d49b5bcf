"""What a session of a client does over and over, whatever the database."""

from __future__ import annotations

from dataclasses import dataclass

from redolab._core import ClientArgument


@dataclass(frozen=True)
class ClientJob:
    """One statement for every row, or the user's own statements, committed each time."""

    statement: str
    """In the placeholders of the database's protocol; `{session}` is the session's number, from 0."""
    arguments: tuple[ClientArgument, ...] = ()
    """What the placeholders stand for."""
    rows_per_commit: int = 1
    """A lone row is a transaction of its own, without BEGIN and COMMIT."""
    arrival_rate_per_s: float | None = None
    """Transactions asked for per second, at random; None where each session begins its next by itself."""
    pause_s: float = 0.0
    """How long a session waits after each commit; not where transactions are asked for."""
    text: bool = False
    """Whether the statement is several, executed as they are between BEGIN and COMMIT, as one unit."""
