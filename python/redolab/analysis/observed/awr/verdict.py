"""What the reports of an instance say to change first, in sentences.

A log writer that is busy nearly all the time is what everything waits for, also where another wait is longer:
row locks are held until their holder's commit is on disk. Where a sync lasts much longer than a write, the
time is not the disk's.
"""

from __future__ import annotations

from redolab import units
from redolab.analysis.amdahl import bound
from redolab.analysis.observed.awr.summary import Summary
from redolab.analysis.observed.exhibits import Cumulative
from redolab.analysis.observed.verdict import MUCH, SOME, advice, each_wait
from redolab.dialect.oracle import ROW_LOCKS

SATURATED = 0.9
"""Part of the time that the log writer wrote, from which on it has no time left for more."""
_SATURATED = "The log is saturated: whatever commits queues for the log writer."
FAR = 3.0
"""Times that a sync lasts as long as a write, from which on most of it is not a write: a commit waits for two
at the most, the one under way and its own."""


def sentences(name: str, summary: Summary, waits: tuple[Cumulative, Cumulative]) -> list[str]:
    """The verdict: whether commits are what to change, and what their waits are made of."""
    share = summary.estimate("log_sync_share")
    if share.point is None and summary.sync_seconds() is not None:
        each = _milliseconds(summary, "log_sync_s")
        return [
            f"One log file sync took {each}: how much of all calls that is, these reports do not say.",
            "They have no DB time.",
            *_of_the_log(summary),
            *_of_the_disk(summary),
            *each_wait(*waits),
        ]
    if share.point is None and not summary.lists_waits:
        return [
            f"What commits of {name} wait for, these reports do not say: they have no table of wait events.",
            *_of_the_log(summary),
        ]
    if share.point is None:
        return [
            f"Look elsewhere first: no log file sync of a session is listed for {name}.",
            "A report lists what took a thousandth of a second or more in all.",
            *_of_the_log(summary),
        ]
    most = bound(share).point
    part = units.percent(share.point)
    each = _milliseconds(summary, "log_sync_s")
    limit = "" if most is None else f" Without it calls would take {units.percent(1 / most)} of their time."
    saturated, locks = is_saturated(summary), _of_locks(summary)
    what = advice(share.point, "Change how commits are made")
    if saturated and share.point < MUCH:
        what = "Relieve the log first"
    if saturated and locks:
        # Shorter commits shorten the waits for locks too, so they are not bounded by this share.
        limit = ""
    return [
        f"{what}: log file sync is {part} of DB time, {each} a wait.{limit}",
        *_of_the_log(summary),
        *((_SATURATED, *locks) if saturated else _of_the_disk(summary)),
        *each_wait(*waits),
    ]


def is_saturated(summary: Summary) -> bool:
    """Whether the log writer has no time left."""
    busy = summary.estimate("log_utilization").point
    return busy is not None and busy >= SATURATED


def far_from_writes(summary: Summary) -> float | None:
    """How many times a log write one log file sync lasts; None where it is not far more, or not known."""
    sync, write = (summary.estimate(key).point for key in ("log_sync_s", "log_write_s"))
    times = sync / write if sync is not None and write else 0.0
    return times if times >= FAR else None


def _of_locks(summary: Summary) -> list[str]:
    """Waits for row locks, where the log is what keeps them."""
    held = sum(share.point or 0.0 for name, share in summary.parts() if name.startswith(ROW_LOCKS))
    if held < SOME:
        return []
    return [
        f"Row locks are {units.percent(held)} of DB time: a lock is kept until its holder's commit is on "
        "disk, so these sessions wait for the log too."
    ]


def _of_the_disk(summary: Summary) -> list[str]:
    times = far_from_writes(summary)
    if times is None:
        return []
    return [
        f"It is not the disk: a log file sync took {units.significant(times)} times a log write. The rest is "
        "the queue for the log writer or for a CPU, before the write or after it."
    ]


def _of_the_log(summary: Summary) -> list[str]:
    found = []
    busy = summary.estimate("log_utilization").point
    if busy is not None:
        found.append(
            f"A log write took {_milliseconds(summary, 'log_write_s')}; the log writer wrote for "
            f"{units.percent(busy)} of the time."
        )
    sharing = summary.estimate("commits_per_log_write").point
    if sharing is not None:
        found.append(f"Commits per log write: {units.significant(sharing)}.")
    return found


def _milliseconds(summary: Summary, key: str) -> str:
    value = summary.estimate(key).point
    return "an unknown time" if value is None else f"{units.significant(1e3 * value)} ms"
