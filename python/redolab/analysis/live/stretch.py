"""The observation of one stretch of a watch as the rows that are stored; pure, no server."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redolab.analysis.live.division import divide_group
from redolab.analysis.live.episodes import bucket_ends_ms
from redolab.analysis.live.group import Json, WaitLengths, group
from redolab.analysis.live.log import lengths
from redolab.analysis.live.looks import count
from redolab.dialect.log_waits import is_log_sync
from redolab.records.observation import Episodes, Observation
from redolab.records.report import Entry
from redolab.records.watched import BACKGROUND, LOG_SYNC, LOG_WRITE, SESSIONS, SETTING, Watched

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Members = npt.NDArray[np.int64]

MOST_ROWS = 40
"""Rows of an account that are kept by name; the shortest beyond them are one row."""
OTHER = "other"
_LONGEST_NAME = 200
_REPLAYING = (
    "logical replication", "slave_sql", "slave_worker", "replica_sql", "replica_worker", "replication",
)  # fmt: skip
"""Beginnings of the names of processes that commit what another server committed."""


@dataclass(frozen=True)
class Place:
    """The place of a stretch in its watch."""

    sample: int
    block: int
    position: int
    start_s: float


def stretch(
    observation: Observation, place: Place, host_cores: int | None, spoiled: str | None = None
) -> tuple[Watched, list[Entry]]:
    """The row of a stretch, and its entries: where time went, and how long waits for the log were.

    Args:
        observation: all that was seen in it, joined.
        place: in the watch.
        host_cores: cores of the machine, where the server is on it.
        spoiled: why it does not count, where that is known already.
    """
    import numpy as np

    counted = count(observation)
    sessions = np.flatnonzero(counted.is_session)
    background = np.flatnonzero(~counted.is_session)

    def account(members: Members) -> Json:
        division = divide_group(counted.blocked, members)
        return group(observation, counted, members, division, WaitLengths((), ()))

    of_sessions, of_background = account(sessions), account(background)
    counters = observation.counters
    row = Watched(
        sample=place.sample,
        block=place.block,
        position=place.position,
        setting=SETTING,
        started_at=observation.at,
        start_s=place.start_s,
        elapsed_s=observation.elapsed_s,
        spoiled=spoiled or observation.broken or _spoiled(observation),
        connected_s=of_sessions["elapsed_s"],
        busy_s=of_sessions["busy_s"],
        client_in_transaction_s=_in_transaction(of_sessions),
        worked_sessions=_worked(observation),
        session_cpu_s=_used(observation, "cpu_s"),
        session_run_queue_s=_used(observation, "run_queue_s"),
        log_sync_s=math.fsum(row["time_s"] for row in of_sessions["profile"] if is_log_sync(row["row"])),
        instance_cpu_s=_instance_cpu(observation),
        host_cpus=observation.host_cpus,
        host_cores=_cores(observation, host_cores),
        host_busy_s=observation.host_busy_s,
        host_steal_s=observation.host_steal_s,
        transactions=_whole(counters, "transactions"),
        rows_written=_whole(counters, "rows_written"),
        log_flushes=_whole(counters, "log_flushes"),
        log_flush_time_s=counters.get("log_flush_time_s"),
        log_writes=_whole(counters, "log_writes"),
        log_write_time_s=counters.get("log_write_time_s"),
        log_bytes=_whole(counters, "log_bytes"),
        binlog_flushes=_whole(counters, "binlog_flushes"),
        binlog_flush_time_s=counters.get("binlog_flush_time_s"),
        ticks=observation.ticks,
        looks=observation.instrument.looks,
        sampler_cpu_s=observation.instrument.cpu_s,
        server_cpu_s=observation.instrument.server_cpu_s,
        replayers=_replayers(observation),
    )
    named = [
        *((SESSIONS, *item) for item in _rows(of_sessions["profile"])),
        *((BACKGROUND, *item) for item in _rows(of_background["profile"])),
    ]
    if observation.wait_buckets:
        sync, write = map(_counted, lengths(observation))
    else:
        sync, write = _buckets(observation.log_sync), _buckets(observation.log_write)
    buckets = [*((LOG_SYNC, *item) for item in sync), *((LOG_WRITE, *item) for item in write)]
    entries = [
        Entry(place.sample, section, name[:_LONGEST_NAME], measure, value, None, None, None)
        for measure, found in (("seconds", named), ("waits", buckets))
        for section, name, value in found
    ]
    return row, entries


def _replayers(observation: Observation) -> int:
    """Background processes and threads that commit what another server committed, and did so now."""
    return sum(
        process.scope == "background"
        and process.cpu_s != 0
        and process.kind.removeprefix("sql/").startswith(_REPLAYING)
        for process in observation.processes
    )


def _spoiled(observation: Observation) -> str | None:
    """Why what was seen must not be counted."""
    if observation.elapsed_s <= 0 or not observation.ticks:
        return "the server's processes were never read"
    backwards = [name for name, value in observation.counters.items() if value is not None and value < 0]
    if backwards:
        return f"counters of the server went backwards: {', '.join(backwards)}"
    return None


def _in_transaction(sessions: Json) -> float | None:
    """Time that sessions waited for their clients inside a transaction, seconds."""
    waited = sessions["client_wait"]
    if waited["share_of_elapsed"]["point"] in (None, 0.0):
        return 0.0
    share: float | None = waited["in_transaction_share"]
    return None if share is None else share * float(sessions["elapsed_s"])


def _worked(observation: Observation) -> int | None:
    """Sessions that used CPU; sessions whose accounts begin only now are not counted."""
    used = [item.cpu_s for item in observation.processes if item.scope == "session"]
    known = [cpu for cpu in used if cpu is not None]
    return None if used and not known else sum(cpu > 0 for cpu in known)


def _cores(observation: Observation, here: int | None) -> int | None:
    """Cores of the server's machine; those of this one where it is here."""
    if observation.host_cores is not None or observation.host_cpus is None:
        return observation.host_cores
    return here if observation.server.get("local", True) else None


