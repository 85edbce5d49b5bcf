"""Redolab's hold on a schema of an Oracle: the connection that rules it, its tables, and the guard."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import oracledb

from redolab.engine.base import Introduction
from redolab.engine.oracle.connecting.connection import connect, fetch
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.own import guard_database
from redolab.engine.oracle.own.tables import MARKS, check_unclaimed, claim, drop_tables, schema_place
from redolab.engine.oracle.preflight.runs import check_for_runs, conditions
from redolab.engine.oracle.preflight.server import Server, identify
from redolab.engine.private.guarded_mark import NO_MARK, GuardedMark


class HeldServer:
    """One schema in Redolab's hands, from the first look at it to the last."""

    def __init__(self, target: Target) -> None:
        """Connect and look at the database; nothing is changed yet.

        Raises:
            RefusedError: the database cannot be reached, or too little can be seen of it.
        """
        self.target = target
        """Where the database is."""
        self.stop = threading.Event()
        """Once it is set, what takes long ends early."""
        self.control = self.connect("redolab run")
        try:
            self.server: Server = identify(self.control.connection, target)
            """The database's identity and properties."""
        except BaseException:
            self.control.close()
            raise
        self._guarded = GuardedMark(guard_database.__name__, MARKS)
        self._taken = False

    def connect(self, name: str) -> Statements:
        """Open a connection that the server shows under such a name.

        Raises:
            RefusedError: the database does not take it.
        """
        return Statements(connect(self.target, name, unlimited=True, stop=self.stop), self.stop)

    def check(self, combinations: Sequence[Mapping[str, str]]) -> None:
        """Make sure that a run is possible here; nothing is changed.

        Raises:
            RefusedError: it is not; the text says what mends it.
        """
        check_for_runs(self.control.connection, self.server, combinations)
        check_unclaimed(self.control, self._living(), MARKS.kept(), self._place)

    def introduction(self, log_bytes: int | None) -> Introduction:
        """The introduction of the database before anything is changed on it."""
        most = "" if log_bytes is None else f", at most {log_bytes / 1e9:,.1f} GB of it"
        part = f", container {self.server.container_name}" if self.server.container else ""
        return Introduction(
            f"Oracle {self.server.version_text} at {self.server.place}{part}, as the user {self.server.user}",
            (
                "The run changes no parameter of the instance: the mode is set in each commit, or in its "
                f"session. The run creates tables REDOLAB_% in the schema {self.server.user} and drops them "
                "again.",
                f"Everything that the run writes goes into the redo log{most}, and from there into archived "
                "logs and to standbys.",
                "Redolab's Oracle support was tested only against a replayed server, never on a live one.",
            ),
        )

    def conditions(self) -> list[str]:
        """Warnings about this database that a reader of its figures must know."""
        sentences = conditions(self.server, self.served_by().get(self.control.sid, ""))
        return sentences if self._guarded.mark_kept else [*sentences, NO_MARK]

    def served_by(self) -> dict[int, str]:
        """The kind of server process of each SID, as V$SESSION has it."""
        rows = fetch(self.control.connection, "select_sessions")
        return {int(row["sid"]): str(row["server"]) for row in rows}

    def take(self) -> None:
        """Drop what a killed run of this machine left; let a guard hold the schema, and claim it.

        Raises:
            RefusedError: another run is at work, the names are taken, or the guard cannot connect.
        """
        self.control.run("alter_patience")
        if check_unclaimed(self.control, self._living(), MARKS.kept(), self._place):
            drop_tables(self.control)
            self._forget_all()
        self._guarded.give(asdict(self.target), self._place)
        self._taken = True  # A statement that is broken off may have been done all the same.
        claim(self.control, self._guarded.mark)
        self._guarded.pids(hold=True)

    def epoch(self) -> str:
        """Changes with a restart of the instance."""
        if "select_instance" not in self.server.available:
            return ""
        return str(fetch(self.control.connection, "select_instance")[0]["started"])

    def ensure(self) -> None:
        """Connect again when the connection was lost.

        Raises:
            RefusedError: the database is not there.
        """
        self._guarded.renew()
        try:
            self.control.connection.ping()
        except oracledb.Error:
            self.control.close()
            self.control = self.connect("redolab run")
            self.server = identify(self.control.connection, self.target)
            self.control.run("alter_patience")
            self._guarded.pids(hold=True)

    def leave(self) -> None:
        """Drop the tables, and release the guard.

        Raises:
            RefusedError: one could not be dropped; the text says what is left to do.
        """
        if self._taken:
            # The present connection may have been broken off; the rest is done even if the run is to stop.
            self.control.close()
            self.stop = threading.Event()
            self.control = self.connect("redolab run")
            self.control.run("alter_patience")
            drop_tables(self.control)
            MARKS.forget(self._guarded.mark)
        self._guarded.release()

    def leave_to_guard(self) -> None:
        """Let the guard drop what is left, and do not wait for it."""
        self._guarded.leave_to_guard()

    def close(self) -> None:
        """Close the connection."""
        self.control.close()

    @property
    def _place(self) -> str:
        return schema_place(f"{self.target.place} {self.server.container_name}", self.server.user)

    def _living(self) -> set[tuple[int, int]]:
        rows = fetch(self.control.connection, "select_sessions")
        return {(int(row["sid"]), int(row["serial"])) for row in rows}

    def _forget_all(self) -> None:
        for mark, place in MARKS.kept().items():
            if place == self._place:
                MARKS.forget(mark)
