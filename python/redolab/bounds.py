"""How much may come from outside, from files and servers: the one place that sets the bounds and counts.

A bound is for a whole file, answer or log-in. A limit for each read, as drivers have it, does not bound the
whole: a sender that sends one byte before each limit never ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable

# Files.
MOST_JSON_BYTES = 64 << 20
MOST_TOML_BYTES = 1 << 20
MOST_TABLE_BYTES = 256 << 20
"""Size of a Parquet file."""
MOST_DECODED_BYTES = 768 << 20
"""Size of one table, in memory."""
MOST_REPORT_BYTES = 64 << 20
"""Size of a database's report; the largest known have a tenth of it."""
MOST_PIPED_BYTES = 1 << 30
"""Size of a column of numbers that comes through a pipe, which is read into memory whole."""
MEMORY_PER_VALUE = 72
"""Bytes of memory that an analysis takes for each row of a file of numbers; measured with 90 million."""
MOST_FILE_COLUMNS = 16_384
"""Columns of a file of numbers; no spreadsheet has more."""
MOST_LINE = 1 << 20
"""Letters of one line of a file of numbers."""
MOST_COUNTED = 20_000_000
"""Values of a histogram, which are analysed one by one."""
MOST_ECHO = 10_000
"""Letters of a message; of a longer one both ends are shown."""
MOST_LINES = 1_000_000
"""Lines of a database's report in text; 30 days of snapshots by AWR-Miner have half of it."""
MOST_TABLES = 10_000
"""Tables of one report; the largest known have 150."""
MOST_NESTED_TABLES = 20
"""Tables inside one another; a report has two."""
MOST_INSTANCES = 1_000
"""Instances of a database; a cluster has at most some hundred."""
MOST_FIGURES = 50_000
"""Figures of one report; the largest known have some thousand."""
MOST_CELLS = 4_000_000
"""Columns times rows, of all tables of one report together; the largest known have some 20,000."""
MOST_ITEMS = 4_000_000
"""Values in one JSON text."""
MOST_NESTED = 60
"""Objects and arrays inside one another; Redolab's own files have a dozen."""
MOST_DIGITS = 20
"""Digits of a whole number in a text; 64 bits have as many."""
MOST_NAME = 1 << 16
"""Bytes of a text inside a table."""

# Servers.
MOST_LOG_IN_S = 30.0
"""Time of one log-in as a whole, whatever the other end sends meanwhile, seconds."""
MOST_LOG_IN_BYTES = 1 << 20
"""Bytes that the other end may send until the log-in is done."""
MOST_SOCKETS = 20
"""Sockets of one connection: addresses of a host's name, and redirections by a listener."""
MOST_ANSWER_BYTES = 64 << 20
"""Size of one answer of a server; the largest that is asked for has some hundred kilobytes."""
MOST_ANSWER_S = 30.0
"""Time of one answer as a whole, seconds: from the question or, where a statement may take any time, from the
first byte of its answer."""
MOST_COLUMNS = 4_096
"""Columns of one answer; no table of any of these servers has more."""
VALUE_BYTES = 100
"""Memory of a value of an answer in addition to its bytes sent; counted among an answer's bytes."""


class OutOfBoundsError(Exception):
    """More came from outside than can be expected, or it took longer; the text names the bound."""


class Budget:
    """Bytes and time that one thing from outside may still take, as a whole."""

    def __init__(
        self, most_bytes: int, most_s: float | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin to count.

        Args:
            most_bytes: of the whole.
            most_s: of the whole, seconds; None where it may take any time.
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
            OutOfBoundsError: no time is left.
        """
        if self._most_s is None:
            return None
        left = self._began_s + self._most_s - self._clock()
        if left <= 0:
            raise OutOfBoundsError(f"it was not done within {self._most_s:g} s")
        return left
