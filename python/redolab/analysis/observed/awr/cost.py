"""The cost of a commit in the interval of one report, and where the time of its sessions went.

S and Q are of sessions and background, Q is the time in wait events that are not idle. The source of the
figures takes them from the views that a report is made of.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from redolab.analysis.observed.awr.entries import BACKGROUND, BOTH, FOREGROUND, TOP, Event, Figures
from redolab.analysis.observed.figures import AWR
from redolab.analysis.profile import ON_CPU, UNACCOUNTED
from redolab.dialect.oracle import CPU_ROWS, LOG_SYNC, LOG_WRITE
from redolab.model.queueing import solve_servers
from redolab.records.account import Account, AccountRow
from redolab.stats.rounded import Rounded, exactly, total

OTHER_WAITS = "other waits"


@dataclass(frozen=True)
class Cost:
    """Figures of one report; None where it does not have their parts. Times in seconds."""

    figures: Figures
    elapsed_s: Rounded
    commits: Rounded | None
    db_time_s: Rounded | None
    cpu_s: Rounded | None
    """CPU time of sessions."""
    background_cpu_s: Rounded | None
    sync: Event | None
    """Log file sync, of sessions."""
    write: Event | None
    """Log file parallel write."""
    waits: Sequence[Event]
    """Wait events of sessions that are not idle; only the largest where a report has no table of all."""
    background_waits: Sequence[Event]
    lists_waits: bool
    """Whether there is a table of the sessions' wait events: events not listed there took next to no time."""

    @cached_property
    def values(self) -> Mapping[str, Rounded]:
        """Every figure that is known, by the keys of `redolab.analysis.observed.figures.AWR`."""
        found: dict[str, Rounded] = {}
        for key, measure in AWR.items():
            # A column comes first: seconds of log sync have the name of the mean of one.
            known = [self.columns.get(name) or found.get(name) for name in measure.columns]
            parts = [part for part in known if part is not None]
            if len(parts) == len(known):
                value = _servers(*parts) if key == "servers" else _over(parts, bool(measure.lower))
                if value is not None:
                    found[key] = value
        return found

    @cached_property
    def columns(self) -> Mapping[str, Rounded | None]:
        """Columns that figures are made of."""
        sync, write = (event or Event("", None, None, None) for event in (self.sync, self.write))
        # In a report of a pluggable database the background is the container's.
        lists_all = self.lists_waits and self.figures.names(BACKGROUND)
        busy = self.figures.number("os", "BUSY_TIME", "value")
        redo, wastage = (
            self.figures.number("statistic", name, "total") for name in ("redo size", "redo wastage")
        )
        return {
            "elapsed_s": self.elapsed_s,
            "transactions": self.commits,
            "instance_cpu_s": self.all_cpu_s,
            "busy_s": self.db_time_s,
            "waits_s": _seconds(self.waits) if lists_all else None,
            "background_waits_s": _seconds(self.background_waits) if lists_all else None,
            "log_sync_s": sync.seconds,
            "log_sync_mean_s": sync.mean_s,
            "log_syncs": sync.waits,
            "log_write_time_s": write.seconds,
            "log_write_mean_s": write.mean_s,
            "log_write_waits": write.waits,
            "log_writes": self.figures.number("statistic", "redo writes", "total") or write.waits,
            "log_bytes": redo,
            "wasted_bytes": wastage,
            "written_bytes": None if redo is None or wastage is None else redo + wastage,
            "written_blocks": self.figures.number("statistic", "redo blocks written", "total"),
            "host_busy_s": None if busy is None else busy.times(0.01),
            "core_s": self._capacity("cores", "NUM_CPU_CORES"),
            "thread_s": self._capacity("cpus", "NUM_CPUS"),
        }

    def _capacity(self, name: str, statistic: str) -> Rounded | None:
        """The time that so many units had to give."""
        # A count is not rounded.
        count = self.counted(name, statistic)
        return self.elapsed_s.times(count) if count else None

    def counted(self, name: str, statistic: str) -> float | None:
        """How many units there are: cores or CPUs."""
        # A heading may be above another column than its own; a statistic has its name next to it.
        found = self.figures.number("os", statistic, "value") or self.figures.number("host", name, "value")
        return None if found is None else found.value

    @property
    def all_cpu_s(self) -> Rounded | None:
        """CPU of all processes; of sessions alone where the background's is not printed.

        Before 10g there was no time model. A statistic has both then, in hundredths of a second.
        """
        if self.cpu_s is not None:
            return self.cpu_s if self.background_cpu_s is None else self.cpu_s + self.background_cpu_s
        every_process = self.figures.number("statistic", "CPU used by this session", "total")
        return None if every_process is None else every_process.times(0.01)

    @property
    def without_background(self) -> bool:
        """Whether `all_cpu_s` is of sessions alone."""
        return self.cpu_s is not None and self.background_cpu_s is None

    def account(self) -> Account | None:
        """DB time divided: CPU, log file sync, other waits, and the rest, which may be negative."""
        if self.db_time_s is None:
            return None
        listed = _seconds(self.waits) if self.lists_waits else None
        unlisted = exactly(0.0) if self.lists_waits else None
        sync = unlisted if self.sync is None else self.sync.seconds
        parts = {
            ON_CPU: (_value(self.cpu_s), "time model"),
            LOG_SYNC: (_value(sync), "foreground wait events"),
            OTHER_WAITS: (
                None if listed is None or sync is None else listed.value - sync.value,
                "foreground wait events",
            ),
        }
        known = [seconds for seconds, _ in parts.values()]
        rest = (
            None
            if None in known
            else self.db_time_s.value - sum(seconds for seconds in known if seconds is not None)
        )
        parts[UNACCOUNTED] = (rest, "DB time less the other rows")
        begin = self.figures.report.start_s
        rows = tuple(
            AccountRow(
                "session",
                name,
                seconds,
                begin,
                begin + self.figures.report.elapsed_s,
                source,
                reason="the report does not print it" if seconds is None else None,
            )
            for name, (seconds, source) in parts.items()
        )
        return Account(rows, None if rest is None else self.db_time_s.value)


