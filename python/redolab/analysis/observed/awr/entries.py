"""The reports of an imported run, and their figures with what rounding leaves of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from redolab.dialect.oracle_idle import is_idle
from redolab.records.report import BLANK, Entry, Report
from redolab.records.run import Run
from redolab.stats.rounded import Rounded, printed, sharpest

Key = tuple[str, str, str]
"""Section, name and measure."""
_AT_ONCE = 50_000
_IDLE = "idle"
FOREGROUND, BACKGROUND, BOTH, TOP = "foreground event", "background event", "event", "top event"
_STATISTICS = (
    "user commits", "redo size", "redo writes", "redo wastage", "redo blocks written",
    "CPU used by this session",
)  # fmt: skip
"""Statistics that figures are made of; a report has hundreds."""


@dataclass(frozen=True)
class Event:
    """A wait event in one report."""

    name: str
    waits: Rounded | None
    seconds: Rounded | None
    """Time of all its waits together."""
    mean_s: Rounded | None


@dataclass(frozen=True)
class Figures:
    """One report with everything that was read of it, histograms apart."""

    report: Report
    entries: Mapping[Key, Entry]

    def number(self, section: str, name: str, measure: str) -> Rounded | None:
        """A figure; None where the report does not have it, or has it below zero."""
        return _rounded(self.entries.get((section, name, measure)))

    def texts(self, section: str) -> Iterator[tuple[str, str]]:
        """Names and texts of a section, in the order printed."""
        for (found, name, _), entry in self.entries.items():
            if found == section and entry.text is not None:
                yield name, entry.text

    def names(self, section: str) -> list[str]:
        """The names in a section, in the order printed."""
        return list(dict.fromkeys(name for found, name, _ in self.entries if found == section))

    def event(self, section: str, name: str) -> Event | None:
        """An event of a section, its time and mean each from the figures that were rounded least."""
        sections = (section, TOP) if section == FOREGROUND else (section,)
        if not any((item, name, "waits") in self.entries for item in sections):
            return None
        waits = sharpest(self.number(item, name, "waits") for item in sections)
        seconds = [self.number(item, name, "seconds") for item in sections]
        means = [self.number(item, name, "mean_s") for item in sections]
        together = [None if waits is None or mean is None else waits * mean for mean in means]
        apart = [None if waits is None or time is None else time.per(waits) for time in seconds]
        return Event(name, waits, sharpest([*seconds, *together]), sharpest([*means, *apart]))

    def events(self, section: str) -> list[Event]:
        """The events of a section that are not idle, in the order printed."""
        return [
            event
            for name in self.names(section)
            if not self._idle(section, name) and (event := self.event(section, name)) is not None
        ]

    def _idle(self, section: str, name: str) -> bool:
        """Whether a process waits for work there; the report's own class comes first."""
        wait_class = self.entries.get((section, name, "class"))
        if wait_class is not None and wait_class.text:
            return wait_class.text.lower() == _IDLE
        share = self.entries.get((section, name, "share"))
        # A report gives idle events no share of the time that it divides. Statspack divides the time of
        # calls, # by a list that ends with its release.
        if share is not None and share.reason == BLANK:
            return True
        of_db_time = self.report.layout.startswith("AWR") and section in (FOREGROUND, TOP)
        return is_idle(name) and not (of_db_time and share is not None and (share.value or 0.0) > 0)


def read_figures(run: Run) -> list[Figures]:
    """Every report of the run in the order of time, those that do not count too."""
    sections = run.entries["section"]
    of_log = pc.and_(pc.equal(sections, "statistic"), pc.is_in(run.entries["name"], pa.array(_STATISTICS)))
    others = pc.invert(pc.is_in(sections, pa.array(("statistic", "histogram"))))
    by_report: dict[int, dict[Key, Entry]] = {}
    for batch in run.entries.filter(pc.or_(of_log, others)).to_batches(_AT_ONCE):
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            entry = Entry(*values)
            by_report.setdefault(entry.sample, {})[entry.section, entry.name, entry.measure] = entry
    reports = sorted((Report(**row) for row in run.samples.to_pylist()), key=lambda item: item.sample)
    return [Figures(report, by_report.get(report.sample, {})) for report in reports]


def read_histogram(run: Run, event: str) -> dict[int, list[Entry]]:
    """The entries of an event's histogram, by the number of the report."""
    wanted = pc.and_(pc.equal(run.entries["section"], "histogram"), pc.equal(run.entries["name"], event))
    found: dict[int, list[Entry]] = {}
    for row in run.entries.filter(wanted).to_pylist():
        found.setdefault(row["sample"], []).append(Entry(**row))
    return found


def _rounded(entry: Entry | None) -> Rounded | None:
    # What counts or times something is never below zero: such a counter began anew.
    if entry is None or entry.value is None or entry.rounding is None or entry.value < 0:
        return None
    return printed(entry.value, entry.rounding)
