"""The reports of one instance together: one report with its rounding, several with their mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from redolab.analysis.observed.awr.cost import Cost
from redolab.analysis.observed.awr.entries import Event
from redolab.analysis.profile import ON_CPU
from redolab.dialect.oracle import LOG_SYNC
from redolab.stats.estimates import MISSING, Estimate, mean_estimate
from redolab.stats.rounded import Rounded

_MOST_PARTS = 6


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
        """Whether a report tells the time of its calls; those before 10g do not."""
        return any(cost.db_time_s is not None for cost in self.costs)

    @property
    def lists_waits(self) -> bool:
        """Whether a report has a table of the sessions' wait events."""
        return any(cost.lists_waits for cost in self.costs)

    def estimate(self, key: str) -> Estimate:
        """A figure: of one report as it is printed, of several the mean with its 95 % interval."""
        return self.over_reports(self._known(key))

    def mean(self, key: str) -> Estimate:
        """The mean of a figure over the reports; one report has no interval here, whatever it rounded."""
        return _mean([item.value for item in self._known(key)])

    def most(self, key: str) -> float | None:
        """The largest of a figure in any report; None where no report has it."""
        return max((item.value for item in self._known(key)), default=None)

    def share(self, seconds: Sequence[tuple[Cost, Rounded | None]]) -> Estimate:
        """A part of DB time, given the part's seconds in each report that has it."""
        parts = [
            part.per(cost.db_time_s)
            for cost, part in seconds
            if part is not None and cost.db_time_s is not None
        ]
        return self.over_reports([part for part in parts if part is not None])

    def _known(self, key: str) -> list[Rounded]:
        return [cost.values[key] for cost in self.costs if key in cost.values]

    def over_reports(self, known: Sequence[Rounded]) -> Estimate:
        """A figure, given that of each report that has it."""
        return known[0].estimate() if known and self.single else _mean([item.value for item in known])

    def account_rows(self, names: Mapping[str, str]) -> list[dict[str, Any]]:
        """Seconds of each row in all reports, its share of DB time, and its time per commit in ms.

        Args:
            names: of the rows, by those in an account.
        """
        accounts = [cost.account() for cost in self.costs]
        commits = sum(cost.commits.value for cost in self.costs if cost.commits is not None)
        found = []
        for row, name in names.items():
            rows = [None if account is None else account.row(row) for account in accounts]
            times = [None if item is None else item.seconds for item in rows]
            known = [time for time in times if time is not None]
            whole = sum(known) if len(known) == len(times) else None
            shares = [
                time / cost.db_time_s.value
                for time, cost in zip(times, self.costs, strict=True)
                if time is not None and cost.db_time_s is not None and cost.db_time_s.value > 0
            ]
            per_commit = 1e3 * whole / commits if whole is not None and commits else None
            found.append({"row": name, "seconds": whole, "share": _mean(shares), "per_commit_ms": per_commit})
        return found

    def parts(self) -> list[tuple[str, Estimate]]:
        """CPU and the largest waits with their shares of DB time, the largest first."""
        found = [(ON_CPU, self.share(self._cpu))]
        found += [(name, self.share(self._seconds(name))) for name in self._events]
        known = [(name, share) for name, share in found if share.point]
        return sorted(known, key=lambda item: -(item[1].point or 0.0))[:_MOST_PARTS]

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
        return [(cost, event.seconds) for cost, event in self._events.get(name, ())]


def _mean(values: Sequence[float]) -> Estimate:
    # One value has no interval, and needs no statistics to be loaded.
    if len(values) < 2:
        return Estimate(values[0], None, None) if values else MISSING
    return mean_estimate(values)


def _total(parts: Sequence[Rounded | None]) -> float | None:
    known = [part.value for part in parts if part is not None]
    return sum(known) if known else None


def _first_of_each(events: Sequence[Event]) -> Iterable[Event]:
    found: dict[str, Event] = {}
    for event in events:
        found.setdefault(event.name, event)
    return found.values()
