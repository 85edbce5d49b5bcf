"""One session of a client: a process with a connection of its own, which works when it gets an order."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection as Wire
from multiprocessing.sharedctypes import Synchronized
from random import Random

import oracledb

from redolab import _core
from redolab.engine.oracle.clients.arrivals import moments
from redolab.engine.oracle.clients.task import Order, Told
from redolab.engine.oracle.connecting.connection import Connection, connect
from redolab.engine.oracle.connecting.driver_errors import error_text
from redolab.engine.oracle.connecting.execution import Statements
from redolab.engine.oracle.connecting.target import Target
from redolab.engine.oracle.settings import session_parameters
from redolab.errors import RefusedError


def serve(target: Target, name: str, number: int, wire: Wire, taken: Synchronized[int], parent: int) -> None:
    """Connect, and do what comes over `wire`, until it is closed.

    First the session's SID goes over it, or why there is none. Then each `Order` with the moment at which it
    begins is answered by a `Told`, and None by whether the connection is alive.

    Args:
        target: where to.
        name: what the server shows as the program at the other end.
        number: of the session, from 0.
        wire: to the process that gives the orders.
        taken: how many of the moments at which transactions are asked for are taken, by all sessions.
        parent: whose end ends this process.
    """
    _core.die_with_parent(parent)
    try:
        connection = connect(target, name, unlimited=True)
    except RefusedError as error:
        wire.send(str(error))
        return
    wire.send(connection.session_id)
    session = _Session(Statements(connection, threading.Event()), number, taken)
    while True:
        try:
            order: tuple[Order, float] | None = wire.recv()
        except EOFError:
            return
        if order is None:
            wire.send(_is_alive(connection))
        else:
            wire.send(session.work(*order))


def _is_alive(connection: Connection) -> bool:
    try:
        connection.ping()
    except oracledb.Error:
        return False
    return True


class _Session:
    """A connection at work."""

    def __init__(self, session: Statements, number: int, taken: Synchronized[int]) -> None:
        """Take what to work on, and what all sessions share."""
        self._session, self._number, self._taken = session, number, taken

    def work(self, order: Order, start_s: float) -> Told:
        """Do this session's part.

        Args:
            order: of all sessions.
            start_s: when all begin, by the clock that processes share.
        """
        report = Told()
        before_s = time.process_time()
        try:
            with self._session.connection.cursor() as cursor:
                transaction = _Transaction(self._session, cursor, order, self._number, report)
                _sleep_until(start_s)
                if order.task.arrival_rate_per_s is None:
                    self._in_a_row(order, transaction, report)
                else:
                    self._as_asked(order, start_s, transaction, report)
        except oracledb.Error as error:
            report.trouble = f"session {self._number + 1} died: {error_text(error)}"
        except RefusedError as error:
            report.trouble = f"session {self._number + 1}: {error}"
        report.cpu_s = time.process_time() - before_s
        return report

    def _in_a_row(self, order: Order, transaction: _Transaction, told: Told) -> None:
        share = order.amount.share(self._number, order.sessions)
        quota, limit_s = (math.inf, order.amount.seconds) if share is None else (share, math.inf)
        began_s = time.monotonic()
        while told.rows < quota and time.monotonic() < began_s + limit_s:
            transaction.commit()
            if order.task.pause_s:
                _sleep_until(min(time.monotonic() + order.task.pause_s, began_s + limit_s))
            told.elapsed_s = time.monotonic() - began_s

    def _as_asked(self, order: Order, start_s: float, transaction: _Transaction, told: Told) -> None:
        limit_s = math.inf if order.amount.units is not None else start_s + order.amount.seconds
        free_s = start_s
        drawn = 0
        schedule = moments(order)
        while time.monotonic() < limit_s:
            with self._taken.get_lock():
                place = self._taken.value
                self._taken.value += 1
            # Whoever is free takes the next moment; the others' are passed over.
            moment = next(islice(schedule, place - drawn, None), None)
            if moment is None:
                break
            drawn = place + 1
            at_s = start_s + moment
            _sleep_until(at_s)
            if at_s < free_s:
                told.waited += 1
            else:
                told.lags_ns.append(_ns(time.monotonic() - at_s))
            transaction.commit()
            free_s = time.monotonic()
            told.response_times_ns.append(_ns(free_s - at_s))
        told.elapsed_s = time.monotonic() - start_s


class _Transaction:
    """Its statements, their texts read once."""

    def __init__(
        self, session: Statements, cursor: oracledb.Cursor, order: Order, number: int, told: Told
    ) -> None:
        """Take what to do, and have the session's commits in their mode.

        Raises:
            RefusedError: the session does not commit so.
        """
        task = order.task
        self._cursor, self._told, self._rows = cursor, told, task.rows_per_commit
        self._row, self._values, self._range = session.text(task.row), dict(task.values), task.range_rows
        self._number, self._random = number, Random(order.seed + number)
        if task.scope == "session":
            _alter_session(session, task.mode)
            self._commit: Callable[[], object] = session.commit
        else:
            self._commit = partial(cursor.execute, session.text("commit_write", {"mode": task.mode}))
        if task.range_rows is None:
            self._values["session_no"] = number

    def commit(self) -> None:
        """All rows, and the commit."""
        report = self._told
        for place in range(self._rows):
            self._cursor.execute(self._row, {**self._values, "id": self._id(place)})
            report.failed += self._cursor.rowcount == 0
        before_s = time.monotonic()
        self._commit()
        report.commit_times_ns.append(_ns(time.monotonic() - before_s))
        report.commits += 1
        report.rows += self._rows

    def _id(self, place: int) -> int:
        if self._range is None:
            return self._told.rows + place
        return self._number * self._range + self._random.randrange(self._range)


def _alter_session(session: Statements, mode: str) -> None:
    wanted = session_parameters(mode)
    session.run("alter_commits", {"wait": wanted["COMMIT_WAIT"], "logging": wanted["COMMIT_LOGGING"]})
    parameters = {row["name"].upper(): str(row["value"]).upper() for row in session.rows("select_parameters")}
    for name, value in wanted.items():
        if parameters.get(name) != value:
            raise RefusedError(f"{name} is {parameters.get(name)} after ALTER SESSION SET, not {value}")


def _sleep_until(moment_s: float) -> None:
    left_s = moment_s - time.monotonic()
    if left_s > 0:
        time.sleep(left_s)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
