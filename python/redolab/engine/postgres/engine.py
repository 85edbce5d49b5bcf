"""PostgreSQL 14 to 19, by connection: what its sessions do under each setting, and what is read meanwhile.

How the server is held and let go: `hold`. What a setting is there: `settings`. What is read before and
after a sample: `snapshots`. How the server is described: `description`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from redolab.engine.base import Engine, Introduction, KillRecovery, MachineProbe
from redolab.engine.every_parameter import with_every_parameter
from redolab.engine.postgres import crash, description
from redolab.engine.postgres.connecting.connection import Connection, Connector, fetch
from redolab.engine.postgres.connecting.driver_errors import as_engine_errors
from redolab.engine.postgres.hold import HeldServer
from redolab.engine.postgres.loads import PostgresLoad, postgres_load
from redolab.engine.postgres.parameters.alter_system import reload_first
from redolab.engine.postgres.parameters.before import Parameter
from redolab.engine.postgres.parameters.parameters import Parameters, goes_to_system
from redolab.engine.postgres.preflight.preflight import check_unclaimed, claim_database
from redolab.engine.postgres.preflight.replication import check_publications, check_unpublished, published
from redolab.engine.postgres.preflight.standbys import check_standbys
from redolab.engine.postgres.preflight.transaction_age import read_age
from redolab.engine.postgres.sessions.client import ClientSessions, check_client
from redolab.engine.postgres.sessions.server import Sessions
from redolab.engine.postgres.sessions.working import WorkingSessions, await_end
from redolab.engine.postgres.settings import half_flush_us, known_parameters, setting_of
from redolab.engine.postgres.snapshots import take_snapshot
from redolab.engine.postgres.waits import activity, memory
from redolab.engine.postgres.waits.activity import ActivitySource
from redolab.engine.postgres.waits.memory import MemorySource
from redolab.engine.postgres.waits.reach import find_reach
from redolab.engine.private.acknowledged import kill_and_compare
from redolab.engine.private.own_server import OwnServer
from redolab.engine.private.place import check_room
from redolab.engine.private.probe import probe
from redolab.engine.sampling.alternation import InTurns, SliceMark
from redolab.engine.server.recovery import LEFT
from redolab.errors import EngineError, UsageError
from redolab.records.design import SEEDS
from redolab.records.load import Amount, Ledger, Load, Script, check_pace, loop_of
from redolab.records.sample import ParameterChange, ServerClock, Setting, Snapshot, Work


class PostgresEngine(Engine):
    """One PostgreSQL server as an `Engine`."""

    @as_engine_errors()
    def __init__(self, connector: Connector, own_server: OwnServer | None, seed: int) -> None:
        """Connect and look at the server; nothing is changed yet.

        Args:
            connector: to the server.
            own_server: set when Redolab started the server itself.
            seed: of the wait sampler's gaps.

        Raises:
            RefusedError: the server cannot be reached, or no run is possible on it.
        """
        self._connector, self._own, self._seed = connector, own_server, seed
        self._hold = HeldServer(connector, own_server)
        try:
            self._find_processes()
        except psycopg.Error:
            self._control.close()
            raise
        self._load: PostgresLoad | None = None
        self._sessions: dict[str, WorkingSessions] = {}
        self._loop = "server"
        self._watcher: Connection | None = None
        self._per_transaction: Mapping[str, str] = {}
        self._stop, self._hurry = threading.Event(), threading.Event()
        self._published: frozenset[str] = frozenset()

    @property
    def _control(self) -> Connection:
        return self._hold.connection

    @property
    def _server(self) -> Mapping[str, Any]:
        return self._hold.server

    def heed(self, stop: threading.Event) -> None:
        """End early whatever takes long in preparing, once `stop` is set."""
        self._stop = self._hold.patience.stop = stop

    def heed_in_closing(self, hurry: threading.Event) -> None:
        """Wait for nobody in closing once `hurry` is set; the guard is left with what remains."""
        self._hurry = hurry

    @as_engine_errors()
    def introduce(
        self,
        load: Load,
        combinations: Sequence[Mapping[str, str]],
        transaction_ids: int,
        log_bytes: int | None,
    ) -> Introduction:
        """Check what can be checked before anybody is asked, and say what an answer depends on."""
        check_publications(self._control, self._server["database"])
        age = read_age(self._control)
        age.check(transaction_ids)
        left = check_unclaimed(self._control)
        if not left:
            check_standbys(self._control)
        parameters = self._known(load, combinations)
        system = [parameter for parameter in parameters.values() if goes_to_system(parameter, load.scope)]
        introduced = description.introduce(
            self._control, self._server, system, age.sentence(transaction_ids), log_bytes
        )
        return replace(introduced, notes=(LEFT, *introduced.notes)) if left else introduced

    def _find_processes(self) -> None:
        """Find the server's processes on this machine, and how their waits can be read."""
        self._reach = find_reach(self._control, self._server)
        self._postmaster = self._reach.postmaster

    @property
    def changes(self) -> list[ParameterChange]:
        """Every parameter change so far."""
        return self._hold.parameters.changes if self._hold.parameters else []

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest."""
        return description.describe(self._control, self._server, self._own, self._postmaster is not None)

    @as_engine_errors()
    def conditions(self) -> list[str]:
        """Warnings about this server that a reader of its figures must know."""
        return description.conditions(
            self._control, self._server, self._own, self._hold.mark_kept, self._reach.why_not_memory
        )

    @property
    def meanwhile(self) -> list[str]:
        """Sentences about connections that were lost."""
        return self._hold.meanwhile

    @property
    def farewell(self) -> str:
        """The sentence that everything is put back."""
        return self._hold.farewell

    def sampler(self) -> Mapping[str, Any]:
        """How wait events are read here, and how often."""
        if self._reach.why_not_memory:
            return {"source": "pg_stat_activity", "rate_per_s": activity.RATE_PER_S}
        return {"source": "server memory", "rate_per_s": memory.RATE_PER_S}

    def not_measured(self) -> list[str]:
        """Figures that are not available on this server, and why."""
        return description.not_measured(self._server, self._own, self._postmaster is not None)

    @as_engine_errors()
    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Check rights, make the schema, the rows and the sessions, and map the levels."""
        check_pace(load, combinations)
        self._load = postgres_load(load, self._connector, self._stop)
        if any(_loop_of(load, levels) == "client" for levels in combinations):
            check_client(self._load, self._control, self._connector)
        check_publications(self._control, self._server["database"])
        claim_database(self._control, self._connector)
        check_standbys(self._control)
        if self._own is None and self._postmaster is not None:
            # A postmaster's working directory is its data directory.
            check_room(Path(f"/proc/{self._postmaster}/cwd"), load.disk_bytes(None), "free some space there")
        known = self._known(load, combinations)
        self._hold.make_schema()
        if any(goes_to_system(parameter, load.scope) for parameter in known.values()):
            reload_first(self._control)
            known = self._known(load, combinations)
        self._create(load, self._load)
        self._note_publications(load)
        delay_us = half_flush_us(self._control)
        parameters = self._hold.change(known, load.scope)
        self.parameters_before = parameters.before
        self._wanted = load
        self._loop = _loop_of(load, combinations[0])
        self._sessions[self._loop] = self._connect()
        self._watcher = self._connector.connect("redolab sampler", read_only=True)
        before = {name: parameter.value for name, parameter in known.items()}
        settings = [
            setting_of(
                levels, parameters=parameters, server=self._server, delay_us=delay_us, before=before,
                brought=load.parameters(levels),
            )
            for levels in combinations
        ]  # fmt: skip
        complete = with_every_parameter(settings, before)
        parameters.plan(complete)
        return complete

    def _create(self, load: Load, made: PostgresLoad) -> None:
        """Make the load's rows; what a list makes is torn down at the end, unless it was not made at all."""
        if not isinstance(load, Script):
            made.create(self._control)
            return
        self._hold.note_teardown(load.teardown)
        try:
            made.create(self._control)
        except psycopg.Error:
            self._hold.note_teardown("")
            raise

    def _known(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> dict[str, Parameter]:
        return known_parameters(self._control, self._server, load, combinations)

    @as_engine_errors()
    def apply(self, setting: Setting) -> None:
        """Put a setting in force and verify that every session sees it."""
        sessions, parameters, load = self._ready()
        parameters.foresee(setting)
        self._ensure_control()
        parameters.apply_to_server(setting)
        check_unpublished(self._control, self._published)
        read_age(self._control).check_now()
        before = {pid for them in self._sessions.values() for pid in them.pids}
        count = int(setting.levels.get("sessions", self._wanted.sessions))
        loop = _loop_of(self._wanted, setting.levels)
        if loop != self._loop:
            sessions.resize(0)
            self._loop = loop
        if loop not in self._sessions:
            self._sessions[loop] = self._connect()
        sessions = self._sessions[loop]
        sessions.resize(count)
        sessions.replace_lost()
        await_end(self._control, before - set(sessions.pids))
        self._per_transaction = parameters.apply(setting, sessions)
        if self._own and self._own.device and "log_device_ms" in setting.levels:
            self._own.device.take(float(setting.levels["log_device_ms"]) / 1000)
        load.apply(self._control, setting.levels)
        self._note_publications(self._wanted)

    def _note_publications(self, load: Load) -> None:
        """Take publications that the user's own list made as meant."""
        if isinstance(load, Script):
            self._published = published(self._control)

    @as_engine_errors()
    def settle(self) -> None:
        """Settle the load's tables; checkpoint only a server of Redolab's own."""
        self._ready()[2].settle(self._control)
        if self._own:
            self._control.execute("checkpoint")

    def probe(self) -> MachineProbe:
        """How fast the machine of the server is at this moment."""
        return probe(self._own, local=self._postmaster is not None)

    @as_engine_errors()
    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Let all sessions work."""
        sessions, _, load = self._ready()
        done = sessions.run(load, amount, self._per_transaction, stop)
        return replace(done, units=self._wanted.units_of(done))

    @as_engine_errors()
    def snapshot(self) -> Snapshot:
        """Read every cumulative counter now."""
        sessions, *_ = self._ready()
        self._ensure_control()
        return take_snapshot(
            self._control,
            timed=self._server["track_wal_io_timing"] == "on",
            device=self._own.device if self._own else None,
            postmaster=self._postmaster,
            helpers=self._helper_pids(),
            watcher=_pids(self._watcher),
            session_pids=sessions.pids,
            clock=self._clock,
        )

    @as_engine_errors()
    def watch(self, in_turns_s: float = 0.0) -> InTurns:
        """Sample wait events while the `with` block runs, in turns on and off over `in_turns_s` seconds."""
        self._seed = (self._seed + 1) % SEEDS
        sessions, *_ = self._ready()
        return InTurns(self._begin_watching, self._edge, in_turns_s, self._seed, sessions.pids)

    @as_engine_errors()
    def _begin_watching(self) -> MemorySource | ActivitySource | None:
        """The source that this server allows; None while the server is going down."""
        if self._reach.memory is not None:
            with suppress(OSError):
                return MemorySource(*self._reach.memory, self._helper_pids(), self._seed)
            return None
        assert self._watcher is not None
        if self._watcher.closed:
            self._watcher = self._connector.connect("redolab sampler", read_only=True)
        return ActivitySource(self._watcher, self._postmaster, self._helper_pids(), self._seed)

    def _edge(self) -> SliceMark | None:
        """A mark, or None when the connection is lost."""
        with suppress(EngineError):
            return self._mark()
        return None

    def _clock(self) -> ServerClock:
        asked_s = time.monotonic()
        at_s = self._mark().at_s
        return ServerClock(asked_s, at_s, time.monotonic())

    @as_engine_errors()
    def _mark(self) -> SliceMark:
        row = fetch(self._control, "select_transactions")[0]
        return SliceMark(row["at_s"], row["transactions"])

    @as_engine_errors()
    def kill_and_recover(self, seconds: float, stop: threading.Event) -> KillRecovery:
        """Load, hard kill, recovery, count; only on a server of Redolab's own."""
        if self._own is None:
            raise UsageError(
                "The experiment durability kills the server hard, so it runs only against Redolab's own "
                "servers: leave --engine out, or use --engine embedded."
            )
        sessions, *_ = self._ready()
        assert isinstance(sessions, Sessions), "a ledger is written by psycopg's clients"
        control, recovery = kill_and_compare(
            self._own,
            [
                partial(crash.commit_and_note, number, session, self._per_transaction)
                for number, session in enumerate(sessions.connections)
            ],
            lambda: self._connector.connect("redolab control"),
            crash.present,
            seconds,
            stop,
        )
        self._hold.replace(control)
        self._control.execute("truncate redolab.ledger")
        return recovery

    @as_engine_errors()
    def close(self) -> None:
        """Put every parameter back, verify it, and leave nothing behind."""
        try:
            for sessions in self._sessions.values():
                sessions.close()
            if self._load:
                self._load.close()
            if self._watcher:
                self._watcher.close()
            self._hold.leave(self._hurry)
        except BaseException:
            self._hold.leave_to_guard()
            raise
        finally:
            self._hold.close()

    def _ensure_control(self) -> None:
        """Connect again when the connection was lost; the server's processes are others then."""
        if self._hold.ensure():
            self._find_processes()

    def _ready(self) -> tuple[WorkingSessions, Parameters, PostgresLoad]:
        assert self._load is not None
        assert self._hold.parameters is not None, "prepare() comes first"
        return self._sessions[self._loop], self._hold.parameters, self._load

    def _connect(self) -> WorkingSessions:
        """Sessions of the loop in force, as many as any setting has."""
        most = self._wanted.sessions
        if self._loop == "client":
            return ClientSessions(self._connector, self._control, most, self._seed)
        return Sessions(self._connector, most, self._stop)

    def _helper_pids(self) -> list[int]:
        return [*_pids(self._control, self._watcher), *self._hold.guard_pids()]


def _loop_of(load: Load, levels: Mapping[str, str]) -> str:
    """Where the sessions' loop runs; a ledger is written by psycopg's clients, whatever is asked."""
    return "server" if isinstance(load, Ledger) else loop_of(load, levels)


def _pids(*connections: Connection | None) -> list[int]:
    """The server processes of the connections that are open."""
    return [c.info.backend_pid for c in connections if c is not None and not c.closed]
