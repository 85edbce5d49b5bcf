"""Redolab's hold on a MariaDB or MySQL: the connection that rules it, the lock, the guard, the way back."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymysql

from redolab.engine.base import Introduction
from redolab.engine.linux.local_server import filesystem
from redolab.engine.loops.unless_stopped import unless_stopped
from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection, address, ask
from redolab.engine.mariadb.own import guard_database, planted
from redolab.engine.mariadb.own.journal import Journal
from redolab.engine.mariadb.own.recovery import MariadbRecovery
from redolab.engine.mariadb.own.schema import MARKS, make_database, server_place
from redolab.engine.mariadb.own.server_lock import RUN, MariadbLock
from redolab.engine.mariadb.own.sessions import end, note_sessions, number_of, started_at
from redolab.engine.mariadb.parameters import Parameters, read_parameters
from redolab.engine.mariadb.preflight.claim import check_unclaimed, claim_server
from redolab.engine.mariadb.preflight.conditions import server_conditions
from redolab.engine.mariadb.preflight.introduction import introduction
from redolab.engine.mariadb.preflight.rights import check_rights
from redolab.engine.mariadb.preflight.semi_sync import check_semi_sync
from redolab.engine.mariadb.preflight.server import check_server
from redolab.engine.mariadb.preflight.strangers import check_strangers, unseen
from redolab.engine.private.guarded_mark import NO_MARK, GuardedMark
from redolab.engine.private.own_server import OwnServer
from redolab.engine.server import hold
from redolab.engine.server.planted import Planted
from redolab.engine.server.recovery import LEFT, Finished


class HeldServer(hold.HeldServer[Connection]):
    """One server in Redolab's hands, from the first look at it to the last."""

    lost = (pymysql.Error, OSError)
    parameters: Parameters | None = None
    """The parameters that are changed on the server; None before `prepare`."""

    def __init__(self, connector: Connector, own_server: OwnServer | None) -> None:
        """Connect and look at the server; nothing is changed yet.

        Args:
            connector: to the server.
            own_server: set when Redolab started the server itself.

        Raises:
            RefusedError: the server cannot be reached, or no run is possible on it.
        """
        self._connector = connector
        super().__init__(GuardedMark(guard_database.__name__, MARKS), own_server)
        try:
            self.server: dict[str, Any] = check_server(self.connection, connector.place)
            """The server's identity and properties."""
        except BaseException:
            self.connection.close()
            raise
        self.journal = None if own_server else Journal(self._guarded.mark)
        """Where parameters are noted before they are changed; None on a server of Redolab's own."""
        self.planted = Planted(planted.MEND)
        """The objects in the database other than tables."""
        self.stop = threading.Event()
        """Once it is set, nobody is waited for in making the database."""
        self._noted: set[int] = set()
        self._number = number_of(self.connection)

    def introduce(self, parameters: Collection[str], log_bytes: int | None) -> Introduction:
        """Check what can be checked before anybody is asked, and say what an answer depends on.

        Args:
            parameters: those of the whole server that the run changes.
            log_bytes: how much log it writes at most; None where the user's own statements decide it.

        Raises:
            RefusedError: no such run is possible there.
        """
        current = read_parameters(self.connection, parameters)
        self.check_rights(parameters)
        left = check_unclaimed(self.connection)
        if not left:
            check_semi_sync(self.connection, self.server)
        introduced = introduction(self.connection, self.server, current, log_bytes)
        note = unseen(self.connection)
        return replace(
            introduced, notes=(*((LEFT,) if left else ()), *introduced.notes, *((note,) if note else ()))
        )

    def check_rights(self, parameters: Collection[str]) -> None:
        """Make sure that this user may make the database and change these parameters, and others not.

        Raises:
            RefusedError: it is not so; the text has every GRANT that is lacking, or whose is one too many.
        """
        if self._own is None:
            check_rights(self.connection, self.server, parameters)
            check_strangers(self.connection, self.server)

    def conditions(self, process: int | None = None) -> list[str]:
        """Warnings about this server that a reader of its figures must know.

        Args:
            process: the server's, where it is on this machine.
        """
        place = Path(f"/proc/{process}/cwd")
        # A server's working directory is its data directory.
        under = filesystem(place) if process is not None else None
        sentences = server_conditions(
            self.connection, self.server, self._own.log_filesystem if self._own else under
        )
        return sentences if self._guarded.mark_kept else [*sentences, NO_MARK]

    def make_schema(self) -> None:
        """Take somebody's server and let a guard hold it too; then make the database, which bears a mark.

        Raises:
            RefusedError: another run is at work, the name is taken, something that a killed run left cannot
                be put back, or the guard cannot connect.
            InterruptedRunError: `stop` was set before the server was taken.
        """
        if self._own:
            ask(self.connection, "create database redolab")
            return
        # What a killed run left may be locked by somebody.
        unless_stopped(self.stop, lambda: claim_server(self.connection, self._connector), self._cancel)
        self._guarded.give(self._connector.parameters, server_place(self.connection))
        self._claimed = True  # A statement that is broken off may have been done all the same.
        make_database(self.connection, self._guarded.mark)
        self._guarded.keep(
            replace(
                self._guarded.kept,
                server=server_place(self.connection),
                address=address(self.connection),
                started=started_at(self.connection),
            )
        )
        self.note_sessions([])

    def note_sessions(self, connections: Collection[int]) -> None:
        """Note the run's working connections, so that whoever cleans up after a kill ends them first."""
        wanted = {number_of(self.connection), *connections}
        if self._claimed and wanted != self._noted:
            self._guarded.keep(replace(self._guarded.kept, sessions=tuple(sorted(wanted))))
            note_sessions(self.connection, wanted)
            self._noted = wanted

    def note_teardown(self, statements: str) -> None:
        """Note what a list wants executed at the end; a server of Redolab's own is removed as it is."""
        if self.journal and statements.strip():
            self._guarded.keep(replace(self._guarded.kept, teardown=statements))
            self.journal.note_teardown(self.connection, statements)

    def change(self, known: Collection[str]) -> Parameters:
        """Be ready to change these parameters, which are read now."""
        current = read_parameters(self.connection, known)
        self.parameters = Parameters(self.connection, current, self._guarded, self.journal)
        return self.parameters

    def open(self) -> Connection:
        """Open a connection that rules the server."""
        return self._connector.connect("redolab control")

    def look(self) -> None:
        """Ask in one statement what the server must still say."""
        self.check(ask(self.connection, f"select {', '.join(['1', *self.columns()])}")[0])

    def columns(self) -> list[str]:
        """Columns of a SELECT that read what `check` needs; none where there is nothing to check."""
        if self._own or self.parameters is None:
            return []
        counted = [f"{column} as `{kind}`" for kind, column in planted.COUNTED.items()]
        return [*self.parameters.look(), *counted]

    def check(self, row: Mapping[str, object]) -> None:
        """Make sure that what the run set is still in force, and that nobody planted anything.

        Args:
            row: what `columns` gave.

        Raises:
            RefusedError: somebody changed it.
        """
        if self._own is None and self.parameters:
            self.parameters.check(row)
            self.planted.check({kind: int(str(row[kind])) for kind in planted.COUNTED})

    def take_over(self, connection: Connection, *, leaving: bool) -> None:
        """Take the lock again."""
        lock = MariadbLock(connection)
        if self._own is None and lock.holder_of(RUN) == self._number:
            end(connection, self._number)  # The server does not know yet that the old one is dead.
        self.connection, self._number = connection, number_of(connection)
        if self._claimed:
            lock.take_for_run(self.guard_pids(hold=True))
        if leaving:
            return
        if self.parameters:
            self.parameters.connected_again(connection, self.recovery().restarted(self._guarded.kept))
            if self._claimed and self.parameters.as_before:
                # What the run sets from here on, it sets in this life of the server.
                self._guarded.keep(replace(self._guarded.kept, started=started_at(connection)))
        self.server |= check_server(connection, self._connector.place)

    def close_connection(self) -> None:
        """Close the connection."""
        with suppress(pymysql.Error, OSError):
            if self.connection.open:
                self.connection.close()

    def recovery(self) -> MariadbRecovery:
        """The recovery that puts this server back."""
        return MariadbRecovery(self.connection, self._connector, self._guarded.proofs())

    def put_back(self, hurry: threading.Event) -> Finished:
        """In a thread, so that it can be broken off."""
        return unless_stopped(hurry, lambda: self.recovery().finish(self._guarded.kept), self._cancel)

    def _cancel(self) -> None:
        """Break off what the connection is asked."""
        with self._connector.connect("redolab look") as helper:
            ask(helper, "kill query %s", self._number)
