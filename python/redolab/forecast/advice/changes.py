"""Possible changes of today's setting, the risk of each, and the command that measures it.

Every change is of one factor. The application decides rows per commit and sessions. The server decides
waiting for the log and a commit delay. Log device and CPUs are hardware.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from redolab import units
from redolab.dialect.postgres import COMMIT_SIBLINGS
from redolab.forecast.costs.costs import Costs, Scenario
from redolab.forecast.costs.run_costs import RunCosts
from redolab.forecast.models.quantities import Quantities
from redolab.stats.enough import fewest_enough

Forecast = Callable[[Costs, Scenario, int], Quantities]
"""Forecasts with so many simulated commits."""
_NO_DELAY = "Commit delay: this server has a commit delay only with a binary log."
_NEVER_DELAYS = "Commit delay: this server does not have a commit delay."
_NO_KNOWN_DELAY = (
    "Commit delay: the binary log is inside InnoDB, and MariaDB's documentation does not state whether a "
    "delay has an effect inside InnoDB."
)
OF_COMMITS = frozenset({"rows_per_commit", "commit_wait", "commit_delay_us", "log_device"})
"""Factors that change how commits are made, or the log that they wait for."""
OF_LOG = OF_COMMITS - {"rows_per_commit"}
"""Factors whose change saves no more than the waits for the log."""
Class = Literal["kept", "lost", "limit"]
"""Durability kept, durability given up, or the limit of a change that nobody can make."""

COMMITS = 5_000
"""Simulated for a forecast: a good hundredth of a throughput's own error."""
REPLICATE_COMMITS = 2_000
"""Simulated for each resampled calibration, whose scatter alone is wanted."""
_PER_SESSION = 20
_ROWS = 32
_ELBOW = 0.95


@dataclass(frozen=True)
class Change:
    """One thing to change, before its gain is known."""

    factor: str
    """`rows_per_commit`, `sessions`, `commit_wait`, `commit_delay_us`, `log_device` or `cpus`."""
    to: str
    """Its level with the change, in the factor's unit where it has one."""
    name: str
    """In words."""
    scenario: Scenario
    kind: Class
    risk: str
    """Other losses, or the cost."""
    measure: str
    """The command that measures it; RUN is a placeholder for the run."""
    device_scale: float = 1.0
    """Time of a flush on the log device, as a part of the measured one."""

    def of(self, calibration: Costs) -> Costs:
        """The costs with the change."""
        if self.device_scale == 1.0:
            return calibration
        second = calibration.second
        return replace(
            calibration,
            flush_s=self._scaled(calibration.flush_s),
            device_s_per_byte=self.device_scale * calibration.device_s_per_byte,
            second=second and replace(second, flush_s=self._scaled(second.flush_s)),
        )

    def _scaled(self, flush_s: Sequence[float]) -> tuple[float, ...]:
        return tuple(self.device_scale * value for value in flush_s)


def enough(commits: int, sessions: int) -> int:
    """So many simulated commits, or as many more as the steady state of `sessions` asks for."""
    return max(commits, _PER_SESSION * sessions)


def candidates(calibrated: RunCosts, forecast: Forecast, without: Collection[str] = ()) -> tuple[Change, ...]:
    """The changes that are tried.

    Args:
        calibrated: costs of a run.
        forecast: finds the number of sessions at the elbow.
        without: the factors that are not changed.
    """
    today = calibrated.measured[calibrated.today].scenario
    found = (
        *_more_rows(calibrated, today),
        *(() if "sessions" in without else _other_sessions(calibrated, today, forecast)),
        *_no_waiting(today),
        *_delay(calibrated, today),
        *_log_device(calibrated, today),
        *_cpus(calibrated, today),
    )
    return tuple(change for change in found if change.factor not in without)


def not_forecast(
    calibrated: RunCosts, binlog_in_redo: bool = False, without_delay: bool = False
) -> list[str]:
    """Changes that could not be tried, with the reason.

    Args:
        calibrated: costs of a run.
        binlog_in_redo: whether the server keeps its binary log inside the engine whose log is the redo log.
        without_delay: whether the server does not have a commit delay, whatever the costs.
    """
    today = calibrated.measured[calibrated.today].scenario
    reasons = []
    if not calibrated.point.row_known:
        reasons.append(
            "Rows per commit: the run had one row in every commit, so what a further row costs is not known."
        )
    if not calibrated.rows_counted:
        reasons.append("Rows per commit: the rows of today's commits were not counted.")
    least = _sessions_for_delay(calibrated)
    if today.commit_wait == "wait" and least is None:
        reasons.append(_NO_KNOWN_DELAY if binlog_in_redo else _NO_DELAY)
    elif today.commit_wait == "wait" and without_delay:
        reasons.append(_NEVER_DELAYS)
    elif today.commit_wait == "wait" and least is not None and today.sessions < least:
        others = units.counted(least - 1, "other transaction")
        reasons.append(
            f"Commit delay: a commit delay takes effect only with at least {others}, and today's setting has "
            f"{units.counted(today.sessions, 'session')}."
        )
    return reasons


