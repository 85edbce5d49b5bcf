"""The reports of a file: one, or a series."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from redolab.bounds import MOST_LINES, MOST_REPORT_BYTES, OutOfBoundsError
from redolab.errors import UsageError
from redolab.files.foreign import read_regular
from redolab.files.packed import unpacked, wide_encoding
from redolab.importers.contradictions import contradictions
from redolab.importers.grid import Grid
from redolab.importers.header import Header, header_of, numbers_in_header, reports_in
from redolab.importers.html_grids import html_grids
from redolab.importers.layout import Kind, Layout, layout_of, several
from redolab.importers.miner import snapshots_of
from redolab.importers.numbers import Numbers
from redolab.importers.pack import pack_of
from redolab.importers.sections import cells_of, entries_of, numbers_in
from redolab.importers.text_grids import text_grids
from redolab.records.report import Entry

_NEEDED = (("statistic", "user commits"),)
"""Section and name of entries that a report must have: without them there is no figure per commit."""
_HEAD = 4_096
"""Bytes at the beginning that show an encoding."""
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Letters that end a line for `str.splitlines`."""


@dataclass(frozen=True)
class ReadReport:
    """The figures of a file for one interval of one instance."""

    file: str
    """Its name, without directories."""
    layout: Layout
    header: Header
    entries: tuple[Entry, ...]
    """The figures that were read; contradictions have their own section, `contradiction`."""


def read_reports(path: Path, kind: Kind) -> list[ReadReport]:
    """Read a file; one of AWR-Miner has many reports, any other one.

    Args:
        path: of the file.
        kind: of report that it must be.

    Raises:
        UsageError: it cannot be read, is not such a report, or is not whole.
    """
    try:
        content = read_regular(path, MOST_REPORT_BYTES)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    content = _as_utf8(content, str(path))
    layout = layout_of(content, str(path), kind)
    try:
        return _read(path, layout, content)
    except OutOfBoundsError as error:
        raise UsageError(
            f"{path} is not read: {error}. No database writes a report like that. Create the report again."
        ) from error


def _as_utf8(content: bytes, what: str) -> bytes:
    """A file unpacked, in an encoding of single bytes, its lines with ends that are known everywhere."""
    packed = unpacked(io.BytesIO(content), what, MOST_REPORT_BYTES, "No report of a database is as large.")
    content = content if packed is None else packed
    encoding = wide_encoding(content[:_HEAD])
    if encoding is not None:
        # PowerShell writes redirected output in such an encoding.
        content = content.decode(encoding, errors="replace").removeprefix("\ufeff").encode(errors="replace")
    return content if b"\n" in content else content.replace(b"\r", b"\n")


def _read(path: Path, layout: Layout, content: bytes) -> list[ReadReport]:
    text = "" if layout == "AWR, HTML" else content.decode(errors="replace")
    if sum(map(text.count, _LINE_ENDS)) - text.count("\r\n") > MOST_LINES:
        raise OutOfBoundsError(f"it has more than {MOST_LINES:,} lines")
    if layout == "Oracle pack":
        header, entries = pack_of(text, str(path))
        return [ReadReport(_name(path), layout, header, _of_commits(entries, path))]
    if layout == "AWR-Miner":
        snapshots = snapshots_of(text, str(path))
        return [ReadReport(_name(path), layout, item.header, item.entries) for item in snapshots]
    return [_read_one(path, layout, text_grids(text) if text else html_grids(content), text)]


def _read_one(path: Path, layout: Layout, grids: Sequence[Grid], text: str) -> ReadReport:
    cells = cells_of(grids)
    numbers = Numbers((*numbers_in_header(grids), *numbers_in(cells)))
    header = header_of(grids, str(path), numbers, text)
    if (count := reports_in(grids)) > 1:
        raise UsageError(several(str(path), count))
    entries = (*header.entries, *entries_of(cells, numbers))
    _of_commits(entries, path)
    sentences = contradictions(header, entries)
    kept = (item for item in entries if _is_kept(item))
    return ReadReport(
        _name(path),
        layout,
        header,
        (*kept, *(_contradiction(number, text) for number, text in enumerate(sentences, 1))),
    )


def _name(path: Path) -> str:
    """The file's name; bytes in it that are not text are replaced, since a table holds only text."""
    return path.name.encode(errors="replace").decode()


def _of_commits(entries: Sequence[Entry], path: Path) -> tuple[Entry, ...]:
    """The entries of a file that counts commits.

    Raises:
        UsageError: it does not count commits.
    """
    names = {(item.section, item.name) for item in entries}
    missing = [name for section, name in _NEEDED if (section, name) not in names]
    if missing:
        raise UsageError(
            f"{path} has no {missing[0]!r} in its instance activity, so no figure per commit can be "
            "computed. Create a report that has this statistic."
        )
    return tuple(entries)


def _is_kept(entry: Entry) -> bool:
    """Whether an entry is stored; not one that follows from others, nor a histogram of non-log waits."""
    if entry.section == "statistic":
        return entry.measure == "total"
    return entry.section != "histogram" or entry.name.startswith("log file ")


def _contradiction(number: int, text: str) -> Entry:
    return Entry(0, "contradiction", str(number), "text", None, None, text, None)
