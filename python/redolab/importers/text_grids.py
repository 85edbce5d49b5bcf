"""The tables of AWR and Statspack reports in plain text, as grids.

A table is a line of dashes, whose groups show where its columns are, with headings above it and rows below.
Sections are not listed; only parts of another form are known by name: the snapshots, which have times
across columns, and the line that Statspack 10.2 has about the host.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from redolab.bounds import MOST_TABLES, OutOfBoundsError
from redolab.importers.folded_lines import unfolded
from redolab.importers.grid import Cells, Grid
from redolab.importers.text_headings import UNREADABLE, headings_of

Span = tuple[int, int]
"""Where something begins on its line, and where it has ended."""
_Heads = tuple[str, tuple[str, ...]]
"""The title of a table and its headings."""
_MOST_LINE = 1_000
_MOST_CELL = 200
_MOST_COLUMNS = 64
_MOST_HEADINGS = 4
_FAR = 5
"""Least column in which a single group of dashes that closes a table begins: it is centred."""
_PAGE = "OUTPUT"
"""The line that SQL*Plus prints above each page, perhaps with dashes below: the name of the only column."""
_SNAPSHOTS = ("", "Snap Id", "Snap Time", "Sessions", "Curs/Sess")
_GROUPS = re.compile(r"-+|~+")
_WORDS = re.compile(r"\S+")
_PHRASES = re.compile(r"\S+(?: \S+)*")
_NUMBER = re.compile(r"[-+]?[.,]?\d")
_FIGURE = re.compile(r"[-+]?[\d.,]*\d%?")
_MOMENT = re.compile(
    r" *(\S+) +((?=\S{0,40}[-./])\S(?:.{0,40}?\S)?(?: +|(?<=\d)T)"
    r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(?!\S)"
)
"""The number of a snapshot and its time, whose month may be two words."""


def text_grids(text: str) -> list[Grid]:
    """Every table of a report in its order; a table that a page break cut is one table again.

    Raises:
        OutOfBoundsError: it has more tables or more cells than any report.
    """
    return _Report(_lines(text)).read()


class _Columns:
    """Where the columns of a table are, from left to right."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]

    def touched(self, start: int, end: int) -> range:
        """The columns above or below a piece of text, or else the nearest one."""
        first, past = bisect_right(self.ends, start), bisect_left(self.starts, end)
        if first < past:
            return range(first, past)
        if first == len(self.ends) or (first and start - self.ends[first - 1] < self.starts[first] - end):
            first -= 1
        return range(first, first + 1)

    def above(self, lines: Sequence[str]) -> list[str]:
        """The text above each column, from top to bottom."""
        found: list[list[str]] = [[] for _ in self.ends]
        for line in lines:
            for word in _WORDS.finditer(_without_dashes(line)):
                start, end = word.span()
                most = (
                    (min(end, self.ends[n]) - max(start, self.starts[n]), n) for n in self.touched(start, end)
                )
                found[max(most)[1]].append(word[0])
        return [_one_line(" ".join(words)) for words in found]

    def cells(self, line: str) -> list[str]:
        """A line cut where columns end; no word is cut in two."""
        last = len(self.ends) - 1
        if any(line[self.ends[n] : self.starts[n + 1]].strip() for n in range(last)):
            return self._by_words(line)
        edges = (0, *self.ends[:last], len(line))
        return [_one_line(line[edges[n] : edges[n + 1]]) for n in range(last + 1)]

    def _by_words(self, line: str) -> list[str]:
        found: list[list[str]] = [[] for _ in self.ends]
        before = -1, -1
        for word in _WORDS.finditer(line):
            touched = self.touched(*word.span())
            owner = self._owner(word, touched, follows=before == (touched[0], word.start() - 1))
            for n in touched if owner is None else (owner,):
                found[n].append(UNREADABLE if owner is None else word[0])
            before = touched[-1] if owner is None else owner, word.end()
        return [UNREADABLE if UNREADABLE in words else _one_line(" ".join(words)) for words in found]

    def _owner(self, word: re.Match[str], touched: range, *, follows: bool) -> int | None:
        """The column of a word; None where it touches several columns and may belong to each.

        A wide number begins further left than its column and ends with it; a text begins with
        its column or follows another word of it, and ends further right.
        """
        first, last, end = touched[0], touched[-1], word.end()
        if first == last:
            return first
        if last - first > 1 or end > self.ends[last]:
            return None
        begins = word.start() <= self.starts[first]
        is_number = _NUMBER.match(word[0]) is not None
        # Counts leave the place of the unit blank where they do not have one: `950 ` below `24K`.
        if end >= self.ends[last] - 1:
            return last if not begins and (is_number or not follows) else None
        return first if begins or (follows and not is_number) else None


