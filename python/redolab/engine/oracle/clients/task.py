"""The orders of client sessions, and their reports: all that passes between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from redolab.records.load import Amount
from redolab.records.sample import Scope


@dataclass(frozen=True)
class ClientTask:
    """Transactions of a client: rows, each by a statement of its own, and a commit."""

    row: str
    """The statement of a row, by its name; it binds `id` and what `values` has."""
    values: Mapping[str, int | str]
    mode: str
    """The words after COMMIT WRITE."""
    scope: Scope = "transaction"
    """Whether each commit says its mode, or the session's parameters do."""
    rows_per_commit: int = 1
    pause_s: float = 0.0
    """Asleep after each commit; not where transactions are asked for."""
    range_rows: int | None = None
    """Rows of each session's own, of which one is drawn for every statement; None where `id` is the number of
    the row in its session, and `session_no` is bound too."""
    arrival_rate_per_s: float | None = None
    """Transactions asked for per second, at random; None where each session begins its next by itself."""


@dataclass(frozen=True)
class Order:
    """A task, how much of it, and for whom."""

    task: ClientTask
    amount: Amount
    sessions: int
    seed: int
    """Seed of the moments at which transactions are asked for, and of rows drawn."""


@dataclass
class Told:
    """The work of one session."""

    commits: int = 0
    rows: int = 0
    failed: int = 0
    """Statements that changed no row."""
    elapsed_s: float = 0.0
    """From its first statement to its last acknowledgement and the pause after it; with arrivals from the
    beginning of their schedule, and to its end."""
    cpu_s: float = 0.0
    """CPU time of the session's process."""
    commit_times_ns: list[int] = field(default_factory=list)
    """From sending COMMIT to its acknowledgement, each."""
    response_times_ns: list[int] = field(default_factory=list)
    """From the moment a transaction was asked for to its acknowledgement, each."""
    lags_ns: list[int] = field(default_factory=list)
    """From that moment to the transaction's beginning, of those for which a session was free."""
    waited: int = 0
    """Transactions that found no session free, and began when one was."""
    trouble: str | None = None
    """Why it gave up."""