def _sessions_for_delay(calibrated: RunCosts) -> int | None:
    """The fewest sessions that a commit delay can gain by; None where the server does not have a delay."""
    if calibrated.point.second is not None:
        return 2
    return None if calibrated.point.handed_on else COMMIT_SIBLINGS + 1


def _more_rows(calibrated: RunCosts, today: Scenario) -> list[Change]:
    if not calibrated.point.row_known or not calibrated.rows_counted:
        return []
    now = today.rows_per_commit
    levels = sorted({2 * now, 8 * now, *([_ROWS] if now < _ROWS else [])})
    return [
        Change(
            "rows_per_commit",
            str(rows),
            f"{rows:,} rows per commit instead of {now:,}",
            _with_rows(calibrated, today, rows),
            "kept",
            f"{rows:,} rows are acknowledged or rolled back together, each row waits for all of them, and "
            "locks last longer",
            f"redolab verify-forecast RUN --set rows_per_commit={rows}",
        )
        for rows in levels
    ]


def _with_rows(calibrated: RunCosts, today: Scenario, rows: int) -> Scenario:
    """Today's setting with other rows per commit. A client that was seen to be away between transactions is
    away as long for each row: more rows in a commit are no more work that comes.
    """
    away = rows / today.rows_per_commit if calibrated.point.only_seen else 1.0
    return replace(today, rows_per_commit=rows, think_time_ms=away * today.think_time_ms)


def _other_sessions(calibrated: RunCosts, today: Scenario, forecast: Forecast) -> list[Change]:
    now, elbow = today.sessions, _elbow(calibrated, today, forecast)
    levels = sorted({elbow, max(1, now // 2), 2 * now} - {now})
    return [
        Change(
            "sessions",
            str(sessions),
            f"{units.counted(sessions, 'session')} instead of {now:,}"
            + (" (the elbow)" * (sessions == elbow)),
            replace(today, sessions=sessions),
            "kept",
            "a request that finds no free session waits outside the database instead of inside"
            if sessions < now
            else "more sessions contend for locks and pages, which the model does not include",
            f"redolab verify-forecast RUN --set sessions={sessions}",
        )
        for sessions in levels
    ]


def _no_waiting(today: Scenario) -> list[Change]:
    if today.commit_wait == "nowait":
        return []
    return [
        Change(
            "commit_wait",
            "nowait",
            "commits that do not wait for the log (nowait)",
            replace(today, commit_wait="nowait", commit_delay_us=0),
            "lost",
            "a crash of the server loses commits that were acknowledged",
            "redolab verify-forecast RUN --set commit_wait=nowait",
        )
    ]


def _delay(calibrated: RunCosts, today: Scenario) -> list[Change]:
    """Half the time of a flush.

    Source: PostgreSQL manual, "WAL Configuration".
    """
    least = _sessions_for_delay(calibrated)
    if today.commit_wait != "wait" or least is None or today.sessions < least:
        return []
    delay = max(1, round(1e6 * calibrated.point.flush_mean_s / 2)) if today.commit_delay_us == 0 else 0
    name = f"a commit delay of {delay:,} µs" if delay else "no commit delay"
    return [
        Change(
            "commit_delay_us",
            str(delay),
            name,
            replace(today, commit_delay_us=delay),
            "kept",
            "every commit that leads a flush waits longer by the delay"
            if delay
            else "flushes serve fewer commits",
            f"redolab verify-forecast RUN --set commit_delay_us={delay}",
        )
    ]


def _log_device(calibrated: RunCosts, today: Scenario) -> list[Change]:
    flush = units.duration(calibrated.point.flush_mean_s / 2)
    there = "redolab run calibrate --engine URL, with the log of the database on such a device"
    return [
        Change(
            "log_device",
            "half",
            f"a log device twice as fast ({flush})",
            today,
            "kept",
            "hardware",
            there,
            device_scale=0.5,
        ),
        Change(
            "log_device",
            "none",
            "a log device that takes no time",
            today,
            "limit",
            "no device is that fast: this is the most that any device can give",
            there,
            device_scale=0.0,
        ),
    ]


def _cpus(calibrated: RunCosts, today: Scenario) -> list[Change]:
    now = calibrated.point.cpus if today.cpus is None else today.cpus
    return [
        Change(
            "cpus",
            f"{2 * now:.3g}",
            f"{2 * now:.3g} effective CPUs instead of {now:.3g}",
            replace(today, cpus=2 * now),
            "kept",
            "hardware; more CPUs contend for locks and pages, which the model does not include",
            "redolab run calibrate, on a machine with that many CPUs (redolab run cpu-capacity measures "
            "effective CPUs)",
        )
    ]


def _elbow(calibrated: RunCosts, today: Scenario, forecast: Forecast) -> int:
    """The fewest sessions, by powers of two, that do 95 % of the most that up to four times as many do."""
    levels = [1 << power for power in range((4 * today.sessions).bit_length())]
    rates = {
        sessions: forecast(
            calibrated.point,
            replace(today, sessions=sessions),
            enough(REPLICATE_COMMITS, sessions),
        )["throughput_per_s"]
        for sessions in levels
    }
    return fewest_enough(rates, _ELBOW)
