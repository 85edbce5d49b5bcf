"""What a commit cost in the interval of one report, and where the time of its sessions went.

The unit of work is a commit. S is CPU per commit, of sessions and background; Q is the time in wait events
that are not idle, of both, per commit; R = S + Q. Source: Craig Shallahamer, OraPub, "unit of work time based
analysis" (2010-2012), who takes the same figures from the views that a report is made of.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from redolab.analysis.observed.awr.entries import BACKGROUND, BOTH, FOREGROUND, TOP, Event, Figures
from redolab.analysis.profile import ON_CPU, UNACCOUNTED
from redolab.dialect.oracle import CPU_ROWS, LOG_SYNC, LOG_WRITE
from redolab.model.queueing import solve_servers
from redolab.records.account import Account, AccountRow
from redolab.stats.rounded import Rounded, exactly, total

OTHER_WAITS = "other waits"


@dataclass(frozen=True)
class Cost:
    """Figures of one report; None where it does not have what they are made of. Times in seconds."""

    figures: Figures
    elapsed_s: Rounded
    commits: Rounded | None
    db_time_s: Rounded | None
    cpu_s: Rounded | None
    """Of sessions."""
    background_cpu_s: Rounded | None
    sync: Event | None
    """Log file sync, of sessions."""
    write: Event | None
    """Log file parallel write."""
    waits: Sequence[Event]
    """Of sessions, not idle ones; the largest alone where a report has no table of all of them."""
    background_waits: Sequence[Event]
    lists_waits: bool
    """Whether there is a table of the sessions' wait events: what it does not list took next to no time."""

    @cached_property
    def values(self) -> Mapping[str, Rounded]:
        """Every figure that is known, by the keys of `FIGURES`."""
        found = ((key, read(self)) for key, read in FIGURES.items())
        return {key: value for key, value in found if value is not None}

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


def _per(one: Rounded | None, other: Rounded | None) -> Rounded | None:
    return None if one is None or other is None else one.per(other)


def _sum(one: Rounded | None, other: Rounded | None) -> Rounded | None:
    return None if one is None or other is None else one + other


def _arrival_rate(cost: Cost) -> Rounded | None:
    return _per(cost.commits, cost.elapsed_s)


def _service_time(cost: Cost) -> Rounded | None:
    return _per(cost.all_cpu_s, cost.commits)


def _queue_time(cost: Cost) -> Rounded | None:
    if not cost.lists_waits or not cost.figures.names(BACKGROUND):
        # A report of a pluggable database: the background is the container's.
        return None
    return _per(_sum(_seconds(cost.waits), _seconds(cost.background_waits)), cost.commits)


def _response_time(cost: Cost) -> Rounded | None:
    return _sum(_service_time(cost), _queue_time(cost))


def _servers(cost: Cost) -> Rounded | None:
    service, rate, response = _service_time(cost), _arrival_rate(cost), _response_time(cost)
    if service is None or rate is None or response is None:
        return None
    servers = solve_servers(service.value, rate.value, response.value)
    # M goes one way with each of the three, so its ends are among those of theirs.
    corners = itertools.product(*((item.low, item.high) for item in (service, rate, response)))
    ends = [found for corner in corners if (found := solve_servers(*corner)) is not None]
    return None if servers is None or not ends else Rounded(servers, min(ends), max(ends))


def _of_sync(pick: Callable[[Event], Rounded | None]) -> Callable[[Cost], Rounded | None]:
    return lambda cost: None if cost.sync is None else pick(cost.sync)


def _of_write(pick: Callable[[Event], Rounded | None]) -> Callable[[Cost], Rounded | None]:
    return lambda cost: None if cost.write is None else pick(cost.write)


def _log_writes(cost: Cost) -> Rounded | None:
    counted = cost.figures.number("statistic", "redo writes", "total")
    return counted or (None if cost.write is None else cost.write.waits)


def _redo(cost: Cost) -> Rounded | None:
    return cost.figures.number("statistic", "redo size", "total")


def _busy_s(cost: Cost) -> Rounded | None:
    busy = cost.figures.number("os", "BUSY_TIME", "value")
    return None if busy is None else busy.times(0.01)


def _of_units(name: str, statistic: str) -> Callable[[Cost], Rounded | None]:
    """Utilisation of the CPUs, counted in such units: U = R / C."""

    def found(cost: Cost) -> Rounded | None:
        number = cost.figures.number("host", name, "value") or cost.figures.number("os", statistic, "value")
        # A count is no rounded number.
        capacity = None if number is None else cost.elapsed_s.times(number.value) if number.value else None
        return _per(_busy_s(cost), capacity)

    return found


FIGURES: Mapping[str, Callable[[Cost], Rounded | None]] = {
    "arrival_rate_per_s": _arrival_rate,
    "service_time_s": _service_time,
    "queue_time_s": _queue_time,
    "response_time_s": _response_time,
    "servers": _servers,
    "log_sync_s": _of_sync(lambda event: event.mean_s),
    "log_sync_share": lambda cost: _per(_of_sync(lambda event: event.seconds)(cost), cost.db_time_s),
    "log_syncs_per_commit": lambda cost: _per(_of_sync(lambda event: event.waits)(cost), cost.commits),
    "log_write_s": _of_write(lambda event: event.mean_s),
    "log_writes_per_s": lambda cost: _per(_log_writes(cost), cost.elapsed_s),
    "commits_per_log_write": lambda cost: _per(cost.commits, _log_writes(cost)),
    "redo_per_commit": lambda cost: _per(_redo(cost), cost.commits),
    "redo_per_log_write": lambda cost: _per(_redo(cost), _log_writes(cost)),
    "log_utilization": lambda cost: _per(_of_write(lambda event: event.seconds)(cost), cost.elapsed_s),
    "cpu_utilization_cores": _of_units("cores", "NUM_CPU_CORES"),
    "cpu_utilization_threads": _of_units("cpus", "NUM_CPUS"),
}
"""What is computed of every report; times in seconds, sizes in bytes, shares of 1."""
_CPU = "the report prints neither DB CPU nor CPU used by this session"
_WAITS = "the report lists no wait events of sessions or of the background, or one whose time cannot be read"
_SYNC = "no log file sync of sessions is listed; events of less than 0.001 s in all never are"
_WRITE = "no log file parallel write is listed; that of a pluggable database is its container's"
_WRITES = "the statistic redo writes is not listed, nor is log file parallel write"
_BUSY = "BUSY_TIME or the number of CPUs is not printed"
REASONS: Mapping[str, str] = {
    "arrival_rate_per_s": "the statistic user commits is nothing, or cannot be read",
    "service_time_s": _CPU,
    "queue_time_s": _WAITS,
    "response_time_s": f"{_CPU}; or {_WAITS}",
    "servers": "S, L or R is not known, or no M fits them",
    "log_sync_s": _SYNC,
    "log_sync_share": f"{_SYNC}; or the report has no DB time",
    "log_syncs_per_commit": _SYNC,
    "log_write_s": _WRITE,
    "log_writes_per_s": _WRITES,
    "commits_per_log_write": _WRITES,
    "redo_per_commit": "the statistic redo size is not listed",
    "redo_per_log_write": _WRITES,
    "log_utilization": _WRITE,
    "cpu_utilization_cores": _BUSY,
    "cpu_utilization_threads": _BUSY,
}
"""Why a figure is not known, where it is not."""
