"""Files that the script AWR-Miner spools (`awr-hist-*.out`): a series of snapshots in one file.

For every snapshot and instance it prints means over the minutes, so a total is a mean times the interval. Its
tables of events and histograms cover all instances together, and are read where there is only one instance.

Source: the queries of the script, versions 2.9 to 5.22.2. Versions before 3.0.21 do not print the database's
number, which is part of the file's name. Numbers have the decimal mark of the session, and no separator of
thousands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from redolab.dialect.oracle import CPU_ROWS, LOG_SYNC, LOG_WRITE
from redolab.errors import UsageError
from redolab.importers.header import Header
from redolab.importers.numbers import Numbers, PrintedNumber
from redolab.importers.printed import Printed
from redolab.importers.sections import bounded, entry
from redolab.records.report import Entry

_MARK = re.compile(r"~~(BEGIN|END)-([A-Z0-9-]{1,60})~~")
_NAME = re.compile(r"[\w$#.+-]{1,128}")
_OF_ALL_INSTANCES = ("AVERAGE-ACTIVE-SESSIONS", "TOP-N-TIMED-EVENTS", "IO-WAIT-HISTOGRAM")
MOST_SNAPSHOTS = 20_000
"""Snapshots in one file; the script takes 30 days of them."""
_MINUTE_S = 60.0
_MOST_LINE = 10_000
"""Characters of a line of dashes; the longest has less than a thousand."""
_RULER = re.compile(r"-++(?: -++)*+")
_END = "%y/%m/%d %H:%M"
_NUMBER = re.compile(r"\d{1,9}")
_IN_NAME = re.compile(r"awr-hist-(\d{4,12})-", re.IGNORECASE)
"""The database's number in the name that the script gives its file."""
_MEANS: Sequence[tuple[str, str, str, tuple[str, ...], float]] = (
    ("statistic", "user commits", "total", ("commits_s",), 1.0),
    ("statistic", "redo size", "total", ("redo_mb_s",), 2.0**20),
    ("statistic", "CPU used by this session", "total", ("cpu_p_sec", "cpu_per_s"), 100.0),
    ("time model", "DB time", "seconds", ("db_time",), 0.01),
    ("os", "BUSY_TIME", "value", ("h_cpu_per_s",), 100.0),
)
"""Section, name and measure of a total, the column with its mean per second in any version, and its unit."""

_COLUMNS = frozenset(
    {
        "STAT_NAME", "STAT_VALUE", "SNAP_ID", "WAIT_CLASS", "AVG_SESS", "EVENT_NAME", "PCTDBT",
        "WAIT_TIME_MILLI", "WAIT_COUNT", "PARAMETER_NAME", "VALUE", "snap", "inst", "end", "dur_m",
        *(column for _, _, _, columns, _ in _MEANS for column in columns),
    }
)  # fmt: skip
"""Columns that are read, of all queries; no other is kept."""
_NUMBERS = ("AVG_SESS", "PCTDBT", "WAIT_COUNT", "dur_m", *(name for item in _MEANS for name in item[3]))
"""Columns whose numbers may have decimals, so that they show their mark."""

Row = Mapping[str, str]


@dataclass(frozen=True)
class Snapshot:
    """One snapshot of one instance."""

    header: Header
    entries: tuple[Entry, ...]


