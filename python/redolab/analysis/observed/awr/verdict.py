"""The change that the reports of an instance suggest first, in sentences."""

from __future__ import annotations

from redolab import units
from redolab.analysis.amdahl import bound
from redolab.analysis.observed.awr import tables
from redolab.analysis.observed.awr.summary import Summary
from redolab.analysis.observed.exhibits import Cumulative
from redolab.analysis.observed.verdict import (
    SOME,
    advice,
    each_wait,
    log_first,
    milliseconds,
    not_the_disk,
    row_locks,
    saturated,
    takes,
)

_DB_TIME = "DB time"


def sentences(name: str, summary: Summary, waits: tuple[Cumulative, Cumulative]) -> list[str]:
    """The verdict: whether commits are what to change, and what their waits are made of."""
    share = summary.estimate("log_sync_share")
    if share.point is None and summary.sync_seconds() is not None:
        each = milliseconds(summary.estimate("log_sync_s").point)
        return [
            f"One log file sync took {each}. How much that adds to calls is not known: these reports do not "
            "have DB time.",
            *_of_the_log(summary),
            *each_wait(*waits),
        ]
    if share.point is None and not summary.lists_waits:
        return [
            f"These reports do not show what commits of {name} wait for: they have no table of wait events.",
            *_without_account(summary),
            *_of_the_log(summary),
        ]
    busy = summary.estimate("log_utilization").point
    largest = _largest(summary)
    if share.point is None:
        return [
            f"Look elsewhere first: no log file sync of a session is listed for {name}.",
            "A report lists only events that took 0.001 s or more in total.",
            *largest,
            *_of_the_log(summary),
        ]
    most = bound(share).point
    part = units.percent(share.point)
    each = milliseconds(summary.estimate("log_sync_s").point)
    limit = (
        ""
        if most is None
        else f" Without log file sync, calls would take {units.percent(1 / most)} of their time."
    )
    what = advice(share.point, "Change how commits are made")
    if share.point < SOME:
        what = log_first(busy) or what
    first = f"{what}: log file sync is {part} of DB time, {each} a wait."
    return [
        first + limit,
        *(largest if share.point < SOME else ()),
        *row_locks(summary.row_lock_share() or 0.0, _DB_TIME, busy),
        *_of_the_log(summary),
        *each_wait(*waits),
    ]


def _without_account(summary: Summary) -> list[str]:
    """A sentence where no part of DB time is known."""
    if summary.has_db_time and not summary.parts():
        return ["So it is also not known where the database's time (DB time) went."]
    return []


def _largest(summary: Summary) -> list[str]:
    """The part of DB time that is the largest."""
    parts = summary.parts()
    return [takes(tables.part_name(name), share.point or 0.0, _DB_TIME) for name, share in parts[:1]]


def _of_the_log(summary: Summary) -> list[str]:
    busy, write_s, sync_s = summary.log_times()
    found = saturated(busy, write_s, sync_s)
    if busy is not None and not found:
        found.append(
            f"A log write took {milliseconds(write_s)}, and the log writer was writing for "
            f"{units.percent(busy)} of the time."
        )
    found += not_the_disk(busy, write_s, sync_s)
    sharing = summary.estimate("commits_per_log_write").point
    if sharing is not None:
        found.append(f"There were {units.significant(sharing)} commits per log write.")
    return found
