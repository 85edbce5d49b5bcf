"""A live server's counters between two readings, and when they must not be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_TIMES = ("log_write_time_s", "log_flush_time_s")
_STANDING_STILL = ("commits", "rows_written", "log_writes", "log_flushes", *_TIMES)
_FAR_MORE, _A_FEW = 2.0, 100.0
_OF_THE_LOG = ("log_bytes", "log_writes", "log_flushes", *_TIMES)
_NAMES = ("transactions", "log_bytes", *_STANDING_STILL)

UNKNOWN: Mapping[str, float | None] = dict.fromkeys(_NAMES)
"""The counters of a time in which they could not be read."""

Row = Mapping[str, Any]
Counted = tuple[Mapping[str, float | None], tuple[str, ...]]


def counted(before: Row, after: Row, rows: Sequence[Row], own: int, io_timed: bool) -> Counted:
    """The counters' differences, as `Observation.counters` has them, and what must be known of them.

    Args:
        before: a row of `select_totals`.
        after: a later one.
        rows: of `select_sessions`, from both times.
        own: Redolab's own transactions in between; each is a commit.
        io_timed: whether the server takes the time of its writes and flushes.

    A standby replays its primary's transaction ids and commits nothing of its own; it does not count what its
    WAL receiver writes and flushes.
    """
    if before["in_recovery"] != after["in_recovery"]:
        return UNKNOWN, (
            "This server was a standby and was promoted meanwhile: its counters for that time are left out.",
        )
    counters = {name: _difference(before[name], after[name]) for name in _NAMES}
    if not io_timed:
        counters |= dict.fromkeys(_TIMES)
    if after["epoch"] != before["epoch"]:
        return counters | dict.fromkeys(_STANDING_STILL), (
            "Counters of the server were reset meanwhile: its log, commit and row counters are left out.",
        )
    if any(row["inside_call"] for row in rows):
        return counters | dict.fromkeys(_STANDING_STILL), (
            "Counters of log writes, flushes, commits and rows are left out: a procedure that commits in a "
            "loop reports its counts only when it returns, and procedures that commit were running.",
        )
    if after["in_recovery"]:
        commits = (counters["commits"] or 0.0) - own
        return counters | dict.fromkeys(_OF_THE_LOG) | {"transactions": 0.0, "commits": commits}, ()
    transactions, commits = counters["transactions"] or 0.0, (counters["commits"] or 0.0) - own
    if transactions > _FAR_MORE * commits + _A_FEW:
        return counters | dict.fromkeys(_STANDING_STILL), (
            "Counters of log writes, flushes, commits and rows are left out: at times transaction ids "
            "advanced far more than commits were counted. A session reports its counts only when a procedure "
            "has ended, and up to ten seconds after it becomes idle; subtransactions take ids without a "
            "commit.",
        )
    return {**counters, "commits": commits}, ()


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
