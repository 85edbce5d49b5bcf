"""A watch by hour of the day and by day, UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import numpy.typing as npt

from redolab import units
from redolab.analysis.exhibits import Table
from redolab.analysis.observed.exhibits import DAYS, groups_table, hour_text
from redolab.analysis.observed.figures import WATCH
from redolab.analysis.observed.watch.measures import known_response, over_stretches
from redolab.analysis.observed.watch.stretches import Stretches
from redolab.stats.estimates import Estimate

HOUR_S, DAY_S = 3600, 86_400
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_NOTE = (
    "Hours and days are in UTC. Intervals are at 95 %, and allow for the correlation between successive "
    "stretches of time."
)


def tables(stretches: Stretches) -> list[Table]:
    """The hours of the day and the days apart; none where all stretches are in one of them."""
    response = known_response(stretches)
    found = [
        _table("hours", "By hour of the day", "Hour", stretches, hours_of(stretches), hour_text, response),
        _table("days", "By day", "Day", stretches, days_of(stretches), day_text, response),
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


def _table(
    key: str,
    caption: str,
    title: str,
    stretches: Stretches,
    groups: npt.NDArray[np.int64],
    name: Callable[[int], str],
    response: str,
) -> Table:
    parts = {name(int(group)): stretches.only(groups == group) for group in np.unique(groups)}
    return groups_table(
        key,
        caption,
        title,
        {text: (len(part), partial(_estimate, part)) for text, part in parts.items()},
        ("stretches", "Log sync", "busy time"),
        (response, "log_sync_per_commit_s"),
        f"{_NOTE} R: {WATCH[response].meaning}.",
    )


def _estimate(stretches: Stretches, key: str) -> Estimate:
    return over_stretches(key, stretches).estimate()