def snapshots_of(text: str, what: str) -> list[Snapshot]:
    """Every snapshot of every instance, in the order of time.

    Args:
        text: the file.
        what: its name, for the error.

    Raises:
        UsageError: it does not name its database, or has no snapshot that can be read.
        OutOfBoundsError: a snapshot has more figures than any.
    """
    sections = _sections(text)
    system = {
        row.get("STAT_NAME", ""): row.get("STAT_VALUE", "") for row in _rows(sections, "OS-INFORMATION")
    }
    needed = ("DB_NAME", "VERSION")
    missing = [name for name in needed if not _NAME.fullmatch(system.get(name, ""))]
    if missing:
        raise UsageError(
            f"{what} does not name its {' and '.join(missing)}, so it is not a whole file of AWR-Miner. Copy "
            "or create it again."
        )
    in_name = _IN_NAME.search(what.rpartition("/")[2])
    system.setdefault("DBID", in_name[1] if in_name else "")
    metrics = _rows(sections, "MAIN-METRICS")
    if system.get("INSTANCES", "1") != "1" or len({row.get("inst") for row in metrics}) > 1:
        for name in _OF_ALL_INSTANCES:
            sections.pop(name, None)
    if len(metrics) > MOST_SNAPSHOTS:
        raise UsageError(
            f"{what} has {len(metrics):,} snapshots, and one run can hold at most {MOST_SNAPSHOTS:,}. Let "
            "AWR-Miner take fewer days."
        )
    sessions, top, waits = (_rows(sections, name) for name in _OF_ALL_INSTANCES)
    events, histograms = _by_snapshot(top), _by_snapshot(waits)
    numbers = Numbers(
        (
            PrintedNumber(name, row[name])
            for row in (*metrics, *sessions, *top, *waits)
            for name in _NUMBERS
            if name in row
        ),
        grouped=False,
    )
    cpu = {
        row.get("SNAP_ID", ""): row.get("AVG_SESS", "")
        for row in sessions
        if row.get("WAIT_CLASS") == "DB CPU"
    }
    host = [
        entry("host", name, "value", numbers.count(system[key]))
        for name, key in (("cpus", "NUM_CPUS"), ("cores", "NUM_CPU_CORES"))
        if key in system
    ]
    found = []
    reader = _Totals(numbers)
    for row, header in _headers(metrics, system, numbers):
        totals = [
            entry(section, name, measure, reader.total(row, columns, unit, header))
            for section, name, measure, columns, unit in _MEANS
        ]
        snapshot = row["snap"]
        mean = {"AVG_SESS": cpu.get(snapshot, "")}
        totals.append(
            entry("time model", "DB CPU", "seconds", reader.total(mean, ("AVG_SESS",), 1.0, header))
        )
        # Where a snapshot comes twice, its histogram belongs to the first.
        histogram = histograms.pop(snapshot, ())
        counted = [item for event in (LOG_SYNC, LOG_WRITE) for item in reader.waits(histogram, event)]
        largest = reader.top(events.pop(snapshot, ()), totals, counted)
        found.append(Snapshot(header, tuple(bounded((*totals, *host, *counted, *largest)))))
    if not found:
        raise UsageError(
            f"{what} has no snapshot in its section MAIN-METRICS, so there is nothing to import."
        )
    parameters = [
        Entry(0, "parameter", row["PARAMETER_NAME"], "begin", None, None, row.get("VALUE", ""), None)
        for row in _rows(sections, "DATABASE-PARAMETERS")
        if row.get("PARAMETER_NAME")
    ]
    # They are printed once, as they were at the last snapshot.
    found[-1] = Snapshot(found[-1].header, tuple(bounded((*found[-1].entries, *parameters))))
    return found


def _sections(text: str) -> dict[str, str]:
    """The text between the marks of each section that ends."""
    found: dict[str, str] = {}
    name, begin = "", 0
    for mark in _MARK.finditer(text):
        if mark[1] == "END" and mark[2] == name:
            found.setdefault(name, text[begin : mark.start()])
        name, begin = (mark[2], mark.end()) if mark[1] == "BEGIN" else ("", 0)
    return found


def _rows(sections: Mapping[str, str], name: str) -> list[Row]:
    """The rows of a query: cells are below the dashes that underline the headings."""
    lines = sections.get(name, "").splitlines()
    ruler = next((n for n, line in enumerate(lines) if n and _RULER.fullmatch(line[:_MOST_LINE].rstrip())), 0)
    if not ruler:
        return []
    above, spans = lines[ruler - 1], (found.span() for found in re.finditer(r"-+", lines[ruler][:_MOST_LINE]))
    columns = {above[begin:end].strip(): (begin, end) for begin, end in spans}
    read = [(heading, *span) for heading, span in columns.items() if heading in _COLUMNS]
    repeated = {lines[ruler - 1].rstrip(), lines[ruler].rstrip(), ""}
    return [
        {heading: line[begin:end].strip() for heading, begin, end in read}
        for line in lines[ruler + 1 :]
        if line.rstrip() not in repeated
    ]


def _by_snapshot(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.get("SNAP_ID", ""), []).append(row)
    return found


