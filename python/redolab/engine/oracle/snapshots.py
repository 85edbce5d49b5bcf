"""An instance's cumulative counters and its own accounts of sessions, as a run wants them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from redolab.engine.oracle.observer.reading import Reading
from redolab.records.sample import Snapshot, TaskAccount

_LOG_WRITE = ("System I/O", "log file parallel write")
_NS_PER_US = 1000


_OF_SCANS = {
    "consistent gets": "consistent_gets",
    "consistent changes": "consistent_changes",
    "CR blocks created": "cr_blocks_created",
    "data blocks consistent reads - undo records applied": "undo_records_applied",
    "physical reads": "buffer_reads",
}
"""Statistics of a session, and the columns of a sample that they are."""


def scan_counters(rows: Iterable[Mapping[str, Any]], sessions: Collection[int]) -> dict[str, float | None]:
    """Counters of what the scanning session read, and of what it built from undo.

    Args:
        rows: statistics of every session, by name.
        sessions: SIDs of the working sessions.
    """
    counters: dict[str, float | None] = dict.fromkeys(_OF_SCANS.values(), 0.0)
    for row in rows:
        if int(row["sid"]) in sessions:
            counters[_OF_SCANS[row["name"]]] = float(row["value"])
    counters["buffer_hits"] = (counters["consistent_gets"] or 0.0) - (counters["buffer_reads"] or 0.0)
    return counters


def snapshot_of(
    reading: Reading, sessions: Collection[int], epoch: str, more: Mapping[str, float | None]
) -> Snapshot:
    """A reading as a snapshot.

    A session's CPU is complete here: it is read after its call has ended. That of the background may be
    published up to 5 s later.

    Args:
        reading: everything that was asked at one moment.
        sessions: SIDs of the working sessions.
        epoch: changes when the counters start anew.
        more: further counters.
    """
    tasks = tuple(
        TaskAccount(
            item.sid,
            "session" if item.sid in sessions else item.kind,
            item.serial,
            item.cpu_us * _NS_PER_US,
            None,
        )
        for item in reading.sessions.values()
    )
    statistics = reading.statistics or {}
    writes, write_us = (reading.waits or {}).get(_LOG_WRITE, (None, None))
    machine = reading.machine or {}
    busy_cs = machine.get("BUSY_TIME")
    counters: dict[str, float | None] = {
        "server_commits": _number(statistics.get("user commits")),
        "log_bytes": _number(statistics.get("redo size")),
        "log_writes": _number(statistics.get("redo writes")),
        # One call writes and flushes, so its time is reported once.
        "log_flushes": _number(writes),
        "log_flush_time_s": None if write_us is None else write_us / 1e6,
        "host_cpus": machine.get("NUM_CPUS"),
        "host_busy_s": None if busy_cs is None else busy_cs / 100,
        **more,
    }
    spent_us = reading.cpu_us
    living_ns = sum(task.cpu_ns for task in tasks)
    ended_ns = None if spent_us is None else (spent_us - reading.own_cpu_us) * _NS_PER_US - living_ns
    present = {item.sid for item in reading.sessions.values()}
    pids = tuple(sid for sid in sessions if sid in present)
    return Snapshot(reading.at_s, epoch, counters, tasks, ended_ns, pids)


def _number(value: int | None) -> float | None:
    return None if value is None else float(value)
