"""The costs of a calibration as a table: each with the scatter of the run's blocks."""

from __future__ import annotations

from collections.abc import Callable

from redolab.analysis.exhibits import Column, Table
from redolab.forecast.costs.costs import Costs, after_idle
from redolab.forecast.costs.run_costs import RunCosts
from redolab.stats.estimates import Estimate
from redolab.units import counted

LEVEL = 0.90


def cost(calibrated: RunCosts, pick: Callable[[Costs], float]) -> Estimate:
    """One cost, with the middle 90 % of its values over the resampled blocks."""
    import numpy as np

    point = pick(calibrated.point)
    if not calibrated.replicates:
        return Estimate(point, None, None, LEVEL)
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile([pick(each) for each in calibrated.replicates], ends)
    return Estimate(point, float(low), float(high), LEVEL)


def tables(calibrated: RunCosts) -> list[Table]:
    """The costs that forecasts start from."""
    point = calibrated.point

    def transaction(place: int) -> Estimate:
        return cost(calibrated, lambda each: each.transaction_cpu_s[place][1])

    def row(place: int) -> Estimate:
        return cost(calibrated, lambda each: each.row_cpu_s[place][1])

    def more(idle_s: float) -> Estimate:
        return cost(calibrated, lambda each: after_idle(each.after_idle_s, idle_s))

    rows = [
        _row(f"commit, {counted(sessions, 'session')}: CPU", transaction(place))
        for place, (sessions, _) in enumerate(point.transaction_cpu_s)
    ]
    rows += [_row("more after a flush: CPU", cost(calibrated, lambda each: each.cold_s))]
    if point.loop == "client":
        rows += [
            _row("client's statement: CPU", cost(calibrated, lambda each: each.client_s[-1][1])),
            _row("client's waking up: CPU", cost(calibrated, lambda each: each.client_wake_s)),
            _row("hand-over to an idle CPU", cost(calibrated, lambda each: each.hand_over_exit_s)),
        ]
    if point.row_known:
        places = list(enumerate(point.row_cpu_s))
        # The row cost of one session is left out where several numbers of sessions were measured.
        rows += [
            _row(f"further row, {counted(sessions, 'session')}: CPU", row(place))
            for place, (sessions, _) in places[1:] or places
        ]
    rows += [
        _row("flush: CPU", cost(calibrated, lambda each: each.flush_cpu_s)),
        _row("flush: device", cost(calibrated, lambda each: each.flush_mean_s)),
        *_second(calibrated),
        *(
            _row(f"more after {1e3 * idle_s:.0f} ms idle", more(idle_s))
            for idle_s, _ in point.after_idle_s[1:]
        ),
        _row("wait for a flush: CPU", cost(calibrated, lambda each: each.wake_s)),
        _row("going on after a flush: CPU", cost(calibrated, lambda each: each.served_s[-1][1])),
    ]
    return [
        Table(
            "costs",
            "Costs that forecasts start from",
            (Column("cost", "cost", "text"), Column("time", "time", "estimate", "µs")),
            rows,
            "Commit: one row in the server, without its flush and with warm caches. More after a flush: the "
            "additional time of a commit that has waited for a flush. Intervals: the middle 90 % over "
            "resampled blocks of the run.",
            first=True,
        )
    ]


def _second(calibrated: RunCosts) -> list[dict[str, object]]:
    """A flush of the second log, where commits wait for one."""
    if calibrated.point.second is None:
        return []
    mean = cost(calibrated, lambda each: 0.0 if each.second is None else each.second.flush_mean_s)
    return [_row("flush of the binary log: device", mean)]


def _row(name: str, seconds: Estimate) -> dict[str, object]:
    return {"cost": name, "time": seconds.scaled(1e6)}
