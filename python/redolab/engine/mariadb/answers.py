"""Rows as servers give them, held against what Redolab's own statements ask for.

The other end may not be a server at all. So a column that is missing, of another type, null where it cannot
be, negative or without end is one error, here, and whoever reads a row need not expect any of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn, SupportsIndex, overload

import pymysql
from pymysql.constants import CR
from pymysql.cursors import DictCursor

from redolab.bounds import MOST_DIGITS

_MOST_LETTERS = 4_096
_MOST_COUNT = 1 << 64
_MOST_ID = 1 << 63
_MOST_THREAD = 1 << 32
_FIGURE = re.compile(rf"\d{{1,{MOST_DIGITS}}}")
_STATUS = re.compile(r"\s*(--[^\n]*\n\s*)*show\s+global\s+status\b", re.IGNORECASE)


class StrangeAnswerError(pymysql.OperationalError):
    """The server's answer is not one to what was asked."""

    def __init__(self, what: str) -> None:
        """Say what is wrong with it."""
        super().__init__(CR.CR_MALFORMED_PACKET, what)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < _MOST_COUNT


def _is_id(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < _MOST_ID


def _is_thread(value: object) -> bool:
    return value is None or (isinstance(value, int) and 0 <= value < _MOST_THREAD)


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float | Decimal) and math.isfinite(value) and abs(float(value)) < _MOST_COUNT
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MOST_LETTERS


def _is_figure(value: object) -> bool:
    """A number as SHOW STATUS has it."""
    return isinstance(value, str) and _FIGURE.fullmatch(value) is not None


def _or_null(kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or kind(value)


_KINDS: Sequence[tuple[Callable[[object], bool], str]] = (
    (_is_id, "connection Id session entry last server_started"),
    (
        _is_count,
        "misc_n read_ps reads_n write_ps writes_n misc_ps databases contents odd_lists views triggers",
    ),
    (_is_count, "performance_schema log_bin port numbers waits_current counted"),
    (_is_thread, "thread"),
    (_is_number, "at_s total"),
    (_or_null(_is_count), "query it"),
    (
        _or_null(_is_number),
        "uptime_s server_commits server_rows log_bytes log_writes log_flushes binlog_groups",
    ),
    (_or_null(_is_number), "binlog_bytes binlog_flushes buffer_hits buffer_reads history_list_length"),
    (_or_null(_is_number), "log_write_time_s log_flush_time_s binlog_flush_time_s"),
    (_is_text, "version role kind name Variable_name parameter value_before seal"),
    (
        _or_null(_is_text),
        "comment comments lists definer hostname pid_file stage user host db command program",
    ),
    (_or_null(_is_text), "transaction User Host Command Value data"),
)
_COLUMNS = {name: kind for kind, names in _KINDS for name in names.split()}
"""The kind of each column in every statement of Redolab's own that has it; other columns are not checked."""


class Row(dict[str, Any]):
    """One row by the names of its columns."""

    def __missing__(self, column: str) -> NoReturn:
        """A column that was asked for is not there.

        Raises:
            StrangeAnswerError: always.
        """
        raise StrangeAnswerError(f"the server's answer does not have the column {column}")


class Rows(list[Any]):
    """All rows of an answer."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        """A row.

        Raises:
            StrangeAnswerError: there are not so many.
        """
        try:
            return super().__getitem__(place)
        except IndexError as error:
            raise StrangeAnswerError("the server's answer does not have the row asked for") from error


class RowCursor(DictCursor):
    """Gives rows of `Row`."""

    dict_type = Row


def number(value: object) -> float:
    """A value of a column whose name does not say that it is a number.

    Raises:
        StrangeAnswerError: it is not.
    """
    if isinstance(value, int | float | Decimal) and _is_number(value):
        return float(value)
    raise StrangeAnswerError("the server's answer has something else in the place of a number")


def _of_status(row: Mapping[str, Any]) -> Callable[[object], bool]:
    """The check of a value in a row of SHOW STATUS: a figure, or a switch where the name says so."""
    if str(row.get("Variable_name", "")).lower().endswith("_status"):
        return lambda value: value in ("ON", "OFF")
    return _is_figure


def checked(statement: str, rows: Sequence[Mapping[str, Any]]) -> Rows:
    """The rows of an answer, with every column that is known by name as it must be.

    Args:
        statement: what was asked.
        rows: what came.

    Raises:
        StrangeAnswerError: one is not.
    """
    of_status = _STATUS.match(statement) is not None
    for row in rows:
        if not row:
            raise StrangeAnswerError("the server's answer does not have a column")
        for column, value in row.items():
            kind = _of_status(row) if of_status and column == "Value" else _COLUMNS.get(column)
            if kind is not None and not kind(value):
                raise StrangeAnswerError(f"the server's answer has an impossible value for {column}")
    return Rows(rows)
