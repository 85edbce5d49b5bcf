"""Headings of a table in plain text that were longer than a line and went on at the left end of the next one.

The words at the left end are then above other columns than their own. Only the order of the columns is left,
and where it does not decide, no heading is known: a column without a heading is not read, while one with the
heading of another column would be read wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

UNREADABLE = "####"
"""A cell that cannot be separated from its neighbour."""
Above = Callable[[Sequence[str]], list[str]]
"""Finds the text above each column on lines of headings, by its place."""
_PAIRS = frozenset({"db id", "db name", "host name", "inst num", "snap id", "snap time", "startup time"})
"""Headings of two words; in all others each word is a heading."""
_WORD = re.compile(r"\S+(?: \([^)]*\))?")


def headings_of(lines: Sequence[str], above: Above, *, one_line: bool = False) -> list[str]:
    """The headings of the columns, from left to right.

    Args:
        lines: above the table, from top to bottom.
        above: finds the text above each column.
        one_line: whether they can only be one line, which may have been cut.
    """
    placed = above(lines)
    if all(placed) or not (one_line or _is_cut(lines)):
        return placed
    return _continued(lines, above) or _in_order(lines, len(placed)) or [UNREADABLE] * len(placed)


def _is_cut(lines: Sequence[str]) -> bool:
    """Whether the last line may be the rest of the one above it: both begin at the left end."""
    return len(lines) > 1 and not any(line[:1].isspace() for line in lines[-2:])


def _continued(lines: Sequence[str], above: Above) -> list[str]:
    """Where the first columns have their headings above them, the last line has those of the others."""
    placed, rest = above(lines[:-1]), _WORD.findall(lines[-1])
    known = len(placed) - len(rest)
    return [*placed[:known], *rest] if known > 0 and all(placed[:known]) and not any(placed[known:]) else []


def _in_order(lines: Sequence[str], columns: int) -> list[str]:
    """Where there are as many headings as columns, on lines that are one."""
    words = [word for line in lines for word in _WORD.findall(line)]
    joined: list[str] = []
    for word in words:
        if joined and f"{joined[-1]} {word}".lower() in _PAIRS:
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return next((found for found in (words, joined) if len(found) == columns), [])
