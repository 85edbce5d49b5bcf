"""Which database a report is of, and which interval."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from redolab.errors import UsageError
from redolab.importers.grid import Grid
from redolab.importers.printed import TIMES, Printed, count
from redolab.importers.sections import entry
from redolab.records.report import Entry

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = re.compile(r"(\d{1,2})-([^\W\d_]{3})[^\W\d_]*\.?-(\d{2}|\d{4}) (\d{2}):(\d{2})(?::(\d{2}))?")
_MINUTES = re.compile(r"([\d,.]{1,40}) ?\(min(?:ute)?s?\)")
_NAME = re.compile(r"[\w$#.+-]{1,128}")
_HEADING = re.compile(r"DB(?:/Inst)?: {1,4}([\w$#.+-]{1,128})(?:/|  {1,4}Instance: )([\w$#.+-]{1,128})")
_RELEASE = re.compile(r"\d{1,2}\.\d{1,3}(?:\.\d{1,6}){0,3}")
_MINUTE = 60 * TIMES["s"]


@dataclass(frozen=True)
class Header:
    """What stands at the top of a report."""

    database: str
    database_id: str
    instance: str
    instance_number: str
    release: str
    begin: datetime
    """In the database's time zone, which a report does not name."""
    end: datetime
    begin_snapshot: int | None
    """None where it is not printed."""
    end_snapshot: int
    elapsed: Printed
    """Seconds."""
    entries: tuple[Entry, ...]
    """Sections `snapshot` (DB time, sessions) and `host` (cpus, cores, sockets)."""


def header_of(grids: Sequence[Grid], what: str, text: str = "") -> Header:
    """Read the top of a report.

    Args:
        grids: of the whole report.
        what: name of the file, for the error.
        text: of a plain report, whose headings name the database too; some have it nowhere else.

    Raises:
        UsageError: it does not say which database or which interval it is of.
    """
    named = {**_in_headings(text), **_identity(grids)}
    rows = _snapshots(grids)
    begin, end = rows.get("begin snap"), rows.get("end snap")
    if begin is None or end is None or "elapsed" not in rows:
        raise UsageError(f"{what} does not say between which snapshots it was made: it is no whole report.")
    missing = [key for key in ("db name", "db id", "instance", "release") if key not in named]
    if missing or not _RELEASE.fullmatch(named["release"]):
        raise UsageError(
            f"{what} does not name its {' and '.join(missing) or 'release'} as Oracle's reports do. "
            "Other products make reports that look like them, and count other things."
        )
    first, last = _time(begin.get("snap time", "")), _time(end.get("snap time", ""))
    before, after = (count(row.get("snap id", "")).value for row in (begin, end))
    if first is None or last is None or before is None or after is None:
        raise UsageError(f"{what} has snapshots without a number or a time that is read.")
    return Header(
        named["db name"],
        named["db id"],
        named["instance"],
        named.get("inst num", "1"),
        named["release"],
        first,
        last,
        int(before),
        int(after),
        _minutes(" ".join(rows["elapsed"].values())),
        (*_of_snapshots(rows), *_of_host(grids)),
    )


def _identity(grids: Sequence[Grid]) -> dict[str, str]:
    """The names at the top, by their headings in lower case; they stand in one table or in two."""
    found: dict[str, str] = {}
    for grid in grids:
        headings = [heading.lower() for heading in grid.headings]
        # Statspack has no room for the word name: its first column is the word Database, without a value.
        headings = ["db name" if text in ("db name", "database name") else text for text in headings]
        if not grid.rows or not {"db name", "instance", "release"} & set(headings):
            continue
        for heading, text in zip(headings, grid.rows[0], strict=False):
            if _NAME.fullmatch(text):
                found.setdefault(heading, text)
        if "release" in found and "instance" in found:
            break
    return found


def _in_headings(text: str) -> dict[str, str]:
    found = _HEADING.search(text)
    return {} if found is None else {"db name": found[1], "instance": found[2]}


def _snapshots(grids: Sequence[Grid]) -> dict[str, dict[str, str]]:
    for grid in grids:
        headings = [heading.lower() for heading in grid.headings]
        if "snap id" in headings and "snap time" in headings:
            return {
                row[0].rstrip(": ").lower(): dict(zip(headings[1:], row[1:], strict=False))
                for row in grid.rows
                if row and row[0]
            }
    return {}


def _of_snapshots(rows: Mapping[str, Mapping[str, str]]) -> list[Entry]:
    found = []
    if "db time" in rows:
        printed = _minutes(" ".join(rows["db time"].values()))
        found.append(entry("snapshot", "DB time", "seconds", printed))
    for name, key in (("begin snap", "begin"), ("end snap", "end")):
        found.append(entry("snapshot", "sessions", key, count(rows[name].get("sessions", ""))))
    return found


def _of_host(grids: Sequence[Grid]) -> list[Entry]:
    for grid in grids:
        headings = [heading.lower() for heading in grid.headings]
        if "cpus" in headings and ("platform" in headings or "host name" in headings) and grid.rows:
            return [
                entry("host", name, "value", count(grid.rows[0][headings.index(name)]))
                for name in ("cpus", "cores", "sockets")
                if name in headings
            ]
    return []


def _minutes(text: str) -> Printed:
    found = _MINUTES.search(text)
    return count(found[1] if found else "").times(_MINUTE)


def _time(text: str) -> datetime | None:
    """A snapshot's time, as `12-Dec-23 17:00:31`; None where it is none, or its month is no English one."""
    found = _TIME.fullmatch(text)
    if found is None or found[2].lower() not in _MONTHS:
        return None
    year, month = int(found[3]) + (2000 if len(found[3]) == 2 else 0), _MONTHS.index(found[2].lower()) + 1
    hour, minute, second = (int(found[group] or 0) for group in (4, 5, 6))
    try:
        # A report does not say in which time zone it is.
        return datetime(year, month, int(found[1]), hour, minute, second)  # noqa: DTZ001
    except ValueError:
        return None
