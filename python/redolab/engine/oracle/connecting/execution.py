"""Statements of a run over one connection, by the names of their files; they end when the run is to stop."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import oracledb

from redolab.engine.loops.unless_stopped import unless_stopped
from redolab.engine.oracle.connecting.connection import Connection, release
from redolab.engine.oracle.connecting.driver_errors import as_driver_errors
from redolab.engine.oracle.settings import MODES
from redolab.engine.oracle.statements import find

_PLACE = re.compile(r"\{(\w+)\}")
# The words that fit the places of a text: nothing that comes from outside gets into one.
_FITS: Mapping[str, Callable[[str], object]] = {
    "mode": lambda word: word in MODES,
    "wait": lambda word: word in ("WAIT", "NOWAIT"),
    "logging": lambda word: word in ("IMMEDIATE", "BATCH"),
    "number": re.compile(r"\d{1,5}").fullmatch,
    "table": re.compile(r"REDOLAB_[A-Z0-9_]{1,100}").fullmatch,
}
_Result = TypeVar("_Result")


class Statements:
    """Executes statements one after the other on a connection that nobody else uses meanwhile."""

    def __init__(self, connection: Connection, stop: threading.Event) -> None:
        """Take what to execute them on.

        Args:
            connection: open, without autocommit.
            stop: once it is set, the statement under way is broken off.
        """
        self.connection, self._stop = connection, stop
        self._release = release(connection)

    @property
    def sid(self) -> int:
        """Number of the session."""
        return self.connection.session_id

    @property
    def serial(self) -> int:
        """Serial number of the session: SID and serial number together name no other session."""
        return self.connection.serial_num

    def run(
        self, name: str, words: Mapping[str, str] | None = None, values: Mapping[str, Any] | None = None
    ) -> int:
        """Execute a statement; returns how many rows it touched. Nothing is committed, but by DDL.

        Args:
            name: of the statement, as its file begins.
            words: the words for the places of its text.
            values: bound.

        Raises:
            InterruptedRunError: the run is to stop.
        """

        def execute() -> int:
            with self.connection.cursor() as cursor:
                cursor.execute(self.text(name, words), dict(values or {}))
                return int(cursor.rowcount)

        return self._unless_stopped(execute)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Execute a query; its rows by column names in lower case.

        Raises:
            InterruptedRunError: the run is to stop.
        """

        def execute() -> list[dict[str, Any]]:
            with self.connection.cursor() as cursor:
                cursor.execute(self.text(name))
                names = [column[0].lower() for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor]

        return self._unless_stopped(execute)

    def call(
        self, name: str, words: Mapping[str, str], values: Mapping[str, Any], results: tuple[str, ...]
    ) -> dict[str, float]:
        """Execute a block, and wait for it however long it takes.

        Args:
            name: of the statement.
            words: the words for the places of its text.
            values: bound, for the block to read.
            results: the numbers that it gives back.

        Raises:
            oracledb.Error: it broke off.
        """
        with as_driver_errors(), self.connection.cursor() as cursor:
            variables = {result: cursor.var(oracledb.DB_TYPE_NUMBER) for result in results}
            cursor.execute(self.text(name, words), {**values, **variables})
            return {result: float(variable.getvalue() or 0) for result, variable in variables.items()}

    def text(self, name: str, words: Mapping[str, str] | None = None) -> str:
        """The text of a statement with its places filled.

        Raises:
            ValueError: a word does not fit its place.
        """
        return filled(find(name, self._release).text, words or {})

    def commit(self) -> None:
        """Commit what this connection did, however commits are made here."""
        self.connection.commit()

    def rollback(self) -> None:
        """Take back what this connection did."""
        self.connection.rollback()

    def cancel(self) -> None:
        """Break off what is under way, from another thread."""
        with suppress(oracledb.Error, OSError):
            self.connection.cancel()

    def abandon(self) -> None:
        """End the connection, whatever the server does about it."""
        self.connection.cut()

    def close(self) -> None:
        """Close it; never raises for one that is lost already."""
        with suppress(oracledb.Error, OSError):
            self.connection.close()

    def _unless_stopped(self, execute: Callable[[], _Result]) -> _Result:
        def as_usage_errors() -> _Result:
            with as_driver_errors():
                return execute()

        return unless_stopped(self._stop, as_usage_errors, self.cancel, abandon=self.abandon)


def filled(text: str, words: Mapping[str, str]) -> str:
    """A statement's text with its places filled.

    >>> filled("drop table {table} purge", {"table": "REDOLAB_ITEM"})
    'drop table REDOLAB_ITEM purge'

    Raises:
        ValueError: a word does not fit its place, or is missing.
    """

    def word(place: re.Match[str]) -> str:
        given = words.get(place[1], "")
        if not _FITS[place[1]](given):
            raise ValueError(f"{given!r} does not fit the place {place[1]}")
        return given

    return _PLACE.sub(word, text)
