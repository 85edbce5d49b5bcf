"""MariaDB and MySQL, by connection: what their clients do under each setting, and what is read meanwhile.

How the server is held and let go: `hold`. What a setting is there: `settings`. What is read before and
after a sample: `snapshots`. How the server is described: `description`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pymysql

from redolab.dialect import innodb
from redolab.engine.base import Engine, Introduction, KillRecovery, MachineProbe
from redolab.engine.every_parameter import with_every_parameter
from redolab.engine.mariadb import crash, description
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection, fetch
from redolab.engine.mariadb.driver_errors import as_engine_errors
from redolab.engine.mariadb.hold import HeldServer
from redolab.engine.mariadb.loads import MariadbScans, mariadb_load
from redolab.engine.mariadb.observer.server import identify
from redolab.engine.mariadb.observer.source import RATE_PER_S, ThreadSource
from redolab.engine.mariadb.own.sessions import number_of
from redolab.engine.mariadb.parameters import Parameters, read_parameters
from redolab.engine.mariadb.private import PrivateServer
from redolab.engine.mariadb.sessions import ClientSessions, ScanSession, WorkingSessions
from redolab.engine.mariadb.settings import half_commit_us, setting_of
from redolab.engine.mariadb.snapshots import take_snapshot, threads_of
from redolab.engine.mariadb.statements import Statements
from redolab.engine.private.acknowledged import kill_and_compare
from redolab.engine.private.place import check_room
from redolab.engine.private.probe import probe
from redolab.engine.sampling.alternation import InTurns, SliceMark
from redolab.engine.server.load import ClientLoad, ServerLoad
from redolab.errors import RefusedError, UsageError
from redolab.records.design import SEEDS
from redolab.records.load import Amount, Load, Script, check_pace
from redolab.records.parameter_before import ParameterBefore
from redolab.records.sample import ParameterChange, Setting, Snapshot, Work


class MariaDBEngine(Engine):
    """One MariaDB or MySQL server as an `Engine`."""

    @as_engine_errors()
    def __init__(self, connector: Connector, own_server: PrivateServer | None, seed: int) -> None:
        """Connect and look at the server; nothing is changed yet.

        Args:
            connector: to the server.
            own_server: set when Redolab started the server itself.
            seed: of the wait sampler's gaps, and of the moments of arrivals.

        Raises:
            RefusedError: the server cannot be reached, or no run is possible on it.
        """
        self._connector, self._own, self._seed = connector, own_server, seed
        self._stop, self._hurry = threading.Event(), threading.Event()
        self._hold = HeldServer(connector, own_server)
        self._load: ServerLoad[Statements] | None = None
        self._sessions: WorkingSessions | None = None
        try:
            self._open_watcher()
        except BaseException:
            self._hold.close()
            raise

    @property
    def _control(self) -> Connection:
        return self._hold.connection

    @property
    def _server(self) -> Mapping[str, Any]:
        return self._hold.server

    def _statements(self) -> Statements:
        return Statements(self._control, lambda: self._connector.connect("redolab look"), self._stop)

    def _open_watcher(self) -> None:
        self._watcher = self._connector.connect("redolab sampler", read_only=True)
        self._watched = identify(self._watcher, self._connector.target)
        if self._own:
            # Which process it is need not be guessed here.
            self._watched = replace(self._watched, process=self._own.pid)

    def heed(self, stop: threading.Event) -> None:
        """End early whatever takes long, once `stop` is set."""
        self._stop = self._hold.stop = stop

    def heed_in_closing(self, hurry: threading.Event) -> None:
        """Wait for nobody in closing once `hurry` is set; the guard is left with what remains."""
        self._hurry = hurry

    def missing(self, levels: Mapping[str, str]) -> str | None:
        """Why this server has no such setting: one without a second log has no pause."""
        server = self._server
        return innodb.missing(levels, innodb.has_second_log(server), innodb.no_pause(server))

    @as_engine_errors()
    def introduce(
        self,
        load: Load,
        combinations: Sequence[Mapping[str, str]],
        transaction_ids: int,  # noqa: ARG002
        log_bytes: int | None,
    ) -> Introduction:
        """Check what can be checked before anybody is asked, and say what an answer depends on."""
        self._check_modes(combinations)
        return self._hold.introduce(self._parameter_names(load, combinations), log_bytes)

    @property
    def changes(self) -> list[ParameterChange]:
        """Every parameter change so far, in order."""
        return self._hold.parameters.changes if self._hold.parameters else []

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
        return {"source": self._watched.source, "rate_per_s": RATE_PER_S}

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest."""
        return description.describe(self._server, self._own, self._watched.process is not None)

    @as_engine_errors()
    def conditions(self) -> list[str]:
        """Warnings about this server that a reader of its figures must know."""
        return self._hold.conditions(self._watched.process)

    def not_measured(self) -> list[str]:
        """Figures that are not available here, and why."""
        return description.not_measured(self._server, self._watched, self._own)

    @as_engine_errors()
    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Check rights, make the database, the tables and the sessions, and map the levels."""
        check_pace(load, combinations)
        self._check_modes(combinations)
        self._wanted = load
        self._load = mariadb_load(load, self._connector, self._stop)
        names = self._parameter_names(load, combinations)
        self._hold.check_rights(names)
        if self._own is None and self._watched.process is not None:
            # A server's working directory is its data directory.
            check_room(
                Path(f"/proc/{self._watched.process}/cwd"), load.disk_bytes(None), "free some space there"
            )
        self._hold.make_schema()
        # What a killed run had left changed is put back by now.
        found = read_parameters(self._control, {*names, innodb.REDO, innodb.BINLOG})
        if isinstance(load, Script):
            self._hold.note_teardown(load.teardown)
            self._hold.planted.take_as_meant()
        control = self._statements()
        self._load.create(control)
        pause_us = half_commit_us(control)
        parameters = self._hold.change(names)
        if isinstance(self._load, MariadbScans):
            self._sessions = ScanSession(self._load)
        elif isinstance(self._load, ClientLoad):
            self._sessions = ClientSessions(self._connector, self._load, self._seed)
        before = {name: parameter.value for name, parameter in found.items()}
        self.parameters_before = [ParameterBefore(name, before[name]) for name in names]
        settings = [setting_of(levels, load, self._server, before, pause_us) for levels in combinations]
        complete = with_every_parameter(settings, before)
        parameters.plan(complete)
        return complete

    @as_engine_errors()
    def apply(self, setting: Setting) -> None:
        """Put a setting in force and verify it; a ledger has no sessions before its kill."""
        parameters, load = self._ready()
        parameters.foresee(setting)
        lost = self._hold.ensure()
        parameters.apply(setting)
        if lost:
            self._watcher.close()
            self._open_watcher()
        if self._sessions:
            self._sessions.resize(int(setting.levels.get("sessions", self._wanted.sessions)))
            self._hold.note_sessions(self._sessions.connections)
        if self._own and self._own.device and "log_device_ms" in setting.levels:
            self._own.device.take(float(setting.levels["log_device_ms"]) / 1000)
        load.apply(self._statements(), setting.levels)

    @as_engine_errors()
    def settle(self) -> None:
        """Settle the load's tables, and a server of Redolab's own too."""
        self._ready()[1].settle(self._statements())
        if self._own:
            self._statements().script(self._own.settling)

    def probe(self) -> MachineProbe:
        """How fast the machine of the server is at this moment."""
        return probe(self._own, local=self._watched.process is not None)

    @as_engine_errors()
    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Let all sessions work."""
        done = self._working().run(amount, stop)
        return replace(done, units=self._wanted.units_of(done))

    @as_engine_errors()
    def snapshot(self) -> Snapshot:
        """Read every cumulative counter now."""
        return take_snapshot(
            self._control,
            self._server,
            device=self._own.device if self._own else None,
            process=self._watched.process,
            helpers=self._own_connections(),
            watcher=self._watched.own_thread,
            sessions=self._working().connections,
            further=self._hold.columns(),
            check=self._hold.check,
        )

    def _own_connections(self) -> tuple[int, ...]:
        """Redolab's own connections, in addition to the working ones and the watcher's."""
        return (number_of(self._control), *self._hold.guard_pids())

    @as_engine_errors()
    def watch(self, in_turns_s: float = 0.0) -> InTurns:
        """Sample waits while the `with` block runs, in turns on and off over `in_turns_s` seconds."""
        self._seed = (self._seed + 1) % SEEDS
        working = self._working().connections
        return InTurns(self._begin_watching, self._edge, in_turns_s, self._seed, working)

    def _begin_watching(self) -> ThreadSource | None:
        """The source; None while the server is going down."""
        with suppress(pymysql.Error, OSError, RefusedError):
            if not self._watcher.open:
                self._open_watcher()
            own = threads_of(self._control, self._server, self._own_connections())
            return ThreadSource(self._watcher, self._watched, self._seed, own)
        return None

    def _edge(self) -> SliceMark | None:
        """The server's clock and its transactions that wrote; None when the connection is lost."""
        with suppress(pymysql.Error):
            version, flavour = self._server["version"], self._server["flavour"]
            row = fetch(self._control, "select_transactions", version, flavour)[0]
            return SliceMark(float(row["at_s"]), int(row["numbers"]))
        return None

    @as_engine_errors()
    def kill_and_recover(self, seconds: float, stop: threading.Event) -> KillRecovery:
        """Load, hard kill, recovery, count; only on a server of Redolab's own."""
        if self._own is None:
            raise UsageError(
                "The experiment durability kills the server hard, so it runs only against Redolab's own "
                "servers: leave --engine out, or name a private server."
            )
        connect = self._connector.connect
        control, recovery = kill_and_compare(
            self._own,
            [
                partial(crash.commit_and_note, number, connect(f"redolab session {number + 1}"))
                for number in range(self._wanted.sessions)
            ],
            lambda: connect("redolab control"),
            crash.present,
            seconds,
            stop,
        )
        self._hold.replace(control)
        self._open_watcher()
        self._statements().run("truncate table redolab.ledger")
        return recovery

    @as_engine_errors()
    def close(self) -> None:
        """Put every parameter back, verify it, and leave nothing behind."""
        try:
            if self._sessions:
                self._sessions.close()
            if self._load:
                self._load.close()
            if self._watcher.open:
                self._watcher.close()
            self._hold.leave(self._hurry)
        except BaseException:
            self._hold.leave_to_guard()
            raise
        finally:
            self._hold.close()

    def _check_modes(self, combinations: Sequence[Mapping[str, str]]) -> None:
        for levels in combinations:
            reason = self.missing(levels)
            if reason is not None:
                raise UsageError(f"{reason}. Leave that setting out with --settings.")

    def _parameter_names(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
        second = innodb.has_second_log(self._server)
        names = innodb.parameter_names(combinations, self._server["flavour"], second)
        brought = {name for levels in combinations for name in load.parameters(levels)}
        return (*dict.fromkeys((*names, *sorted(brought))),)

    def _ready(self) -> tuple[Parameters, ServerLoad[Statements]]:
        assert self._load is not None
        assert self._hold.parameters is not None, "prepare() comes first"
        return self._hold.parameters, self._load

    def _working(self) -> WorkingSessions:
        assert self._sessions is not None, "a ledger is written until the kill alone"
        return self._sessions
