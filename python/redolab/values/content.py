"""Where somebody's numbers come from: a file, a pipe or the standard input, as text in UTF-8."""

from __future__ import annotations

import dataclasses
import io
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from redolab.bounds import MEMORY_PER_VALUE, MOST_LINE, MOST_PIPED_BYTES
from redolab.errors import UsageError
from redolab.files import system
from redolab.files.foreign import bounded, open_regular, read_regular

HEAD_BYTES = 1 << 20


@dataclass(frozen=True)
class Content:
    """The file, which may be opened more than once."""

    place: str
    """As it was named; `stdin` for the standard input."""
    source: Path | bytes
    """The path; the bytes in memory where the file came through a pipe, was packed or is not UTF-8."""
    encoding: str = "UTF-8"
    """The file's own encoding; `open` always gives UTF-8."""
    notes: tuple[str, ...] = ()
    """Facts that a reader must know about how the file was read."""
    format: str = "CSV"
    """The program that wrote the file, where its lines show it."""
    by_machine: bool = False
    """Whether a program wrote its numbers, which has no locale."""

    def open(self) -> BinaryIO:
        """A stream of its own from the beginning."""
        return io.BytesIO(self.source) if isinstance(self.source, bytes) else self.source.open("rb")

    @property
    def size(self) -> int:
        """Bytes of the text."""
        return len(self.source) if isinstance(self.source, bytes) else self.source.stat().st_size

    def lines(self) -> Iterator[str]:
        """Each line without its end.

        Raises:
            UsageError: a line has more letters than any line of numbers.
        """
        count = 0
        with self.open() as binary, io.TextIOWrapper(binary, "utf-8-sig", "replace") as file:
            while line := file.readline(MOST_LINE):
                count += 1
                if len(line) == MOST_LINE:
                    raise endless_line(self.place, count)
                yield line.rstrip("\n")

    def rewritten(self, text: str | bytes, **changes: object) -> Content:
        """The same file with another text in place of its bytes, and with these fields changed."""
        source = text.encode() if isinstance(text, str) else text
        return dataclasses.replace(self, source=source, **changes)  # type: ignore[arg-type]


def endless_line(place: str, line: int) -> UsageError:
    """The refusal of a line that is too long to be one of numbers."""
    return UsageError(
        f"{place}, line {line:,} has more than {MOST_LINE:,} letters. That is not a file of numbers, or the "
        "ends of its lines are missing."
    )


def head_of(content: Content) -> str:
    """The first lines of the file.

    Raises:
        UsageError: it is empty, or its bytes are not lines of text.
    """
    with content.open() as file:
        head = file.read(HEAD_BYTES)
    if not head.strip():
        raise UsageError(
            f"{content.place} is empty. A CSV file has a line with the column names and one line per value."
        )
    if len(head) == HEAD_BYTES:
        if b"\n" not in head and b"\0" not in head:
            raise endless_line(content.place, 1)
        head = head[: head.rfind(b"\n") + 1]
    if not head or b"\0" in head:
        raise UsageError(
            f"{content.place} is not a CSV file: its bytes are not lines of text. Write it as text in UTF-8 "
            "first."
        )
    return head.decode("utf-8-sig", "replace")


def open_content(place: str) -> Content:
    """The bytes of the file at that place; what comes through a pipe is waited for and read.

    Args:
        place: of the file; `-` for the standard input.

    Raises:
        UsageError: it cannot be read, is not a file, or has more bytes than are held in memory.
    """
    if place == "-":
        piped = sys.stdin.buffer.read(MOST_PIPED_BYTES + 1)
        return Content("stdin", bounded(piped, "stdin", MOST_PIPED_BYTES))
    path = Path(place)
    try:
        if stat.S_ISFIFO(path.stat().st_mode):
            return Content(place, read_regular(path, MOST_PIPED_BYTES, pipes=True))
        os.close(open_regular(path))
    except OSError as error:
        raise UsageError(
            f"{place} cannot be read: {error.strerror}. Name a CSV file, or - for the standard input."
        ) from error
    return Content(place, path)


def check_memory(content: Content, head: str) -> None:
    """Refuse a file whose rows need more memory than this machine has.

    Args:
        content: of the file.
        head: its first lines, which represent all of them.

    Raises:
        UsageError: they need more.
    """
    memory = system.memory_bytes()
    needed = content.size * head.count("\n") / max(1, len(head.encode())) * MEMORY_PER_VALUE
    if memory is not None and needed > memory:
        raise UsageError(
            f"{content.place} has about {needed / MEMORY_PER_VALUE:,.0f} rows. Analysing these rows needs "
            f"about {needed / 1e9:,.1f} GB of memory, and this machine has {memory / 1e9:,.1f}. Take a part "
            "of the rows, for example every hundredth: awk 'NR % 100 == 1'."
        )