@dataclass
class _Table:
    """A table while it is read."""

    heads: _Heads
    columns: _Columns
    label_end: int
    """Where the column of labels with a colon ends; 0 without such a column."""
    rows: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """Each with the number of its line."""

    def cells(self, line: str) -> list[str] | None:
        """The cells of a line; None where it is not a row of this table."""
        if not self.label_end:
            return self.columns.cells(line)
        colon = _colon(line, self.label_end)
        if not colon:
            return None
        label, rest = _one_line(line[: colon + 1]), " " * (colon + 1) + line[colon + 1 :]
        if self.heads[1] is not _SNAPSHOTS:
            return [label, *self.columns.cells(rest)]
        return [label, *_snapshot(rest, self.columns), *("",) * 4][: len(_SNAPSHOTS)]


class _Report:
    """Reads the lines of a report one after another."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._found: list[tuple[_Heads, list[tuple[str, ...]]]] = []
        self._table: _Table | None = None
        self._title = ""
        self._loose: deque[tuple[int, str]] = deque(maxlen=_MOST_HEADINGS + 2)
        """The last lines outside of tables, with their numbers."""
        self._blank = 0
        """Blank lines since the last row."""
        self._cells = Cells()

    def read(self) -> list[Grid]:
        """The tables that have rows."""
        for number, line in enumerate(self._lines):
            if not line:
                self._skip()
            elif spans := _ruler(line):
                self._dashes(number, spans)
            elif title := self._title_at(number):
                self._close()
                self._title = title
                self._found += _host(line)
            elif not _is_underline(line) and not line.lstrip().startswith("->"):
                self._text(number, line)
        self._close()
        return [Grid(title, headings, tuple(rows)) for (title, headings), rows in self._found]

    def _skip(self) -> None:
        self._blank += 1
        table = self._table
        # A page may break in a table that has a title of its own.
        if table is not None and (self._blank > 1 or (table.rows and (table.label_end or not self._title))):
            self._close()

    def _text(self, number: int, line: str) -> None:
        table = self._table
        cells = None if table is None else table.cells(line)
        if table is None or cells is None:
            self._close()
        # After a blank line anything may come; a row has a name and a number.
        elif not self._blank or not table.rows or sum(map(bool, cells)) > 1:
            self._cells.take(len(cells))
            table.rows.append((number, tuple(cells)))
            self._blank = 0
            return
        self._loose.append((number, line))

    def _dashes(self, number: int, spans: list[Span]) -> None:
        """Begin the table whose columns these are, or close the one that is open."""
        table = self._table
        start, end = spans[0]
        if len(spans) == 1 and (start >= _FAR or (table is not None and end >= table.columns.ends[-1])):
            # Without a table above, it is part of the next one's headings.
            if table is not None:
                self._close()
                self._title = ""
                self._loose.clear()
            return
        first, headings = self._headings_above(number, spans)
        while table is not None and table.rows and table.rows[-1][0] >= first:
            table.rows.pop()
        while self._loose and self._loose[-1][0] >= first:
            self._loose.pop()
        self._close()
        if headings:
            self._begin(number, spans, headings)

    def _begin(self, number: int, spans: list[Span], headings: Sequence[str]) -> None:
        is_mixed = _is_mixed(self._lines[number], spans)
        dashes = spans[1:] if is_mixed else spans
        below = next((line for line in self._lines[number + 1 : number + 3] if line), "")
        label_end = dashes[0][0] if _colon(below, dashes[0][0]) else 0
        columns = _Columns(dashes if label_end else spans)
        title = self._title or next((text for _, text in reversed(self._loose)), "")
        if label_end:
            labelled = _Columns([(0, label_end - 1), *dashes])
            above, *rest = headings_of(headings, labelled.above, one_line=is_mixed)
            is_snapshots = {"snap id", "snap time"} <= {text.lower() for text in rest}
            title, texts = ("snapshots", _SNAPSHOTS) if is_snapshots else (above or title, ("", *rest))
        else:
            texts = tuple(headings_of(headings, columns.above, one_line=is_mixed))
        self._table = _Table((_one_line(title).lower(), texts), columns, label_end)
        self._blank = 0

    def _headings_above(self, number: int, spans: list[Span]) -> tuple[int, list[str]]:
        """The lines of headings above dashes, and the number of the first one."""
        found: list[str] = []
        # A page may break between them and the dashes.
        place = number - 1 if number and self._lines[number - 1] else number - 2
        most = 2 if _is_mixed(self._lines[number], spans) else _MOST_HEADINGS
        while place >= 0 and len(found) < most:
            line = self._lines[place]
            if not line or line.lstrip().startswith("->") or _ruler(line) or _section(line):
                break
            if self._is_row(place):
                break
            found.insert(0, line)
            # An underlined title is on the line of the headings; that is one line, or one that was cut.
            if most < _MOST_HEADINGS and len(line) > spans[-1][0]:
                return place, found
            # In Statspack 9.2 they are directly below the name of the database.
            if "Snap Id" in line and "Snap Time" in line:
                return place, found
            if _is_underline(line):
                # The title's own line can have headings too, further right.
                above = _title_and_rest(self._lines[place - 1])[1] if place else ""
                found[:1] = above, line.replace("~", " ")
                return place - 1, found
            place -= 1
        return place + 1, found

    def _is_row(self, place: int) -> bool:
        """Whether a line is a row of the open table, with numbers, and so no heading of the next one."""
        rows = self._table.rows[-_MOST_HEADINGS:] if self._table is not None else ()
        return any(line == place and any(map(_FIGURE.fullmatch, cells[1:])) for line, cells in rows)

    def _title_at(self, number: int) -> str:
        """The title in a line; empty where the line is not a title."""
        line, below, *_ = *self._lines[number : number + 2], ""
        if (title := _section(line)) or not _is_underline(below) or _is_underline(line):
            return title
        return _title_and_rest(line)[0]

    def _close(self) -> None:
        table, self._table = self._table, None
        if table is None or not table.rows:
            return
        rows = [cells for _, cells in table.rows]
        if self._found and self._found[-1][0] == table.heads and not table.label_end:
            self._found[-1][1].extend(rows)
        elif len(self._found) < MOST_TABLES:
            self._found.append((table.heads, rows))
        else:
            raise OutOfBoundsError(f"it has more than {MOST_TABLES:,} tables")


def _lines(text: str) -> list[str]:
    """The lines of a report, without the headings that SQL*Plus prints on its pages."""
    found: list[str] = []
    before = ""
    for printed in text.replace("\f", "\n").replace("\xa0", " ").split("\n"):
        line = printed[:_MOST_LINE].expandtabs()[:_MOST_LINE].rstrip()
        if line == _PAGE:
            if found and not found[-1]:
                found.pop()
        elif before != _PAGE or not line or line.strip("-"):
            found.append(line)
        before = line
    return unfolded(found)


def _ruler(line: str) -> list[Span]:
    """The groups of a line of dashes; empty for any other line."""
    if line.strip(" -~") or "---" not in line:
        return []
    spans = [found.span() for found in _GROUPS.finditer(line)][:_MOST_COLUMNS]
    return spans if len(spans) > 1 or spans[0][1] - spans[0][0] >= _FAR else []


def _is_mixed(line: str, spans: Sequence[Span]) -> bool:
    """Whether dashes underline a title first, and columns after it."""
    return len(spans) > 1 and line.lstrip()[:1] == "~"


def _is_underline(line: str) -> bool:
    return line.lstrip().startswith("~~~~") and not _ruler(line)


def _section(line: str) -> str:
    """The title before the names of the database and the instance; empty without such a title."""
    place = line.find("DB/Inst:")
    if place < 0 and "Instance:" in line:
        place = line.find("DB: ")
    return _one_line(line[: max(0, place)]).removesuffix(" for")


def _title_and_rest(line: str) -> tuple[str, str]:
    """An underlined title, and its line without it."""
    words = _PHRASES.search(line)
    return (words[0], " " * words.end() + line[words.end() :]) if words else ("", "")


def _host(line: str) -> list[tuple[_Heads, list[tuple[str, ...]]]]:
    """The host as Statspack 10.2 prints it: `Host  Name:  <name>  Num CPUs:  <number> ...`."""
    words = line.split()
    if words[:2] != ["Host", "Name:"] or "CPUs:" not in words:
        return []
    place = words.index("CPUs:")
    cells = " ".join(words[2 : place - 1]), "".join(words[place + 1 : place + 2])
    return [(("host", ("Host Name", "CPUs")), [tuple(map(_one_line, cells))])]


def _colon(line: str, most: int) -> int:
    """Where the colon of a label is; 0 where the line does not begin with a label."""
    place = line.find(":", 0, most + 1)
    return place if place > 0 and line[place + 1 : place + 2] in ("", " ") and line[:place].strip() else 0


def _snapshot(text: str, columns: _Columns) -> list[str]:
    """The cells of a snapshot, or of a duration, which is below the times."""
    if "(min" in text:
        return ["", _one_line(text[: text.find(")") + 1 or None])]
    found = _MOMENT.match(text)
    if found is None:
        return columns.cells(text)
    # A time is wider than its column where its year has four digits.
    end = found.end()
    rest = columns.cells(" " * min(end, columns.ends[1]) + text[end:])
    return [found[1][:_MOST_CELL], _one_line(found[2]), *rest[2:]]


def _without_dashes(line: str) -> str:
    """Headings without those above several columns, which dashes lead to both sides."""
    first, past = line.find("---"), line.rfind("---") + 3
    return line if first < 0 else line[:first] + " " * (past - first) + line[past:]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MOST_CELL].rstrip()
