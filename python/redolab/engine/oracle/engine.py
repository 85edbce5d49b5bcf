"""Oracle, by connection: what its sessions do in each mode of COMMIT, and what its own accounts say of it.

How the schema is held and let go: `hold`. What a setting is there: `settings`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from redolab.engine.base import Engine, Introduction
from redolab.engine.oracle.account_watch import SOURCE, TICKS_PER_S, AccountWatch
from redolab.engine.oracle.connecting.driver_errors import as_engine_errors
from redolab.engine.oracle.connecting.target import read_target
from redolab.engine.oracle.hold import HeldServer
from redolab.engine.oracle.loads import OracleLoad, oracle_load
from redolab.engine.oracle.observer.reading import Reading, read
from redolab.engine.oracle.settings import setting_of
from redolab.engine.oracle.snapshots import scan_counters, snapshot_of
from redolab.engine.oracle.working import Working
from redolab.engine.private.probe import why_not_probed
from redolab.records.load import Amount, Load, check_pace, loop_of
from redolab.records.sample import ParameterChange, Setting, Snapshot, Work


class OracleEngine(Engine):
    """One Oracle database as an `Engine`."""

    @as_engine_errors()
    def __init__(self, target: str, seed: int) -> None:
        """Connect and look at the database; nothing is changed yet.

        Args:
            target: an `oracle://` URL.
            seed: of the numbers that sessions draw.

        Raises:
            UsageError: the URL cannot be read.
            RefusedError: the database cannot be reached, or no run is possible on it.
        """
        self._seed = seed
        self._stop = threading.Event()
        self._hold = HeldServer(read_target(target))
        self._load: OracleLoad | None = None
        self._loops: frozenset[str] = frozenset()
        self._sessions: Working | None = None

    @property
    def changes(self) -> list[ParameterChange]:
        """None: each commit says its mode, or the session that makes it, and that ends with the run."""
        return []

    def heed(self, stop: threading.Event) -> None:
        """End early whatever takes long, once `stop` is set."""
        self._stop = stop
        self._hold.stop = stop

    def sampler(self) -> Mapping[str, Any]:
        """Nothing: there is no sampler, and the server's own account is read in milliseconds."""
        return {"source": SOURCE, "rate_per_s": TICKS_PER_S}

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest."""
        server = self._hold.server
        return {
            "name": "oracle", "version": server.version_text, "local": False, "place": server.place,
            "emulated": {}, "log_filesystem": None, "container": server.container_name,
        }  # fmt: skip

    @as_engine_errors()
    def introduce(
        self,
        load: Load,  # noqa: ARG002
        combinations: Sequence[Mapping[str, str]],
        transaction_ids: int,  # noqa: ARG002
        log_bytes: int | None,
    ) -> Introduction:
        """Check what can be checked before anybody is asked, and say what an answer depends on."""
        self._hold.check(combinations)
        return self._hold.introduction(log_bytes)

    @as_engine_errors()
    def conditions(self) -> list[str]:
        """Warnings about this database that a reader of its figures must know."""
        return self._hold.conditions()

    def not_measured(self) -> list[str]:
        """Figures that are not available here, and why."""
        sentences = [f"{what[0].upper()}{what[1:]}: {why}." for what, why in self._hold.server.not_available]
        if "server" in self._loops:
            sentences.append("Commit times: a loop inside the server does not record them.")
        sentences.append("CPU of the log writer in each sample: Oracle publishes it up to 5 s late.")
        return [*sentences, *why_not_probed(None, local=False)]

    @as_engine_errors()
    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Check rights, make the tables and the sessions, and map the levels."""
        check_pace(load, combinations)
        self._hold.check(combinations)
        self._wanted = load
        self._loops = frozenset(loop_of(load, levels) for levels in combinations)
        made = oracle_load(load, self._hold.connect)
        self._hold.take()
        self._load = made
        made.create(self._hold.control)
        self._sessions = Working(
            self._hold.target, self._hold.connect, self._hold.served_by, load, combinations, self._seed
        )
        return tuple(setting_of(levels, load) for levels in combinations)

    @as_engine_errors()
    def apply(self, setting: Setting) -> None:
        """Take the setting's mode, sessions and rows."""
        self._hold.ensure()
        self._working().take(setting.levels)
        self._ready().apply(self._hold.control, setting.levels)

    @as_engine_errors()
    def settle(self) -> None:
        """Settle the load's tables."""
        self._ready().settle(self._hold.control)

    @as_engine_errors()
    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Let all sessions work."""
        done = self._working().run(self._ready(), amount, stop)
        return replace(done, units=self._wanted.units_of(done))

    @as_engine_errors()
    def snapshot(self) -> Snapshot:
        """Read every cumulative counter now."""
        reading, numbers = self._read(), self._working().numbers
        more: Mapping[str, float | None] = {}
        if self._ready().scans:
            more = scan_counters(self._hold.control.rows("select_session_statistics"), numbers)
        return snapshot_of(reading, numbers, self._hold.epoch(), more)

    def watch(self, in_turns_s: float = 0.0) -> AccountWatch:  # noqa: ARG002
        """Read the sessions' accounts before the load and after it: nothing is at work meanwhile."""
        return AccountWatch(self._read, self._working().numbers)

    @as_engine_errors()
    def close(self) -> None:
        """Leave nothing behind."""
        try:
            if self._load:
                self._load.close()
            if self._sessions:
                self._sessions.close()
            self._hold.leave()
        except BaseException:
            self._hold.leave_to_guard()
            raise
        finally:
            self._hold.close()

    def _read(self) -> Reading:
        return read(self._hold.control.connection, self._hold.server)

    def _ready(self) -> OracleLoad:
        assert self._load is not None, "prepare() comes first"
        return self._load

    def _working(self) -> Working:
        assert self._sessions is not None, "prepare() comes first"
        return self._sessions