def _headers(
    rows: Sequence[Row], system: Mapping[str, str], numbers: Numbers
) -> Iterator[tuple[Row, Header]]:
    """Each row of the metrics with its interval, which begins where the instance's previous one ended."""
    pluggable = system["DB_NAME"] != "CDB$ROOT"
    database = system["DB_NAME"] if pluggable else system.get("CDB_NAME", "CDB$ROOT")
    before: dict[str, tuple[datetime, int]] = {}
    for row in rows:
        end, number, instance = _time(row.get("end", "")), row.get("snap", ""), row.get("inst", "")
        minutes = numbers.count(row.get("dur_m", ""), "dur_m").value
        if end is None or not minutes or not _NUMBER.fullmatch(number) or not _NUMBER.fullmatch(instance):
            continue
        begin = end - timedelta(minutes=min(max(minutes, 0.0), _LONGEST_MIN))
        last, snapshot = before.get(instance, (begin, None))
        begin = max(begin, last)
        if begin >= end:
            continue
        before[instance] = end, int(number)
        elapsed = Printed((end - begin).total_seconds(), _MINUTE_S, None)
        yield row, Header(
            database, system["DBID"], instance, instance, system["VERSION"],
            begin, end, snapshot, int(number), elapsed, (),
        )  # fmt: skip


_LONGEST_MIN = 60 * 24 * 31


def _time(text: str) -> datetime | None:
    try:
        # The file does not name its time zone.
        return datetime.strptime(text, _END)  # noqa: DTZ007
    except ValueError:
        return None


@dataclass(frozen=True)
class _Totals:
    """Reads the figures of a snapshot."""

    numbers: Numbers
    """How the file prints them."""

    def total(self, row: Row, columns: Sequence[str], unit: float, header: Header) -> Printed:
        """A mean per second times the interval, whose ends are printed to the minute."""
        column = next((name for name in columns if name in row), columns[0])
        mean, elapsed = self.numbers.count(row.get(column, ""), column), header.elapsed
        if mean.value is None or mean.rounding is None or not elapsed.value or not elapsed.rounding:
            return mean
        rounding = mean.rounding * elapsed.value + abs(mean.value) * elapsed.rounding
        return Printed(unit * mean.value * elapsed.value, unit * rounding, None)

    def waits(self, rows: Sequence[Row], event: str) -> list[Entry]:
        """An event's histogram as shares: the file prints counts of waits between powers of two of 1 ms."""
        counts: dict[int, float] = {}
        for row in rows:
            bound = row.get("WAIT_TIME_MILLI", "")
            waits = self.numbers.count(row.get("WAIT_COUNT", ""), "WAIT_COUNT").value
            if row.get("EVENT_NAME") == event and _NUMBER.fullmatch(bound) and waits is not None:
                counts[int(bound)] = waits
        whole = sum(counts.values())
        if whole <= 0:
            return []
        bounds = [2**power for power in range(max(counts).bit_length())]
        if not set(counts) <= set(bounds):
            return []
        found = [entry("histogram", event, "total", Printed(whole, 0.0, None))]
        for below, to in zip([0, *bounds], bounds, strict=False):
            share = Printed(100 * counts.get(to, 0.0) / whole, 0.0, None)
            found.append(entry("histogram", event, f"{below / 1e3:g} to {to / 1e3:g}", share))
        return found

    def top(self, rows: Sequence[Row], totals: Sequence[Entry], waits: Sequence[Entry]) -> list[Entry]:
        """The largest events: their time is a share of DB time, their waits come from the histogram."""
        db_time = next((item for item in totals if item.name == "DB time"), None)
        counted = {item.name: item.value for item in waits if item.measure == "total"}
        found = []
        for row in rows:
            name = row.get("EVENT_NAME", "")
            if not name or name in CPU_ROWS:
                continue
            share = self.numbers.count(row.get("PCTDBT", ""), "PCTDBT")
            known = name in counted
            number = Printed(counted.get(name), 0.0, None) if known else Printed(None, None, _UNCOUNTED)
            found += [
                entry("top event", name, "share", share),
                entry("top event", name, "waits", number),
                entry("top event", name, "seconds", _part(share, db_time)),
            ]
        return found


_UNCOUNTED = "AWR-Miner counts only waits for the log, and only where there is one instance"


def _part(share: Printed, whole: Entry | None) -> Printed:
    if share.value is None or share.rounding is None or whole is None:
        return share
    if whole.value is None or whole.rounding is None:
        return Printed(None, None, whole.reason)
    rounding = share.rounding * whole.value + abs(share.value) * whole.rounding
    return Printed(share.value * whole.value / 100, rounding / 100, None)
