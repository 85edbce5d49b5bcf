"""The work of the sessions: one record per kind of load, independent of how an engine does it.

A load holds everything that is the same in every setting. The differences are in the setting's levels, under
the names of `FACTORS`; the engine reads them there when it applies the setting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from redolab.dialect.postgres import ROW_HEADER_BYTES, SCANNED_PART_OF_CACHE
from redolab.errors import UsageError
from redolab.records.sample import Scope, Work

FACTORS: Mapping[str, str] = {
    "server": "name of the server that does the work, where several are measured side by side",
    "commit_wait": "wait or nowait: does a commit wait until its log is flushed",
    "commit_logging": "immediate or batch: is the log written at once or left to gather",
    "sessions": "sessions that work at the same time",
    "server_process": "kind of server process for the sessions; without it the kind that the URL asks for",
    "cpu_turns": "turns of an empty loop in every unit of work, before its statement",
    "rows_per_commit": "rows inserted before each commit",
    "loop": "server or client: where the loop runs that issues the statements",
    "commit_delay_us": "microseconds that a commit waits before its flush for others to join it",
    "pause_ms": "milliseconds of a pause after each commit: on the CPU in the server, asleep in a client",
    "arrival_rate_per_s": "transactions asked for per second, at random; without it sessions do not wait",
    "share_of_capacity": "arrival rate in percent of the throughput of the same sessions without waiting",
    "log_device_ms": "milliseconds that a flush of the emulated log device takes; 0: the real device's time",
    "rounds": "rounds of uncommitted updates before the scan",
    "processes": "CPU-bound processes that run at the same time",
    "groups": "number of groups times values per group",
}
"""Every factor that a setting of the built-in experiments may have, and what its levels mean."""


LEAST_DISK_BYTES = 500 * 10**6
"""Disk that a private server needs in any case: its directory, first log files and temporary files."""
LOG_LIMIT_BYTES = 5 * 10**9
"""Size at which a private server's log stops growing: its max_wal_size and some."""
LONGEST_PAUSE_S = 10.0
MOST_ARRIVALS_PER_S = 1e6
"""More than any client can begin."""


@dataclass(frozen=True)
class Amount:
    """How much work one sample is: a number of seconds, or a number of units of work in all."""

    seconds: float
    """Length; with `units` only the expected length."""
    units: int | None = None
    """Units of work of all sessions together; None: the sessions work for `seconds`."""
    units_each: int | None = None
    """Units of work of every session instead, where work that grows with the sessions is the question."""

    def share(self, number: int, sessions: int) -> int | None:
        """The part of `units` that one session does; None where the sessions work for a time.

        The first sessions do one more where the units cannot be divided evenly.

        Args:
            number: of the session, from 0.
            sessions: that share the units.
        """
        if self.units is None:
            return None
        whole, over = divmod(self.units, sessions)
        return whole + (number < over)