def cost_of(figures: Figures) -> Cost:
    """The figures of one report."""
    separate = bool(figures.names(FOREGROUND))
    waits = figures.events(FOREGROUND if separate else BOTH)
    background = figures.events(BACKGROUND)
    lists_waits = separate or bool(figures.names(BOTH))
    if not lists_waits:
        waits = [event for event in figures.events(TOP) if event.name not in {*CPU_ROWS, LOG_WRITE}]
    elif not separate:
        # Older Statspack prints both together; the background's part is printed apart, and taken off.
        waits = [_less(event, figures.event(BACKGROUND, event.name)) for event in waits]
    by_name = {event.name: event for event in waits}
    return Cost(
        figures,
        _elapsed(figures),
        figures.number("statistic", "user commits", "total"),
        figures.number("time model", "DB time", "seconds")
        or figures.number("snapshot", "DB time", "seconds"),
        figures.number("time model", "DB CPU", "seconds"),
        figures.number("time model", "background cpu time", "seconds"),
        by_name.get(LOG_SYNC),
        _first(figures, LOG_WRITE, (BACKGROUND, BOTH, TOP)),
        waits,
        background,
        lists_waits,
    )


def _first(figures: Figures, name: str, sections: Sequence[str]) -> Event | None:
    found = (figures.event(section, name) for section in sections)
    return next((event for event in found if event is not None), None)


def _elapsed(figures: Figures) -> Rounded:
    # Minutes are printed with two decimals.
    elapsed = figures.report.elapsed_s
    return Rounded(elapsed, elapsed - _MINUTES_ROUNDING_S, elapsed + _MINUTES_ROUNDING_S)


_MINUTES_ROUNDING_S = 0.3


def _less(event: Event, part: Event | None) -> Event:
    if part is None or event.waits is None or event.seconds is None:
        return event
    if part.waits is None or part.seconds is None:
        return Event(event.name, None, None, None)
    waits, seconds = event.waits - part.waits, event.seconds - part.seconds
    if waits.value < 0 or seconds.value < 0:
        return Event(event.name, None, None, None)
    return Event(event.name, waits, seconds, seconds.per(waits))


def _seconds(events: Sequence[Event]) -> Rounded | None:
    """The time of events together; None where that of one is not known."""
    times = [event.seconds for event in events]
    known = [item for item in times if item is not None]
    return total(known) if len(known) == len(times) else None


def _value(item: Rounded | None) -> float | None:
    return None if item is None else item.value


def _over(parts: Sequence[Rounded], divided: bool) -> Rounded | None:
    """The sum of columns, over the last of them where it is to be divided."""
    whole = functools.reduce(operator.add, parts[:-1] if divided else parts)
    return whole.per(parts[-1]) if divided else whole


def _servers(service: Rounded, rate: Rounded, response: Rounded) -> Rounded | None:
    servers = solve_servers(service.value, rate.value, response.value)
    # M goes one way with each of the three, so its ends are among those of theirs.
    corners = itertools.product(*((item.low, item.high) for item in (service, rate, response)))
    ends = [found for corner in corners if (found := solve_servers(*corner)) is not None]
    return None if servers is None or not ends else Rounded(servers, min(ends), max(ends))
