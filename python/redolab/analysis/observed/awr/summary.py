"""The reports of one instance together: one report with its rounding, several by their totals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from redolab.analysis.observed.awr.cost import OTHER_WAITS, Cost
from redolab.analysis.observed.awr.entries import Event
from redolab.analysis.observed.figures import AWR
from redolab.analysis.profile import ON_CPU, UNACCOUNTED
from redolab.dialect.oracle import LOG_SYNC, is_row_lock
from redolab.model.queueing import server_slopes, solve_servers
from redolab.stats.estimates import MISSING, Estimate, function_estimate, quotient_estimate
from redolab.stats.rounded import Rounded, exactly

_MOST_PARTS = 6
_SERVERS = "servers"
_OF_SERVERS = ("service_time_s", "arrival_rate_per_s", "response_time_s")
_SIGNED = frozenset({UNACCOUNTED, OTHER_WAITS})
"""Rows of an account that are a remainder, and so may be below zero."""


@dataclass(frozen=True)
class Summary:
    """The counting reports of one instance, in the order of time; at least one."""

    costs: Sequence[Cost]

    @property
    def single(self) -> bool:
        """Whether there is one report alone, so that an interval is its rounding."""
        return len(self.costs) == 1

    @property
    def has_db_time(self) -> bool:
        """Whether a report has the time of its calls; reports before 10g do not."""
        return any(cost.db_time_s is not None for cost in self.costs)

    @property
    def lists_waits(self) -> bool:
        """Whether a report has a table of the sessions' wait events."""
        return any(cost.lists_waits for cost in self.costs)

    def estimate(self, key: str) -> Estimate:
        """A figure: as printed by one report, or over several a total over another with its interval."""
        known = [cost.values[key] for cost in self.costs if key in cost.values]
        return known[0].estimate() if known and self.single else self.mean(key)

    def mean(self, key: str) -> Estimate:
        """A total over another, so that a report counts by what it had; one report has no interval here,
        whatever it rounded.
        """
        if key == _SERVERS:
            return self._servers()
        if self.single:
            # The mean that one report prints is sharper than a quotient of what it prints.
            value = self.costs[0].values.get(key)
            return MISSING if value is None else Estimate(value.value, None, None)
        return quotient_estimate(self._parts(key, self.costs), part=AWR[key].part, unequal=True)

    def most(self, key: str) -> float | None:
        """The largest of a figure in any report; None where no report has it."""
        return max((cost.values[key].value for cost in self.costs if key in cost.values), default=None)

    def share(self, seconds: Sequence[tuple[Cost, Rounded | None]]) -> Estimate:
        """A part of DB time, given the part's seconds in each report that has it."""
        return self.quotient([(part, cost.db_time_s) for cost, part in seconds], part=True)

    def quotient(
        self, parts: Sequence[tuple[Rounded | None, Rounded | None]], *, part: bool = False
    ) -> Estimate:
        """A sum over another, of the reports in which both are known, given both in each report.

        Args:
            parts: the two of each report.
            part: whether the first is a part of the other.
        """
        known = [(upper, lower) for upper, lower in parts if upper is not None and lower is not None]
        if self.single and known:
            alone = known[0][0].per(known[0][1])
            return MISSING if alone is None else alone.estimate()
        pairs = [(upper.value, lower.value) for upper, lower in known]
        return quotient_estimate(pairs, part=part, unequal=True)

    def _parts(self, key: str, costs: Sequence[Cost]) -> list[tuple[float, float]]:
        """Sums for a figure and their divisors, from the reports in which both are known."""
        upper, lower = AWR[key].totals
        found = []
        for cost in costs:
            columns = [self._columns(cost).get(name) for name in (*upper, lower)]
            known = [column.value for column in columns if column is not None]
            if len(known) == len(columns):
                found.append((math.fsum(known[:-1]), known[-1]))
        return found

    def _columns(self, cost: Cost) -> Mapping[str, Rounded | None]:
        """The columns of a report. An event that other reports list, and this one does not among all of its
        own, took nothing here.
        """
        if cost.sync is not None or not cost.lists_waits or LOG_SYNC not in self._events:
            return cost.columns
        return {**cost.columns, "log_sync_s": exactly(0.0), "log_syncs": exactly(0.0)}

    def _servers(self) -> Estimate:
        """M solved from S, L and R of the reports that have all three."""
        mine = [cost for cost in self.costs if all(key in cost.values for key in _OF_SERVERS)]
        parts = [self._parts(key, mine) for key in _OF_SERVERS]
        points = [quotient_estimate(each).point for each in parts]
        values = [point for point in points if point is not None]
        if len(values) < len(points):
            return MISSING
        servers, slopes = solve_servers(*values), server_slopes(values)
        if servers is None:
            return MISSING
        return Estimate(servers, None, None) if slopes is None else function_estimate(servers, slopes, parts)

    def account_rows(self, names: Mapping[str, str]) -> list[dict[str, Any]]:
        """Seconds of each row in all reports, its share of DB time, and its time per commit in ms.

        Args:
            names: shown names of the rows, by their names in an account.
        """
        accounts = [cost.account() for cost in self.costs]
        found = []
        for row, name in names.items():
            rows = [None if account is None else account.row(row) for account in accounts]
            times = [None if item is None else item.seconds for item in rows]
            known = [(time, cost) for time, cost in zip(times, self.costs, strict=True) if time is not None]
            shares = [
                (time, cost.db_time_s.value)
                for time, cost in known
                if cost.db_time_s is not None and cost.db_time_s.value > 0
            ]
            per_commit = [(time, cost.commits.value) for time, cost in known if cost.commits is not None]
            found.append(
                {
                    "row": name,
                    "seconds": sum(time for time, _ in known) if len(known) == len(times) else None,
                    "share": quotient_estimate(
                        shares, part=row not in _SIGNED, signed=row in _SIGNED, unequal=True
                    ),
                    "per_commit_ms": quotient_estimate(per_commit, signed=True).scaled(1e3).point,
                }
            )
        return found

    def parts(self) -> list[tuple[str, Estimate]]:
        """CPU and the largest waits with their shares of DB time, the largest first."""
        found = [(ON_CPU, self.share(self._cpu))]
        found += [(name, self.share(self._seconds(name))) for name in self._events]
        known = [(name, share) for name, share in found if share.point]
        return sorted(known, key=lambda item: -(item[1].point or 0.0))[:_MOST_PARTS]

    def log_times(self) -> tuple[float | None, float | None, float | None]:
        """The part of the time that the log is written; a write and a sync, seconds. None where not known."""
        busy, write_s, sync_s = (
            self.estimate(key).point for key in ("log_utilization", "log_write_s", "log_sync_s")
        )
        return busy, write_s, sync_s

    def row_lock_share(self) -> float | None:
        """Waits of sessions for rows that others hold, as a part of DB time; None where none is listed."""
        shares = [self.share(self._seconds(name)).point for name in self._events if is_row_lock(name)]
        known = [share for share in shares if share is not None]
        return math.fsum(known) if known else None

    def top_events(self, most: int) -> list[dict[str, Any]]:
        """CPU and wait events of sessions by their time in all reports, the largest first."""
        rows = [
            {
                "event": "DB CPU",
                "waits": None,
                "seconds": _total([part for _, part in self._cpu]),
                "mean_ms": None,
                "share": self.share(self._cpu),
            }
        ]
        for name, events in self._events.items():
            waits = _total([event.waits for _, event in events])
            seconds = _total([event.seconds for _, event in events])
            rows.append(
                {
                    "event": name,
                    "waits": None if waits is None else round(waits),
                    "seconds": seconds,
                    "mean_ms": 1e3 * seconds / waits if seconds is not None and waits else None,
                    "share": self.share(self._seconds(name)),
                }
            )
        return sorted(rows, key=lambda row: -(row["seconds"] or 0.0))[:most]  # type: ignore[operator]

    def sync_seconds(self) -> float | None:
        """Seconds of log file sync in all reports."""
        return _total([part for _, part in self._seconds(LOG_SYNC)])

    @property
    def _cpu(self) -> list[tuple[Cost, Rounded | None]]:
        return [(cost, cost.cpu_s) for cost in self.costs]

    @cached_property
    def _events(self) -> Mapping[str, Sequence[tuple[Cost, Event]]]:
        """By the names of events, in the order printed: the reports that have one; its first row counts."""
        found: dict[str, list[tuple[Cost, Event]]] = {}
        for cost in self.costs:
            for event in _first_of_each(cost.waits):
                found.setdefault(event.name, []).append((cost, event))
        return found

    def _seconds(self, name: str) -> list[tuple[Cost, Rounded | None]]:
        """Seconds of an event in each report that has them: 0 where a full list does not have the event."""
        listed = {id(cost): event.seconds for cost, event in self._events.get(name, ())}
        unlisted = [cost for cost in self.costs if id(cost) not in listed and cost.lists_waits]
        nothing = {id(cost): exactly(0.0) for cost in unlisted} if listed else {}
        found = {**listed, **nothing}
        return [(cost, found[id(cost)]) for cost in self.costs if id(cost) in found]


def _total(parts: Sequence[Rounded | None]) -> float | None:
    known = [part.value for part in parts if part is not None]
    return sum(known) if known else None


def _first_of_each(events: Sequence[Event]) -> Iterable[Event]:
    found: dict[str, Event] = {}
    for event in events:
        found.setdefault(event.name, event)
    return found.values()
