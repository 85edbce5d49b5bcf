"""What the working sessions do: one record per kind of load, without saying how an engine does it.

A load holds what is the same in every setting. What differs stands in the setting's levels, under
the names of `FACTORS`; the engine reads them there when it puts the setting in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from redolab.sample import Scope

FACTORS: Mapping[str, str] = {
    "commit_wait": "wait or nowait: does a commit wait until its log is flushed",
    "commit_logging": "immediate or batch: is the log written at once or left to gather",
    "sessions": "sessions that work at the same time",
    "rows_per_commit": "rows inserted before each commit",
    "loop": "server or client: where the loop runs that issues the statements",
    "rounds": "rounds of uncommitted updates before the scan",
    "processes": "CPU-bound processes that run at the same time",
    "groups": "groups times values in each of them",
}
"""Every factor that a setting of the built-in experiments may have, and what its levels mean."""


@dataclass(frozen=True)
class Amount:
    """How much work one sample is: for so many seconds, or so many units of work in all."""

    seconds: float
    """Length; with `units` only what it is expected to be."""
    units: int | None = None
    """Units of work of all sessions together; None: the sessions work for `seconds`."""


@dataclass(frozen=True)
class Load:
    """What every kind of load has."""

    name: str
    """As the user knows it, or empty."""
    sessions: int
    """Working sessions, in the setting that has most of them."""
    scope: Scope
    """How a setting's parameters are put in force: in each transaction, in each session, for the server."""


@dataclass(frozen=True)
class Updates(Load):
    """One single-row update per commit, at random in a key range of each session's own."""

    rows_per_session: int
    padding_bytes: int
    """Filler in each row, which decides how many pages the key range spans."""


@dataclass(frozen=True)
class Ledger(Load):
    """One insert per commit and a note of each acknowledgement, so that a lost commit shows."""


@dataclass(frozen=True)
class Inserts(Load):
    """Inserts into one table without an index, `rows_per_commit` of them to a commit.

    Whole commits alone: a session that has a share of n units inserts the next multiple of
    `rows_per_commit` rows.
    """

    padding_bytes: int


@dataclass(frozen=True)
class Scans(Load):
    """Whole scans of a table of which another session updates rows without committing.

    A setting's rounds are made anew before each sample: what was updated is rolled back first.
    """

    rows: int
    touched: int
    """Rows that each round updates, twice; the same ones in every round."""
    rounds: int
    """Of the setting that has most."""

    @property
    def versions(self) -> int:
        """Row versions that exist at once at the most: every update of a row makes one."""
        return self.rows + 2 * self.touched * self.rounds


@dataclass(frozen=True)
class Script(Load):
    """The user's own statements (`redolab run --list`)."""

    setup: tuple[str, ...]
    unit: tuple[str, ...]
    teardown: tuple[str, ...]


@dataclass(frozen=True)
class Spins(Load):
    """Fixed CPU work in processes of their own, without a database."""


@dataclass(frozen=True)
class Draws(Load):
    """Values drawn from a distribution, without a database."""

    mean: float
