"""The database and the interval that a report covers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from redolab.errors import UsageError
from redolab.importers.grid import Grid
from redolab.importers.moments import UnreadMomentError, moments_of
from redolab.importers.numbers import Numbers, PrintedNumber
from redolab.importers.printed import Printed
from redolab.importers.sections import entry
from redolab.records.report import Entry

_MINUTES = re.compile(r"([\d,.' \u00a0\u2019\u202f]{1,40}[KM]?) ?\(min(?:ute)?s?\)", re.IGNORECASE)
_NAME = re.compile(r"[\w$#.+-]{1,128}")
_HEADING = re.compile(r"DB(?:/Inst)?: {1,4}([\w$#.+-]{1,128})(?:/|  {1,4}Instance: )([\w$#.+-]{1,128})")
_RELEASE = re.compile(r"\d{1,2}\.\d{1,3}(?:\.\d{1,6}){0,3}")
_MINUTE_S = 60.0
_HEADER = "header"
"""Name of the header's columns, for how their numbers are printed."""
_ROOT = "CDB$ROOT"
_CONTAINER = ("container name", "pdb name")
_MOST_SNAPSHOT = 10**15


@dataclass(frozen=True)
class Header:
    """The top of a report."""

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
    container: str = ""
    """The pluggable database that it covers; empty where it covers the whole database."""

    @property
    def of(self) -> str:
        """The subject of a series of such reports: database, instance and pluggable database."""
        return "/".join(name for name in (self.database, self.instance, self.container) if name)


def header_of(grids: Sequence[Grid], what: str, numbers: Numbers, text: str = "") -> Header:
    """Read the top of a report.

    Args:
        grids: of the whole report.
        what: name of the file, for the error.
        numbers: how it prints numbers.
        text: of a plain report, whose headings name the database too; some have it nowhere else.

    Raises:
        UsageError: it does not name its database or its interval.
    """
    named = {**_in_headings(text), **_identity(grids)}
    rows = _snapshots(grids)
    begin, end = rows.get("begin snap"), rows.get("end snap")
    if begin is None or end is None or "elapsed" not in rows:
        raise UsageError(
            f"{what} does not name its two snapshots, so it is not a whole report. Create or copy it again."
        )
    missing = [key for key in ("db name", "db id", "instance", "release") if key not in named]
    if missing or not _RELEASE.fullmatch(named["release"]):
        raise UsageError(
            f"{what} does not name its {' and '.join(missing) or 'release'} as Oracle's reports do. Other "
            "products write reports that look like Oracle's and count other things."
        )
    before, after = (numbers.count(row.get("snap id", "")).value for row in (begin, end))
    if (
        before is None
        or after is None
        or not 0 <= before <= _MOST_SNAPSHOT
        or not 0 <= after <= _MOST_SNAPSHOT
    ):
        raise UsageError(f"{what} has snapshots whose numbers cannot be read. Create the report again.")
    try:
        first, last = moments_of(
            [row.get("snap time", "") for row in (begin, end)], [named.get("startup time", "")]
        )
    except UnreadMomentError as error:
        raise UsageError(f"{what} has snapshots {error}.") from error
    _check_life(
        named.get("startup time", ""), first, last, [r.get("snap time", "") for r in (begin, end)], what
    )
    elapsed = _minutes(rows["elapsed"], numbers).kept()
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
        elapsed,
        (*_of_snapshots(rows, numbers), *_of_host(grids, numbers)),
        _container(grids),
    )


def _check_life(startup: str, first: datetime, last: datetime, texts: Sequence[str], what: str) -> None:
    """Make sure that the instance was not restarted between the snapshots: its counters began anew then.

    Args:
        startup: when it started, as printed; empty where it is not.
        first: the first snapshot.
        last: the last one.
        texts: both as printed, which may show the language.
        what: name of the file, for the error.

    Raises:
        UsageError: it was restarted.
    """
    try:
        (started,) = moments_of([startup], texts)
    except UnreadMomentError:
        return
    if first < started < last:
        raise UsageError(
            f"{what} covers an instance that started at {started:%Y-%m-%d %H:%M}, between its two snapshots, "
            "so the instance's counters began again at zero. Create a report from two snapshots after that "
            "start."
        )


