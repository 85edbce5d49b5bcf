"""PostgreSQL 14 to 18, by connection: the schema, the load, the settings and the counters."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg.pq import TransactionStatus

from redolab import _core
from redolab.dialect.commit_parameters import (
    commit_parameters,
    durability_tier,
    parameter_names,
)
from redolab.engine.base import Introduction, Recovery
from redolab.engine.linux.host_counters import host_counters
from redolab.engine.linux.local_server import find_postmaster
from redolab.engine.postgres import crash
from redolab.engine.postgres.connecting.connection import Connection, Connector, OwnConnection, fetch
from redolab.engine.postgres.connecting.patience import GUARD_WAIT_LIMIT_S, Patience
from redolab.engine.postgres.loads import PostgresLoad, postgres_load
from redolab.engine.postgres.own.marks import keep_mark, kept_marks, new_mark
from redolab.engine.postgres.own.recovery import recover
from redolab.engine.postgres.own.schema import make_schema
from redolab.engine.postgres.parameters.alter_system import reload_first
from redolab.engine.postgres.parameters.parameters import (
    Parameter,
    Parameters,
    check_reach,
    check_rights,
    goes_to_system,
    quoted,
    read_parameters,
)
from redolab.engine.postgres.parameters.pending_edits import pending_edits
from redolab.engine.postgres.preflight.preflight import (
    check_alone,
    check_server,
    check_unclaimed,
    check_writable,
    claim_database,
    server_conditions,
)
from redolab.engine.postgres.preflight.replication import (
    check_publications,
    check_unpublished,
    idle_slots,
    kept_log,
    published,
)
from redolab.engine.postgres.preflight.transaction_age import read_age
from redolab.engine.postgres.sessions.client import ClientSessions, check_client
from redolab.engine.postgres.sessions.counters import publish_counters
from redolab.engine.postgres.sessions.server import Sessions
from redolab.engine.postgres.sessions.working import WorkingSessions
from redolab.engine.postgres.waits import activity as watch
from redolab.engine.postgres.waits import memory as memory_watch
from redolab.engine.postgres.waits.activity import PgWatch
from redolab.engine.postgres.waits.events import event_names
from redolab.engine.postgres.waits.memory import MemoryWatch, why_not_readable
from redolab.engine.private.guard import Guard
from redolab.engine.private.log_device import LogDevice
from redolab.engine.private.place import check_room
from redolab.engine.sampling.alternation import InTurns, Mark
from redolab.errors import RefusedError, UsageError
from redolab.records.design import SEEDS
from redolab.records.load import Amount, Load, Script, check_pace, loop_of
from redolab.records.sample import (
    TIER_TEXT,
    ParameterChange,
    ServerClock,
    Setting,
    Snapshot,
    TaskAccount,
    Work,
)

_PROBES = 25
_RESTART_LIMIT_S = 60.0
_LEAVE_LIMIT_S = 10.0
_RETRY_S = 0.25
_COUNTERS = (
    "log_bytes",
    "log_full_page_images",
    "log_writes",
    "log_flushes",
    "log_write_time_s",
    "log_flush_time_s",
    "checkpoints",
    "vacuums",
    "server_rows",
    "buffer_hits",
    "buffer_reads",
)
_TIMES = ("log_write_time_s", "log_flush_time_s")


class OwnServer(crash.PrivateServer, Protocol):
    """A server Redolab started and will remove."""

    device: LogDevice | None
    log_filesystem: str | None

    def revive(self) -> None:
        """Start it again if it has ended."""
        ...

    def stop(self) -> None:
        """Stop it and remove its directory."""
        ...


class PostgresEngine:
    """One PostgreSQL server as an `Engine`."""

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
        self._patience = Patience(connector)
        self._control: Connection = self._connect_control()
        try:
            self._server = check_server(self._control)
            check_writable(self._control)
        except RefusedError:
            self._control.close()
            raise
        self._find_processes()
        self._guard: Guard | None = None
        self._load: PostgresLoad | None = None
        self._sessions: dict[str, WorkingSessions] = {}
        self._loop = "server"
        self._watcher: Connection | None = None
        self._parameters: Parameters | None = None
        self._per_transaction: Mapping[str, str] = {}
        self._stop, self._hurry = threading.Event(), threading.Event()
        self._published: frozenset[str] = frozenset()
        self._claimed = False
        self._schema_mark, self._mark_kept = new_mark(), True
        self._guard_pid: int | None = None
        self._gone = False

    def heed(self, stop: threading.Event) -> None:
        """End early whatever takes long in preparing, once `stop` is set."""
        self._stop = self._patience.stop = stop

    def heed_in_closing(self, hurry: threading.Event) -> None:
        """Wait for nobody in closing once `hurry` is set; the guard is left with what remains."""
        self._hurry = hurry

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
        check_unclaimed(self._control)
        known = self._known(load, combinations)
        info = self._control.info
        notes = [age.sentence(transaction_ids), *kept_log(idle_slots(self._control), log_bytes)]
        system = [p for p in known.values() if goes_to_system(p, load.scope)]
        if system:
            notes += pending_edits(self._control, quoted(self._server["role"]))
            notes += [
                f"{p.name} = {p.value} stands in postgresql.auto.conf, and is put back there."
                for p in system
                if p.in_auto_conf
            ]
        return Introduction(
            f"PostgreSQL {self._server['version'].split()[0]} at {_place(info)}, as the role "
            f"{self._server['role']}",
            tuple(notes),
        )

    def _find_processes(self) -> None:
        """Find the server's processes on this machine, and how their waits can be read."""
        self._postmaster = find_postmaster(self._server["pid"], self._server["backend_start_epoch_s"])
        self._names = event_names(self._server["version_num"] // 10_000)
        self._why_not_memory = (
            "the server is not on this machine"
            if self._postmaster is None
            else why_not_readable(self._postmaster, self._names)
        )

    @property
    def changes(self) -> list[ParameterChange]:
        """Every parameter change so far."""
        return self._parameters.changes if self._parameters else []

    def describe(self) -> Mapping[str, Any]:
        """The `engine` part of the manifest."""
        device = self._own.device if self._own else None
        return {
            "name": "embedded" if self._own else "postgresql",
            "version": self._server["version"].split()[0],
            "local": self._postmaster is not None,
            "place": "private server" if self._own else _place(self._control.info),
            "emulated": {"log_device_ms": device.delay_s * 1000} if device else {},
            "log_filesystem": self._own.log_filesystem if self._own else None,
            **{k: self._server[k] for k in ("fsync", "full_page_writes", "wal_sync_method")},
        }

    def conditions(self) -> list[str]:
        """Warnings about this server that a reader of its figures must know."""
        found = server_conditions(
            self._control, self._server, self._own.log_filesystem if self._own else None
        )
        if not self._mark_kept:
            found.append(
                "The mark of Redolab's schema could not be kept on this machine. If this run and its guard "
                "are both killed, the server is to be put back by hand (docs/guide/own-server.md)."
            )
        found += kept_log(idle_slots(self._control))
        if self._why_not_memory:
            found.append(
                f"Wait events come from pg_stat_activity, because {self._why_not_memory}: waits of "
                "some 50 us are divided badly (docs/explanation/method.md)."
            )
        return found

    def sampler(self) -> Mapping[str, Any]:
        """How wait events are read here, and how often."""
        if self._why_not_memory:
            return {"source": "pg_stat_activity", "rate_per_s": watch.RATE_PER_S}
        return {"source": "server memory", "rate_per_s": memory_watch.RATE_PER_S}

    def not_measured(self) -> list[str]:
        """What cannot be had on this server, and why."""
        missing = []
        if self._postmaster is None:
            missing.append(
                "CPU and run-queue time: the server's processes are not visible on this machine, so "
                "the kernel's accounts cannot be read. Run Redolab on the server's host to have them."
            )
        if self._server["track_wal_io_timing"] != "on":
            missing.append(
                "Time of log writes and flushes: track_wal_io_timing is off on this server. "
                "ALTER SYSTEM SET track_wal_io_timing = on and a reload would give it."
            )
        if not self._server["may_read_stats"]:
            missing.append(
                "Waits of background processes: hidden from this role. "
                f"GRANT pg_read_all_stats TO {quoted(self._server['role'])} would show them."
            )
        return missing

    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Check rights, make the schema, the rows and the sessions, and map the levels."""
        check_pace(load, combinations)
        self._load = postgres_load(load, self._connector, self._stop)
        if any(loop_of(load, levels) == "client" for levels in combinations):
            check_client(self._load, self._control, self._connector)
        check_publications(self._control, self._server["database"])
        claim_database(self._control, self._connector)
        if self._own is None and self._postmaster is not None:
            # A postmaster's working directory is its data directory.
            check_room(Path(f"/proc/{self._postmaster}/cwd"), load.disk_bytes(None), "free some space there")
        known = self._known(load, combinations)
        self._make_schema()
        if any(goes_to_system(parameter, load.scope) for parameter in known.values()):
            reload_first(self._control)
            known = self._known(load, combinations)
        self._load.create(self._control)
        self._note_publications(load)
        delay_us = self._half_flush_us()
        self._parameters = Parameters(self._control, known, load.scope)
        self._wanted = load
        self._loop = loop_of(load, combinations[0])
        self._sessions[self._loop] = self._connect()
        self._watcher = self._connector.connect("redolab sampler")
        before = {name: parameter.value for name, parameter in known.items()}
        return tuple(
            self._setting(levels, delay_us, before, load.parameters(levels)) for levels in combinations
        )

    def _known(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> dict[str, Parameter]:
        """The parameters that the settings need, which this role may change and which nothing overrides.

        Raises:
            UsageError: the server has no such parameter.
            RefusedError: a right is missing, or something overrides one.
        """
        brought = {name for levels in combinations for name in load.parameters(levels)}
        names = (*parameter_names(combinations), *sorted(brought))
        known = read_parameters(self._control, names)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UsageError(f"This server has no parameter {', '.join(unknown)}.")
        check_rights(known, load.scope, self._server)
        check_reach(known, load.scope)
        return known

    def _make_schema(self) -> None:
        if self._own is None:
            self._guard = Guard.for_database(dict(self._connector.parameters))
            self._guard_pid = self._guard.ask({"mark": self._schema_mark}).get("pid")
            self._mark_kept = keep_mark(self._schema_mark, self._control.info.dbname)
        self._claimed = True  # A statement that is broken off may have been done all the same.
        make_schema(self._control, self._schema_mark)

    def apply(self, setting: Setting) -> None:
        """Put a setting in force and verify that every session sees it."""
        sessions, parameters, load = self._ready()
        self._ensure_control(_RESTART_LIMIT_S)
        check_unpublished(self._control, self._published)
        read_age(self._control).check_now()
        before = {pid for them in self._sessions.values() for pid in them.pids}
        count = int(setting.levels.get("sessions", self._wanted.sessions))
        loop = loop_of(self._wanted, setting.levels)
        if loop != self._loop:
            sessions.resize(0)
            self._loop = loop
        if loop not in self._sessions:
            self._sessions[loop] = self._connect()
        sessions = self._sessions[loop]
        sessions.resize(count)
        sessions.replace_lost()
        self._await_end(before - set(sessions.pids))
        self._per_transaction = parameters.apply(setting, sessions)
        if self._own and self._own.device and "log_device_ms" in setting.levels:
            self._own.device.take(float(setting.levels["log_device_ms"]) / 1000)
        load.apply(self._control, setting.levels)
        self._note_publications(self._wanted)

    def _note_publications(self, load: Load) -> None:
        """Take publications that the user's own list made as meant."""
        if isinstance(load, Script):
            self._published = published(self._control)

    def settle(self) -> None:
        """Settle the load's tables; checkpoint only a server of Redolab's own."""
        self._ready()[2].settle(self._control)
        if self._own:
            self._control.execute("checkpoint")

    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Let all sessions work."""
        sessions, _, load = self._ready()
        done = sessions.run(load, amount, self._per_transaction, stop)
        return replace(done, units=self._wanted.units_of(done))

    def snapshot(self) -> Snapshot:
        """Read every cumulative counter now."""
        sessions, *_ = self._ready()
        self._ensure_control(_RESTART_LIMIT_S)
        row = fetch(self._control, "select_counters")[0]
        counters: dict[str, float | None] = {name: row[name] for name in _COUNTERS}
        if self._server["track_wal_io_timing"] != "on":
            counters |= dict.fromkeys(_TIMES)
        if self._own and self._own.device:
            device = self._own.device.counters()
            counters |= {
                "device_flushes": device.flushes,
                "device_requested_s": device.requested_s,
                "device_delivered_s": device.delivered_s,
            }
        tasks, reaped_cpu_ns = None, None
        if self._postmaster is not None:
            counters |= host_counters()
            with suppress(OSError):  # The server is just going down: no account of this sample.
                read = _core.server_tasks(self._postmaster)
                helpers = set(self._helper_pids())
                tasks = tuple(
                    TaskAccount(t.pid, t.kind, t.start_ticks, t.cpu_ns, t.run_queue_ns)
                    for t in read.tasks
                    if t.pid not in helpers
                )
                watcher = _pids(self._watcher)
                counters["sampler_cpu_s"] = sum(t.cpu_ns for t in read.tasks if t.pid in watcher) / 1e9
                reaped_cpu_ns = read.reaped_cpu_ns
        return Snapshot(
            time.monotonic(), row["epoch"], counters, tasks, reaped_cpu_ns, sessions.pids, self._clock()
        )

    def watch(self, in_turns_s: float = 0.0) -> InTurns:
        """Sample wait events while the `with` block runs, in turns on and off over `in_turns_s` seconds."""
        self._seed = (self._seed + 1) % SEEDS
        return InTurns(self._sampler_here(), self._mark, in_turns_s, self._seed)

    def _sampler_here(self) -> PgWatch | MemoryWatch:
        sessions, *_ = self._ready()
        if self._postmaster is not None and self._names is not None and not self._why_not_memory:
            return MemoryWatch(self._postmaster, self._names, self._helper_pids(), sessions.pids, self._seed)
        assert self._watcher is not None
        if self._watcher.closed:
            self._watcher = self._connector.connect("redolab sampler")
        return PgWatch(
            self._watcher,
            self._helper_pids(),
            sessions.pids,
            self._postmaster is not None,
            self._seed,
        )

    def _clock(self) -> ServerClock:
        asked_s = time.monotonic()
        at_s = self._mark().at_s
        return ServerClock(asked_s, at_s, time.monotonic())

    def _mark(self) -> Mark:
        row = fetch(self._control, "select_transactions")[0]
        return Mark(row["at_s"], row["transactions"])

    def kill_and_recover(self, seconds: float, stop: threading.Event) -> Recovery:
        """Load, hard kill, recovery, count; only on a server of Redolab's own."""
        if self._own is None:
            raise UsageError(
                "durability kills the server hard, so it runs only against Redolab's own: leave "
                "--engine out, or say --engine embedded."
            )
        sessions, parameters, _ = self._ready()
        assert isinstance(sessions, Sessions), "a ledger is written by psycopg's clients"
        noted, killed_at, load_s = crash.load_and_crash(
            self._own, sessions.connections, self._per_transaction, seconds, stop
        )
        self._control.close()
        self._control, recovery = crash.recover_and_compare(
            self._own, self._connector, noted, killed_at, load_s
        )
        parameters.lost_sessions(self._control)
        self._control.execute("truncate redolab.ledger")
        return recovery

    def close(self) -> None:
        """Put every parameter back, verify it, and leave nothing behind."""
        try:
            for sessions in self._sessions.values():
                sessions.close()
            if self._load:
                self._load.close()
            if self._watcher:
                self._watcher.close()
            if self._claimed and self._own is None:
                self._leave_database()
            if self._guard:
                self._guard.release()
        except BaseException:
            if self._guard:
                self._guard.leave_to_it()
            raise
        finally:
            self._control.close()
            if self._own:
                self._own.stop()

    def _ensure_control(self, limit_s: float) -> None:
        """Connect again when the connection was lost; wait while the server is starting."""
        try:
            self._control.execute("select 1")
            return
        except psycopg.OperationalError:
            self._control.close()
        give_up = time.monotonic() + limit_s
        while self._control.closed:
            if self._own:
                self._own.revive()
            try:
                self._control = self._connect_control()
            except RefusedError:
                self._gone = self._gone or time.monotonic() > give_up
                if self._gone:
                    raise
                time.sleep(_RETRY_S)
        # The server may not know yet that the old connection is dead, which has the lock.
        self._control.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where pid = %s "
            "and usename = current_user and application_name = 'redolab control'",
            (self._server["pid"],),
        )
        check_alone(self._control, self._guard_pids(hold=True))
        if self._parameters:
            self._parameters.lost_sessions(self._control)
        self._server |= check_server(self._control)
        self._find_processes()

    def _connect_control(self) -> OwnConnection:
        control = self._connector.connect("redolab control")
        control.patience = self._patience
        return control

    def _guard_pids(self, hold: bool = False) -> list[int]:
        """The server process of the guard's connection; made anew where a restart ended it, with `hold`."""
        if hold and self._guard:
            self._guard_pid = self._guard.ask({"hold": True}).get("pid")
        return [] if self._guard_pid is None else [self._guard_pid]

    def _leave_database(self) -> None:
        self._patience.stop = self._hurry
        if self._control.info.transaction_status != TransactionStatus.IDLE:
            self._control.close()  # A statement was broken off.
        try:
            self._ensure_control(_LEAVE_LIMIT_S)
        except RefusedError as error:
            raise RefusedError(
                f"What Redolab changed on the server could not be put back: {error} The next run on that "
                "server, from this user and machine, puts it back first, from the list in "
                "redolab.parameter_journal."
            ) from error
        try:
            recover(self._control, kept_marks().keys() | {self._schema_mark})
        except RefusedError as error:
            raise RefusedError(
                f"{error} Redolab's guard goes on trying for {GUARD_WAIT_LIMIT_S / 60:.0f} minutes."
            ) from error
        if self._parameters:
            self._parameters.restored()

    def _ready(self) -> tuple[WorkingSessions, Parameters, PostgresLoad]:
        assert self._load is not None
        assert self._parameters is not None, "prepare() comes first"
        return self._sessions[self._loop], self._parameters, self._load

    def _connect(self) -> WorkingSessions:
        """Sessions of the loop in force, as many as any setting has."""
        most = self._wanted.sessions
        if self._loop == "client":
            return ClientSessions(self._connector, self._control, most, self._seed)
        return Sessions(self._connector, most, self._stop)

    def _await_end(self, pids: set[int]) -> None:
        """Wait until these server processes have ended: what they still do would be in the sample."""
        give_up = time.monotonic() + _LEAVE_LIMIT_S
        while pids and time.monotonic() < give_up:
            row = self._control.execute(
                "select count(*) as alive from pg_stat_activity where pid = any(%s)", (list(pids),)
            ).fetchone()
            if row is None or row["alive"] == 0:
                return
            time.sleep(_RETRY_S / 10)

    def _helper_pids(self) -> list[int]:
        return [*_pids(self._control, self._watcher), *self._guard_pids()]

    def _half_flush_us(self) -> int:
        """Half the median time of a lone commit, microseconds: the manual's starting commit_delay."""
        times = []
        self._control.execute("set synchronous_commit = on")
        for _ in range(_PROBES):
            started = time.perf_counter()
            self._control.execute("update redolab.probe set value = value + 1")
            times.append(time.perf_counter() - started)
        self._control.execute("reset synchronous_commit")
        publish_counters(self._control)
        return min(100_000, max(10, round(statistics.median(times) / 2 * 1e5) * 10))

    def _setting(
        self,
        levels: Mapping[str, str],
        delay_us: int,
        before: Mapping[str, str],
        brought: Mapping[str, str],
    ) -> Setting:
        _, parameters, _ = self._ready()
        values = commit_parameters(levels, delay_us, before) | {
            name: parameters.as_shown(name, value) for name, value in brought.items()
        }
        commit = values.get("synchronous_commit", self._server["synchronous_commit"])
        tier = durability_tier(
            "nowait" if commit == "off" else "wait",
            self._server["fsync"] == "on",
            bool(self._server["synchronous_standby_names"]),
        )
        return Setting(
            "/".join(levels.values()),
            levels,
            values,
            {name: parameters.reach(name) for name in values},
            tier,
            TIER_TEXT[tier],
        )


def _place(info: psycopg.ConnectionInfo) -> str:
    """Host, port and database as really connected, whatever URL, environment or service file said."""
    return f"{info.host}:{info.port}, database {info.dbname}"


def _pids(*connections: Connection | None) -> list[int]:
    """The server processes of the connections that are open."""
    return [c.info.backend_pid for c in connections if c is not None and not c.closed]
