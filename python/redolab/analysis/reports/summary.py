"""The reports of one instance together: one report with its rounding, several with their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redolab.analysis.profile import ON_CPU
from redolab.analysis.reports.cost import Cost
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
        return self._told(self._known(key))

    def over_reports(self, key: str) -> Estimate:
        """The mean of a figure over the reports; one report has no interval here, whatever it rounded."""
        return _mean([item.value for item in self._known(key)])

    def most(self, key: str) -> float | None:
        """The largest of a figure in any report; None where no report has it."""
        return max((item.value for item in self._known(key)), default=None)

    def share(self, seconds: Sequence[Rounded | None]) -> Estimate:
        """A part of DB time, given the part's seconds in each report."""
        parts = [
            part.per(cost.db_time_s)
            for part, cost in zip(seconds, self.costs, strict=True)
            if part is not None and cost.db_time_s is not None
        ]
        return self._told([part for part in parts if part is not None])

    def _known(self, key: str) -> list[Rounded]:
        return [cost.values[key] for cost in self.costs if key in cost.values]

    def _told(self, known: Sequence[Rounded]) -> Estimate:
        return known[0].estimate() if known and self.single else _mean([item.value for item in known])

    def account_rows(self, names: Sequence[str]) -> list[tuple[str, float | None, Estimate, float | None]]:
        """Of each row its seconds in all reports, its share of DB time, and its time per commit in ms."""
        accounts = [cost.account() for cost in self.costs]
        commits = sum(cost.commits.value for cost in self.costs if cost.commits is not None)
        found = []
        for name in names:
            rows = [None if account is None else account.row(name) for account in accounts]
            times = [None if row is None else row.seconds for row in rows]
            known = [time for time in times if time is not None]
            whole = sum(known) if len(known) == len(times) else None
            shares = [
                time / cost.db_time_s.value
                for time, cost in zip(times, self.costs, strict=True)
                if time is not None and cost.db_time_s is not None and cost.db_time_s.value > 0
            ]
            per_commit = 1e3 * whole / commits if whole is not None and commits else None
            found.append((name, whole, _mean(shares), per_commit))
        return found

    def parts(self) -> list[tuple[str, Estimate]]:
        """CPU and the largest waits with their shares of DB time, the largest first."""
        found = [(ON_CPU, self.share([cost.cpu_s for cost in self.costs]))]
        found += [(name, self.share(self._seconds(name))) for name in self._event_names()]
        known = [(name, share) for name, share in found if share.point]
        return sorted(known, key=lambda item: -(item[1].point or 0.0))[:_MOST_PARTS]

    def top_events(self, most: int) -> list[dict[str, Any]]:
        """CPU and wait events of sessions by their time in all reports, the largest first."""
        rows = [
            {
                "event": "DB CPU",
                "waits": None,
                "seconds": _total([cost.cpu_s for cost in self.costs]),
                "mean_ms": None,
                "share": self.share([cost.cpu_s for cost in self.costs]),
            }
        ]
        for name in self._event_names():
            waits = _total([None if event is None else event.waits for event in self._events(name)])
            seconds = _total(self._seconds(name))
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
        return _total(self._seconds(LOG_SYNC))

    def _event_names(self) -> list[str]:
        return list(dict.fromkeys(event.name for cost in self.costs for event in cost.waits))

    def _events(self, name: str) -> list[Any]:
        return [next((event for event in cost.waits if event.name == name), None) for cost in self.costs]

    def _seconds(self, name: str) -> list[Rounded | None]:
        return [None if event is None else event.seconds for event in self._events(name)]


def _mean(values: Sequence[float]) -> Estimate:
    # One value has no interval, and needs no statistics to be loaded.
    if len(values) < 2:
        return Estimate(values[0], None, None) if values else MISSING
    return mean_estimate(values)


def _total(parts: Sequence[Rounded | None]) -> float | None:
    known = [part.value for part in parts if part is not None]
    return sum(known) if known else None
