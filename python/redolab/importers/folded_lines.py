"""Lines of plain reports that were too long for their page and went on below, joined again.

A mail or a terminal cuts every line of a file at one width: then the dashes of a table go on directly below
themselves. SQL*Plus folds a table that is wider than its line between two columns: then the further columns
have headings and dashes of their own below the first ones, and every row has a line for each part.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

_FAR = 5
"""Least column in which dashes that close a table begin."""
_MOST_REST = 60
"""Most letters of a cut-off rest of a line; the dashes that close a table have at least one more."""
_MOST_HEADINGS = 4
_MOST_PARTS = 4
_GAP = 8
"""Blanks at most between two columns, which may be gone from the end of a line."""
_SPARE = 2
"""Letters by which a cell may be wider than its dashes."""


def unfolded(lines: Sequence[str]) -> list[str]:
    """Each line of a report whole, where it was cut or folded; the others as they are."""
    return _without_folds(_without_cuts(lines))


def _is_dashes(line: str) -> bool:
    return not line.strip(" -~") and "---" in line and not line.startswith(" " * _FAR)


def _is_rest(line: str) -> bool:
    """Whether a line may be the end of the dashes above it."""
    return bool(line) and not line.strip(" -") and line.find("-") < _FAR and len(line) <= _MOST_REST


def _without_cuts(lines: Sequence[str]) -> list[str]:
    width = max(map(len, lines), default=0)
    cut = [
        place
        for place in range(len(lines) - 1)
        if _is_dashes(lines[place]) and width - 1 <= len(lines[place]) and _is_rest(lines[place + 1])
    ]
    if not cut:
        return list(lines)
    most = max(len(lines[place + 1]) for place in cut) + _SPARE
    heads, rows = _near(lines, cut, -1), _near(lines, cut, 1)
    found: list[str] = []
    taken = 0
    for place, line in enumerate(lines):
        if place < taken:
            continue
        below = lines[place + 1] if place + 1 < len(lines) else ""
        if place in cut or (
            line and 0 < len(below) <= most and not _is_dashes(line) and not _is_dashes(below)
        ):
            # Blanks at the end of a line may be gone; then only a number can go on at the left end.
            least = width - _GAP if place in rows else width
            goes_on = len(line) >= least or place in heads or place in cut
            if goes_on or (place in rows and (below[0] == " " or _is_figure(below.split()[0]))):
                found.append(f"{line:<{width}}{below}")
                taken = place + 2
                continue
        found.append(line)
    return found


def _near(lines: Sequence[str], cut: Sequence[int], step: int) -> set[int]:
    """The lines above dashes that were cut, or below them, up to the next empty line or whole dashes."""
    found = set()
    for place in cut:
        at = place + (step if step < 0 else 2)
        while 0 <= at < len(lines) and lines[at] and not _is_dashes(lines[at]):
            found.add(at)
            at += step
    return found


def _is_figure(word: str) -> bool:
    return word[:1].isdecimal() or word[1:2].isdecimal() or not word.strip("#")


def _without_folds(lines: Sequence[str]) -> list[str]:
    found: list[str] = []
    place = 0
    while place < len(lines):
        parts = _parts(lines, place)
        if len(parts) > 1:
            rows, past = _rows(lines, parts)
            if rows:
                found += [*_headings(found, lines, parts), *rows]
                place = past
                continue
        found.append(lines[place])
        place += 1
    return found


def _parts(lines: Sequence[str], first: int) -> list[int]:
    """Where the dashes of each part of a table are, when it has nothing but headings between them."""
    if not _is_dashes(lines[first]):
        return []
    parts = [first]
    while len(parts) < _MOST_PARTS:
        after = parts[-1] + 1
        below = next(
            (at for at in range(after, min(after + _MOST_HEADINGS + 1, len(lines))) if _is_dashes(lines[at])),
            after,
        )
        if below == after or not all(lines[after:below]) or any(map(_is_row, lines[after:below])):
            break
        parts.append(below)
    return parts


def _is_row(line: str) -> bool:
    """Whether a line has figures; headings do not."""
    return any(_is_figure(word) for word in line.split() if word[0] not in "<>")


def _widths(lines: Sequence[str], parts: Sequence[int]) -> list[int]:
    """Where each part begins on the whole line."""
    found, width = [], 0
    for place in parts:
        found.append(width)
        width += len(lines[place]) + 1
    return found


def _joined(texts: Sequence[str], begins: Sequence[int]) -> str:
    whole = ""
    for text, begin in zip(texts, begins, strict=True):
        whole = f"{whole:<{begin}}{text}"
    return whole


def _headings(above: list[str], lines: Sequence[str], parts: Sequence[int]) -> Iterator[str]:
    """The headings of all parts on one line, or on as many as one of them has; then their dashes.

    Args:
        above: lines before the first dashes, from which its headings are taken.
        lines: of the report.
        parts: where the dashes are.
    """
    begins = _widths(lines, parts)
    further = [list(lines[before + 1 : place]) for before, place in itertools.pairwise(parts)]
    count = max(map(len, further))
    first: list[str] = []
    while above and above[-1] and len(first) < count:
        first.insert(0, above.pop())
    columns = [[*[""] * count, *texts][-count:] for texts in (first, *further)]
    for texts in zip(*columns, strict=True):
        yield _joined(texts, begins)
    yield _joined([lines[place] for place in parts], begins)


def _rows(lines: Sequence[str], parts: Sequence[int]) -> tuple[list[str], int]:
    """The rows, each on one line, and the number of the first line after them."""
    begins, found, place = _widths(lines, parts), [], parts[-1] + 1
    while place + len(parts) <= len(lines) and lines[place]:
        texts = lines[place : place + len(parts)]
        if any(not text.strip(" -~") and "---" in text for text in texts):
            break
        # In the last part a text may go on beyond its dashes.
        if any(len(text) > len(lines[at]) + _SPARE for text, at in zip(texts, parts[:-1], strict=False)):
            return [], place
        found.append(_joined(texts, begins))
        place += len(parts)
    return found, place
