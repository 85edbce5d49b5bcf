"""A watch by hour of the day and by day, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from redolab import units
from redolab.analysis.exhibits import Table
from redolab.analysis.reports.times_of_day import DAYS, group_columns
from redolab.analysis.watched.measures import figure
from redolab.analysis.watched.stretches import Stretches

HOUR_S, DAY_S = 3600, 86_400
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_NOTE = (
    "Hours and days are those of UTC. Intervals are at 95 %, and allow for stretches that are like the ones "
    "before."
)


def tables(stretches: Stretches) -> list[Table]:
    """The hours of the day and the days apart; none where all stretches are in one of them."""
    days = days_of(stretches)
    found = [
        _table("hours", "By hour of the day", "Hour", stretches, hours_of(stretches), _hour_text),
        _table("days", "By day", "Day", stretches, days, day_text),
    ]
    return [table for table in found if len(table.rows) > 1]


def hours_of(stretches: Stretches) -> npt.NDArray[np.int64]:
    """The hour of the day in which each began, 0 to 23."""
    return (stretches.began % DAY_S // HOUR_S).astype(np.int64)


def days_of(stretches: Stretches) -> npt.NDArray[np.int64]:
    """The day on which each began, counted from 1970."""
    return (stretches.began // DAY_S).astype(np.int64)


def day_text(day: int) -> str:
    """A day in words, such as `Tuesday, 24 November 2026`."""
    found = _FIRST + timedelta(days=day)
    return f"{DAYS[found.weekday()]}, {units.moment(found.isoformat()).partition(',')[0]}"


def _hour_text(hour: int) -> str:
    return f"{hour:02}h"


def _table(
    key: str, caption: str, title: str, stretches: Stretches, groups: npt.NDArray[np.int64], name: Any
) -> Table:
    return Table(
        key,
        caption,
        group_columns(title, ("stretches", "Stretches"), "busy time"),
        [_row(name(int(group)), stretches.only(groups == group)) for group in _known(groups)],
        _NOTE,
    )


def _known(groups: npt.NDArray[np.int64]) -> Sequence[Any]:
    return list(np.unique(groups))


def _row(name: str, mine: Stretches) -> dict[str, Any]:
    return {
        "group": name,
        "stretches": len(mine),
        "rate": figure("arrival_rate_per_s", mine).estimate(),
        "response": figure("response_time_s", mine).estimate().scaled(1e3),
        "sync": figure("log_sync_per_commit_s", mine).estimate().scaled(1e3),
        "share": figure("log_sync_share", mine).estimate(),
    }