def numbers_in_header(grids: Sequence[Grid]) -> Iterator[PrintedNumber]:
    """The numbers at the top of a report."""
    rows = _snapshots(grids)
    for key in ("elapsed", "db time"):
        yield PrintedNumber(_HEADER, _minutes_text(rows.get(key, {})))
    for name, text in _host(grids):
        yield PrintedNumber(f"{_HEADER}/{name}", text, whole=True)


def _identity(grids: Sequence[Grid]) -> dict[str, str]:
    """The names at the top, by their headings in lower case; they are in one table or in two."""
    found: dict[str, str] = {}
    for grid in grids:
        headings = [heading.lower() for heading in grid.headings]
        # Statspack has no room for the word name: its first column is the word Database, without a value.
        headings = ["db name" if text in ("db name", "database name") else text for text in headings]
        if not grid.rows or not {"db name", "instance", "release"} & set(headings):
            continue
        for heading, text in zip(headings, grid.rows[0], strict=False):
            if _NAME.fullmatch(text) or heading == "startup time":
                found.setdefault(heading, text)
        if "release" in found and "instance" in found:
            break
    return found


def _in_headings(text: str) -> dict[str, str]:
    found = _HEADING.search(text)
    return {} if found is None else {"db name": found[1], "instance": found[2]}


def _container(grids: Sequence[Grid]) -> str:
    """The pluggable database; empty where the report covers the root, and so all of them."""
    for grid in grids:
        headings = [heading.lower() for heading in grid.headings]
        if "snap id" in headings:
            break
        heading = next((text for text in _CONTAINER if text in headings), None)
        if heading is not None and grid.rows:
            name = grid.rows[0][headings.index(heading)]
            return name if _NAME.fullmatch(name) and name != _ROOT else ""
    return ""


def _snapshots(grids: Sequence[Grid]) -> dict[str, dict[str, str]]:
    return next(_all_snapshots(grids), {})


def _all_snapshots(grids: Sequence[Grid]) -> Iterator[dict[str, dict[str, str]]]:
    for grid in grids:
        headings = [heading.lower() for heading in grid.headings]
        if "snap id" in headings and "snap time" in headings:
            rows = {
                row[0].rstrip(": ").lower(): dict(zip(headings[1:], row[1:], strict=False))
                for row in grid.rows
                if row and row[0]
            }
            if "begin snap" in rows:
                yield rows


def reports_in(grids: Sequence[Grid]) -> int:
    """How many reports a file holds, one behind the other: each begins with its two snapshots."""
    return sum(1 for _ in _all_snapshots(grids))


def _of_snapshots(rows: Mapping[str, Mapping[str, str]], numbers: Numbers) -> list[Entry]:
    found = []
    if "db time" in rows:
        found.append(entry("snapshot", "DB time", "seconds", _minutes(rows["db time"], numbers)))
    for name, key in (("begin snap", "begin"), ("end snap", "end")):
        found.append(entry("snapshot", "sessions", key, numbers.count(rows[name].get("sessions", ""))))
    return found


def _of_host(grids: Sequence[Grid], numbers: Numbers) -> list[Entry]:
    return [
        entry("host", name, "value", numbers.count(text, f"{_HEADER}/{name}")) for name, text in _host(grids)
    ]


def _host(grids: Sequence[Grid]) -> list[tuple[str, str]]:
    """CPUs, cores and sockets as printed."""
    for grid in grids:
        headings = [heading.lower() for heading in grid.headings]
        is_host = "cpus" in headings and ("platform" in headings or "host name" in headings)
        # Where headings are not above their columns, some columns do not have one.
        if is_host and all(headings) and grid.rows:
            return [
                (name, grid.rows[0][headings.index(name)])
                for name in ("cpus", "cores", "sockets")
                if name in headings
            ]
    return []


def _minutes(cells: Mapping[str, str], numbers: Numbers) -> Printed:
    return numbers.count(_minutes_text(cells), _HEADER).times(_MINUTE_S)


def _minutes_text(cells: Mapping[str, str]) -> str:
    """The number of minutes among the cells of a row."""
    found = _MINUTES.search(" ".join(cells.values()))
    return found[1].strip() if found else ""