@dataclass(frozen=True)
class Load:
    """The fields and answers that every kind of load has."""

    name: str
    """As the user knows it, or empty."""
    sessions: int
    """Working sessions, in the setting that has most of them."""
    scope: Scope
    """How a setting's parameters are applied: in each transaction, in each session, for the server."""
    loop: str = field(default="server", kw_only=True)
    """Where the loop runs in settings that have no level for it: `server` or `client`."""

    def parameters(self, levels: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        """The server's own parameters that a setting's levels set in addition to those of commits."""
        return {}

    def units_of(self, work: Work) -> int:
        """Units of work among what the sessions did."""
        return work.units

    def makes(self, units: int | None, within: str) -> tuple[str, ...]:  # noqa: ARG002
        """The objects that the load makes, one phrase each.

        Args:
            units: of a sample, where that is known before.
            within: prefix of the names of Redolab's tables on this engine: `redolab.` or nothing.
        """
        return ()

    def disk_bytes(self, units: int | None) -> int:  # noqa: ARG002
        """About how much disk the tables and their log need at most, bytes."""
        return LEAST_DISK_BYTES

    def making_s(self, levels: Mapping[str, str]) -> float:  # noqa: ARG002
        """About how long it takes to prepare a setting's levels before each sample, seconds."""
        return 0.0

    def cache_bytes(self) -> int:
        """How large a private server's cache must be, bytes; 0 where its usual size will do."""
        return 0


@dataclass(frozen=True)
class Updates(Load):
    """One single-row update per commit, at random in a key range that belongs to the session alone."""

    rows_per_session: int
    padding_bytes: int
    """Filler in each row, which decides how many pages the key range spans."""

    def makes(self, units: int | None, within: str) -> tuple[str, ...]:  # noqa: ARG002
        """One table, filled before the first sample."""
        rows = self.sessions * self.rows_per_session
        return (f"table {within}account: {rows:,} rows of {self.padding_bytes} bytes of filler",)


@dataclass(frozen=True)
class OwnRows(Load):
    """Each session updates the only row of its own table, and commits each time."""

    def makes(self, units: int | None, within: str) -> tuple[str, ...]:  # noqa: ARG002
        """A table for each session."""
        last = self.sessions - 1
        return (f"tables {within}own_0 to {within}own_{last}: one row each",)


@dataclass(frozen=True)
class Ledger(Load):
    """One insert per commit and a note of each acknowledgement, so that a lost commit shows."""

    def makes(self, units: int | None, within: str) -> tuple[str, ...]:  # noqa: ARG002
        """One table, emptied after every kill."""
        return (f"table {within}ledger: one row per commit",)


@dataclass(frozen=True)
class Inserts(Load):
    """Inserts into one table without an index, `rows_per_commit` of them to a commit.

    Sessions make only whole commits: with a share of n units a session inserts the next multiple of
    `rows_per_commit` rows.
    """

    padding_bytes: int
    timed: bool = False
    """Whether a loop inside the server notes the time of each commit; one in a client always does."""
    unit: str = "row"
    """The unit of work: `row`, or `commit` where commits with many rows are compared with others."""

    def units_of(self, work: Work) -> int:
        """Rows, or commits."""
        return work.commits if self.unit == "commit" else work.units

    def makes(self, units: int | None, within: str) -> tuple[str, ...]:
        """One table, emptied before every sample."""
        rows = "as many rows as fit" if units is None else f"{units:,} rows"
        return (f"table {within}item: {rows} of {self.padding_bytes} bytes of filler",)

    def disk_bytes(self, units: int | None) -> int:
        """The rows with their headers, and as much log until it is recycled."""
        table = (units or 0) * (ROW_HEADER_BYTES + self.padding_bytes)
        return LEAST_DISK_BYTES + table + min(2 * table, LOG_LIMIT_BYTES)


def loop_of(load: Load, levels: Mapping[str, str]) -> str:
    """Where the loop of a setting with such levels runs: `server` or `client`."""
    return levels.get("loop", load.loop)


def arrival_rate_of(levels: Mapping[str, str]) -> float | None:
    """Transactions asked for per second under a setting with such levels; None where every session begins
    its next one when it has done the last.

    Raises:
        UsageError: the level is not a rate that a client can keep.
    """
    level = levels.get("arrival_rate_per_s")
    if level is None:
        return None
    rate_per_s = _number(level)
    if not 0 < rate_per_s <= MOST_ARRIVALS_PER_S:
        raise UsageError(
            f"arrival_rate_per_s is {level!r}; it must be a number above 0 and at most "
            f"{MOST_ARRIVALS_PER_S:,.0f}."
        )
    return rate_per_s


def rows_per_commit_of(levels: Mapping[str, str]) -> int:
    """Rows inserted before each commit under a setting with such levels."""
    return int(levels.get("rows_per_commit", "1"))


def turns_of(levels: Mapping[str, str]) -> int:
    """Turns of an empty loop in each unit of work under a setting with such levels."""
    return int(levels.get("cpu_turns", "0"))


def pause_of(levels: Mapping[str, str]) -> float:
    """Seconds that a session pauses after each commit under a setting with such levels.

    Raises:
        UsageError: the level is not such a time.
    """
    level = levels.get("pause_ms", "0")
    pause_s = _number(level) / 1e3
    if not 0 <= pause_s <= LONGEST_PAUSE_S:
        raise UsageError(
            f"pause_ms is {level!r}; it must be a number from 0 to {1e3 * LONGEST_PAUSE_S:,.0f}."
        )
    return pause_s


def _number(level: str) -> float:
    """The level as a number; NaN, which no range contains, where it is not a number."""
    try:
        return float(level)
    except ValueError:
        return math.nan


def check_pace(load: Load, combinations: Iterable[Mapping[str, str]]) -> None:
    """Make sure that every arrival rate and every pause of the settings can be kept.

    Raises:
        UsageError: a rate or a pause is invalid, a setting has both, or a rate where the loop cannot wait.
    """
    for levels in combinations:
        pause_s, rate_per_s = pause_of(levels), arrival_rate_of(levels)
        if pause_s and rate_per_s is not None:
            raise UsageError(
                "pause_ms and arrival_rate_per_s do not go together: transactions that are asked for at "
                "random moments cannot also wait for a pause. Leave one of them out."
            )
        if rate_per_s is not None and loop_of(load, levels) != "client":
            raise UsageError(
                "arrival_rate_per_s needs sessions of a client: a loop inside the server begins its next "
                "transaction by itself, without waiting for arrivals. Measure with the level loop=client."
            )


@dataclass(frozen=True)
class Scans(Load):
    """Full scans of a table of which another session updates rows without committing.

    A setting's rounds are made again before each sample: earlier updates are rolled back first.
    """

    rows: int
    touched: int
    """Rows that each round updates, twice; the same ones in every round."""
    rounds: int
    """Rounds in the setting that has most."""

    @property
    def versions(self) -> int:
        """Row versions that exist at once at the most: every update of a row makes one."""
        return self.rows + 2 * self.touched * self.rounds

    def makes(self, units: int | None, within: str) -> tuple[str, ...]:  # noqa: ARG002
        """One table, in which another session updates rows that it never commits."""
        return (
            f"table {within}scanned: {self.rows:,} rows; at most {self.versions:,} versions of them, in one "
            "open transaction",
        )

    def disk_bytes(self, units: int | None) -> int:  # noqa: ARG002
        """The versions with their headers, and their log."""
        table = self.versions * ROW_HEADER_BYTES
        return LEAST_DISK_BYTES + table + min(2 * table, LOG_LIMIT_BYTES)

    def making_s(self, levels: Mapping[str, str]) -> float:
        """Seconds for the updates: each takes some 2 us, including its part of the scan."""
        return 2e-6 * 2 * self.touched * int(levels["rounds"])

    def cache_bytes(self) -> int:
        """Cache for the table, bytes: a scan keeps only a much smaller table in the cache."""
        return SCANNED_PART_OF_CACHE * self.versions * ROW_HEADER_BYTES


@dataclass(frozen=True)
class LevelScript:
    """SQL and parameters that one level of one of the user's own factors brings with it."""

    enter: str = ""
    """SQL executed when a setting with this level follows one without it."""
    leave: str = ""
    """SQL executed when a setting without this level follows one with it."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The server's own parameters under this level."""


SEARCH_PATH = "search_path"
LIST_SCHEMAS = "redolab, public"
"""Where a list's statements find names without a schema."""


@dataclass(frozen=True)
class Script(Load):
    """The user's own statements (`redolab run --list FILE`)."""

    file: str
    """The file with the statements, for messages."""
    setup: str
    unit: str
    settle: str
    teardown: str
    levels: Mapping[str, Mapping[str, LevelScript]]
    """Factor to level to its SQL and parameters; only levels that have any."""
    places: Mapping[str, tuple[int, int]]
    """Line and column in the file where each SQL text begins, from 1, by its path: `sql.unit`,
    `levels.index.btree.enter`."""

    def parameters(self, levels: Mapping[str, str]) -> dict[str, str]:
        """The server's own parameters that a setting's levels bring, for the whole session."""
        return {name: value for name, value in self._brought(levels).items() if name != SEARCH_PATH}

    def search_path(self, levels: Mapping[str, str]) -> str:
        """Where the unit of work finds names without a schema; the session around it does not."""
        return self._brought(levels).get(SEARCH_PATH, LIST_SCHEMAS)

    def passage(self, before: Mapping[str, str], levels: Mapping[str, str]) -> dict[str, str]:
        """The SQL between two settings, by its path: it leaves the old levels, then enters the new ones."""
        gone = [(f, level) for f, level in before.items() if levels[f] != level]
        come = [(f, level) for f, level in levels.items() if before.get(f) != level]
        leaving = {f"levels.{f}.{level}.leave": self._brings(f, level).leave for f, level in gone}
        return leaving | {f"levels.{f}.{level}.enter": self._brings(f, level).enter for f, level in come}

    def _brought(self, levels: Mapping[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for factor, level in levels.items():
            found |= self._brings(factor, level).parameters
        return found

    def _brings(self, factor: str, level: str) -> LevelScript:
        return self.levels.get(factor, {}).get(level, LevelScript())

    def makes(self, units: int | None, within: str) -> tuple[str, ...]:  # noqa: ARG002
        """The user's statements, as they will be executed, and the values of parameters they come with."""
        texts = {"setup": self.setup, "unit of work": self.unit, "settle": self.settle}
        for factor, levels in self.levels.items():
            for level, brings in levels.items():
                texts[f"enter {factor} {level}"] = brings.enter
                texts[f"leave {factor} {level}"] = brings.leave
                values = (f"{name} = {value}" for name, value in brings.parameters.items())
                texts[f"parameters of {factor} {level}"] = ", ".join(values)
        texts["teardown"] = self.teardown
        return tuple(f"{name}: {' '.join(text.split())}" for name, text in texts.items() if text)


@dataclass(frozen=True)
class Spins(Load):
    """Fixed CPU work in processes of their own, without a database."""

    def makes(self, units: int | None, within: str) -> tuple[str, ...]:  # noqa: ARG002
        """The processes."""
        return (f"{self.sessions} processes",)

    def disk_bytes(self, units: int | None) -> int:  # noqa: ARG002
        """No disk: only the run directory is written."""
        return 0


@dataclass(frozen=True)
class Draws(Load):
    """Values drawn from a distribution, without a database."""

    mean: float

    def disk_bytes(self, units: int | None) -> int:  # noqa: ARG002
        """No disk: only the run directory is written."""
        return 0


def load_of(stored: Mapping[str, Any]) -> Load:
    """The load that a manifest describes, but for that of a list file, whose statements it does not have all.

    Raises:
        KeyError, TypeError: it describes none.
    """
    kinds = {kind.__name__.lower(): kind for kind in (Updates, OwnRows, Ledger, Inserts, Scans, Spins, Draws)}
    return kinds[stored["kind"]](**{name: value for name, value in stored.items() if name != "kind"})
