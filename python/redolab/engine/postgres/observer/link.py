"""One connection to a live PostgreSQL, from its opening until it is lost: what can be seen over it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import psycopg

from redolab import _core
from redolab.engine.linux.local_server import cpu_s
from redolab.engine.postgres.connecting.connection import Connection, Connector, fetch, place_of
from redolab.engine.postgres.observer.counters import UNKNOWN, Counted, counted
from redolab.engine.postgres.observer.unseen import not_available
from redolab.engine.postgres.parameters.before import parameters_before, read_parameters
from redolab.engine.postgres.preflight.preflight import OLDEST
from redolab.engine.postgres.preflight.standbys import why_none_confirm
from redolab.engine.postgres.waits.activity import ActivitySource
from redolab.engine.postgres.waits.memory import MemorySource
from redolab.engine.postgres.waits.reach import find_reach
from redolab.errors import RefusedError
from redolab.records.observation import Observation, ServerFacts

NAME = "redolab profile"
_PARAMETERS = (
    "synchronous_commit", "fsync", "full_page_writes", "wal_sync_method", "synchronous_standby_names",
    "track_wal_io_timing", "wal_writer_delay",
)  # fmt: skip
_OF_ADVICE = ("synchronous_commit", "commit_delay", "commit_siblings")
"""Parameters that advice may change."""
_BETWEEN_LIMIT_S = 1.0
"""A process is between two transactions for microseconds, or until it gets a CPU again."""


class LiveLink:
    """A read-only session in the server, and the source that watches the server's processes meanwhile."""

    def __init__(self, connector: Connector, seed: int, calm: bool) -> None:
        """Connect, find out how closely the server can be watched, and begin.

        Args:
            connector: to the server.
            seed: of the gaps between ticks.
            calm: whether it looks more rarely than for a profile.

        Raises:
            RefusedError: the server cannot be reached, or is too old.
            psycopg.Error: the connection was lost again.
            OSError: the server's processes went away.
        """
        self._connector = connector
        self._watcher: Connection | None = None
        self._connection = connector.connect(NAME, read_only=True)
        try:
            self._server, self._identity = self._read_server(), self._read_identity()
            self._own, self._place = [self._connection.info.backend_pid], place_of(self._connection)
            self._reach = find_reach(self._connection, self._server)
            known = read_parameters(self._connection, _OF_ADVICE)
            self._before = parameters_before(self._connection, known.values())
            self._rows, self._totals = self._ask()
            self._source = self._begin(seed, calm)
        except BaseException:
            self._disconnect()
            raise
        self._note_accounts()

    @property
    def server_started(self) -> datetime:
        """When the server at the other end began."""
        started: datetime = self._totals["started"]
        return started

    @property
    def facts(self) -> ServerFacts:
        """The server's identity."""
        return ServerFacts(
            self._described,
            self._identity,
            {name: str(self._server[name]) for name in _PARAMETERS},
            self._before,
        )

    def read(self) -> Observation:
        """The observation since the last reading.

        Raises:
            psycopg.Error: the connection was lost.
        """
        rows, totals = self._ask()
        observation = self._source.read(rows)
        own = self._asked + (0 if self._reach.memory else observation.ticks)
        io_timed = self._server["track_wal_io_timing"] == "on"
        counters = counted(self._totals, totals, [*self._rows, *rows], own, io_timed)
        self._rows, self._totals = rows, totals
        return self._observation(observation, counters)

    def end(self) -> Observation:
        """The observation since the last reading, without asking the server any more."""
        observation = self._source.stop()
        self._disconnect()
        return self._observation(observation, (UNKNOWN, ()))

    def _disconnect(self) -> None:
        if self._watcher is not None:
            self._watcher.close()
        self._connection.close()

    def _ask(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The sessions and then the counters; and whether commits wait for standbys that are not there.

        A procedure that commits in a loop is known by the age of its transactions, and now and then it is
        met between two of them. Then it is asked for again.
        """
        self._asked, give_up = 3, time.monotonic() + _BETWEEN_LIMIT_S
        rows = fetch(self._connection, "select_sessions", {"own": self._own})
        while any(row["between_transactions"] for row in rows) and time.monotonic() < give_up:
            self._asked += 1
            rows = fetch(self._connection, "select_sessions", {"own": self._own})
        self._stuck = why_none_confirm(self._connection)
        return rows, fetch(self._connection, "select_totals")[0]

    def _read_server(self) -> Mapping[str, Any]:
        major = self._connection.info.server_version // 10_000
        if major < OLDEST:
            raise RefusedError(
                f"This server is PostgreSQL {major}; Redolab needs {OLDEST} or newer, because earlier "
                "versions do not count their log writes (pg_stat_wal)."
            )
        return fetch(self._connection, "select_server")[0]

    def _read_identity(self) -> str | None:
        try:
            identifier = fetch(self._connection, "select_identity")[0]["identity"]
        except psycopg.errors.DatabaseError:
            # A service may keep the function from its customers.
            if self._connection.closed:
                raise
            return None
        return hashlib.sha256(f"postgresql {identifier}".encode()).hexdigest()[:32]

    def _begin(self, seed: int, calm: bool) -> MemorySource | ActivitySource:
        if self._reach.memory is not None:
            return MemorySource(*self._reach.memory, self._own, seed, log_bursts=True, calm=calm)
        self._watcher = self._connector.connect(NAME, read_only=True)
        self._own.append(self._watcher.info.backend_pid)
        return ActivitySource(self._watcher, self._reach.postmaster, self._own, seed, calm)

    @property
    def _described(self) -> Mapping[str, Any]:
        return {
            "name": "postgresql",
            "version": self._server["version"].split()[0],
            "place": self._place,
            "local": self._reach.postmaster is not None,
        }

    def _note_accounts(self) -> None:
        """Remember the accounts that the next observation begins with."""
        here = self._reach.postmaster is not None
        self._machine = _core.machine_times() if here else None
        self._own_cpu_s = [cpu_s(pid) for pid in self._own] if here else []

    def _observation(self, seen: Observation, found: Counted) -> Observation:
        """The source's observation, together with the figures of the server and the machine."""
        before, own_before = self._machine, self._own_cpu_s
        self._note_accounts()
        after = self._machine
        pairs = zip(own_before, self._own_cpu_s, strict=True)
        used = [later - earlier for earlier, later in pairs if earlier is not None and later is not None]
        counters, warnings = found
        return replace(
            seen,
            server=self._described,
            counters=counters,
            host_cpus=after.cpus if after else None,
            host_busy_s=(after.busy_ns - before.busy_ns) / 1e9 if after and before else None,
            host_steal_s=(after.steal_ns - before.steal_ns) / 1e9 if after and before else None,
            instrument=replace(seen.instrument, server_cpu_s=sum(used) if used else None),
            not_available=tuple(
                not_available(
                    self._server,
                    bool(self._totals["in_recovery"]),
                    self._reach.postmaster is not None,
                    self._reach.why_not_memory,
                )
            ),
            warnings=(*warnings, *filter(None, [self._stuck])),
        )
