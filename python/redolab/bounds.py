"""How much may come from outside: the one place that says it, of files and of servers, and counts it.

A bound is for the whole: of a file, of one answer, of one log-in. A limit for each read, as drivers have it,
is none, since whoever sends one byte before each of them has no end.
"""

from __future__ import annotations

import time
from collections.abc import Callable

# Files.
MOST_JSON_BYTES = 64 << 20
MOST_TOML_BYTES = 1 << 20
MOST_TABLE_BYTES = 256 << 20
"""Of a Parquet file."""
MOST_DECODED_BYTES = 768 << 20
"""Of one table, in memory."""
MOST_REPORT_BYTES = 64 << 20
"""Of a database's report; the largest known have a tenth of it."""
MOST_PIPED_BYTES = 1 << 30
"""Of a column of numbers that comes through a pipe, which is read into memory whole."""
MEMORY_PER_VALUE = 72
"""Bytes of memory that an analysis takes for each row of a file of numbers; measured with 90 million."""
MOST_FILE_COLUMNS = 16_384
"""Of a file of numbers; no spreadsheet has more."""
MOST_LINE = 1 << 20
"""Letters of one line of a file of numbers."""
MOST_COUNTED = 20_000_000
"""Values of a histogram, which are analysed one by one."""
MOST_ECHO = 10_000
"""Letters of a text that is said to a person; of a longer one both ends are shown."""
MOST_LINES = 1_000_000
"""Of a database's report in text; 30 days of snapshots by AWR-Miner have half of it."""
MOST_TABLES = 10_000
"""Of one report; the largest known have 150."""
MOST_NESTED_TABLES = 20
"""Inside one another; a report has two."""
MOST_INSTANCES = 1_000
"""Of the database that reports are of; a cluster has at most some hundred."""
MOST_FIGURES = 50_000
"""Of one report; the largest known have some thousand."""
MOST_CELLS = 4_000_000
"""Columns times rows, of all tables of one report together; the largest known have some 20,000."""
MOST_ITEMS = 4_000_000
"""Values in one JSON text."""
MOST_NESTED = 60
"""Objects and arrays inside one another; what Redolab writes has a dozen."""
MOST_DIGITS = 20
"""Of a whole number in a text; 64 bits have as many."""
MOST_NAME = 1 << 16
"""Bytes of a text inside a table."""

# Servers.
MOST_LOG_IN_S = 30.0
"""Of one log-in as a whole, whatever the other end sends meanwhile, seconds."""
MOST_LOG_IN_BYTES = 1 << 20
"""That the other end may send until the log-in is done."""
MOST_SOCKETS = 20
"""Of one connection: addresses of a host's name, and redirections by a listener."""
MOST_ANSWER_BYTES = 64 << 20
"""Of one answer of a server; the largest that is asked for has some hundred kilobytes."""
MOST_ANSWER_S = 30.0
"""Of one answer as a whole: from the question or, where a statement takes as long as it takes, from its first
byte."""
MOST_COLUMNS = 4_096
"""Of one answer; no table of any of these servers has more."""
VALUE_BYTES = 100
"""What a value of an answer takes in memory beside what was sent of it; counted among an answer's bytes."""


class OutOfBoundsError(Exception):
    """More came from outside than was ever to be expected, or it took longer; the text says which."""


class Budget:
    """What one thing from outside may still take: bytes, and time for the whole of it."""

    def __init__(
        self, most_bytes: int, most_s: float | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin to count.

        Args:
            most_bytes: of the whole.
            most_s: of the whole, seconds; None where it may take as long as it takes.
            clock: seconds.
        """
        self._most_bytes, self._most_s, self._clock = most_bytes, most_s, clock
        self._bytes, self._began_s = 0, clock()

    def take(self, count: int) -> None:
        """Count bytes that came.

        Raises:
            OutOfBoundsError: they are too many, or came too late.
        """
        self._bytes += count
        if self._bytes > self._most_bytes:
            raise OutOfBoundsError(f"more than {self._most_bytes:,} bytes were sent")
        self.left_s()

    def left_s(self) -> float | None:
        """The time that is left, seconds; None without a limit.

        Raises:
            OutOfBoundsError: there is none left.
        """
        if self._most_s is None:
            return None
        left = self._began_s + self._most_s - self._clock()
        if left <= 0:
            raise OutOfBoundsError(f"it was not done within {self._most_s:g} s")
        return left