def _used(observation: Observation, what: str) -> float | None:
    """A sum over all sessions; None where it is not known for any of them."""
    sessions = [item for item in observation.processes if item.scope == "session"]
    known = [amount for item in sessions if (amount := getattr(item, what)) is not None]
    unknown = observation.host_cpus is None or any(item.accounted for item in sessions)
    if unknown and not known:
        return None
    return math.fsum(known)


def _instance_cpu(observation: Observation) -> float | None:
    known = [item.cpu_s for item in observation.processes if item.cpu_s is not None]
    if observation.ended_cpu_s is None or (observation.host_cpus is None and not known):
        return None
    return math.fsum(known) + observation.ended_cpu_s


def _whole(counters: Mapping[str, float | None], name: str) -> int | None:
    value = counters.get(name)
    return None if value is None else round(value)


def _rows(profile: Sequence[Json]) -> Iterator[tuple[str, float]]:
    """The longest rows of an account by name, and the sum of the rest; sums stay what they were."""
    longest = sorted(profile, key=lambda row: -abs(row["time_s"]))
    for row in longest[:MOST_ROWS]:
        if row["time_s"]:
            yield row["row"], row["time_s"]
    if longest[MOST_ROWS:]:
        yield OTHER, math.fsum(row["time_s"] for row in longest[MOST_ROWS:])


def _counted(histogram: Json | None) -> Iterator[tuple[str, float]]:
    """Waits that the server itself counted: the upper end of the bucket in ms, and their number."""
    for bucket in histogram["buckets"] if histogram is not None else ():
        if bucket["count"]:
            end = math.inf if bucket["to_ms"] is None else bucket["to_ms"]
            yield f"{end:g}", float(bucket["count"])


def _buckets(episodes: Episodes | None) -> Iterator[tuple[str, float]]:
    """How many waits of which length ended: the upper end of the bucket in ms, and their number."""
    import numpy as np

    if episodes is None or not len(episodes.durations_s):
        return
    ends = np.array(bucket_ends_ms(math.inf))
    places, counts = np.unique(np.searchsorted(ends, 1e3 * episodes.durations_s), return_counts=True)
    for place, number in zip(places, counts, strict=True):
        yield f"{ends[place]:g}", float(number)
