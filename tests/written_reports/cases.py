"""Reports of the published cases: what was published, and made-up figures for the rest of each report.

Sources: Bobby Durrett, "Faster commit time with fewer sessions" (2012) and "Commit scalability" (2014); Craig
Shallahamer, OraPub, "Cores vs Threads" (2011). Published are, of the two loads: length, waits and seconds of
each event, DB CPU, log file sync's share of DB time, and 11 ms a log write of the second. Of production:
writes of 1 ms that keep the log 33 % busy, and 285,888 s of CPU in 2,062 s on 64 cores with 256 threads.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.written_reports.awr_listing import awr_text
from tests.written_reports.truth import Event, Truth, truth

_SESSIONS_COMMIT = 320_000


def four_sessions() -> Truth:
    """Four sessions with 80,000 commits each, in 143 s."""
    return _load(
        143.0, 109.0, 289.0 / 0.7313, Event("log file parallel write", "System I/O", 190_000, 114.0),
        (
            Event("log file sync", "Commit", 320_008, 289.0),
            Event("SQL*Net message to client", "Network", 640_097, 2.0),
            Event("log file switch completion", "Configuration", 12, 1.0),
            Event("Disk file operations I/O", "User I/O", 25, 0.4),
        ),
    )  # fmt: skip


def many_sessions() -> Truth:
    """32 sessions with 10,000 commits each, in 627 s."""
    return _load(
        627.0, 123.0, 13_535.0 / 0.9366, Event("log file parallel write", "System I/O", 52_000, 572.0),
        (
            Event("log file sync", "Commit", 320_094, 13_535.0),
            Event("Disk file operations I/O", "User I/O", 134, 10.0),
            Event("enq: TX - contention", "Other", 252, 10.0),
            Event("enq: FB - contention", "Other", 113, 5.0),
        ),
        snapshot=4713,
    )  # fmt: skip


def production() -> Truth:
    """A log that is 33 % busy, on CPUs that are 217 % busy if their time is held against cores."""
    elapsed_s = 2062.0
    writes = round(elapsed_s * 1_200_000 / 3600)
    write = Event("log file parallel write", "System I/O", writes, writes * 0.001)
    sync = Event("log file sync", "Commit", 900_000, 1_080.0)
    return truth(
        release="11.2.0.4.0", cpus=256, cores=64, sockets=8, elapsed_s=elapsed_s, begin_snapshot=880,
        busy_cs=28_588_800, commits=880_000, db_cpu_s=240_000.0, background_cpu_s=3_000.0, redo_writes=writes,
        foreground=(sync,), background=(write,), db_time_s=262_000.0,
    )  # fmt: skip


def _load(
    elapsed_s: float,
    cpu_s: float,
    db_time_s: float,
    write: Event,
    foreground: tuple[Event, ...],
    snapshot: int = 4711,
) -> Truth:
    client = Event("SQL*Net message from client", "Idle", 640_000, 0.3 * elapsed_s, idle=True)
    return truth(
        release="11.2.0.4.0", cpus=2, cores=2, sockets=1, elapsed_s=elapsed_s, begin_snapshot=snapshot,
        db_time_s=round(db_time_s, 2), db_cpu_s=cpu_s, background_cpu_s=12.0, commits=_SESSIONS_COMMIT,
        rollbacks=2, redo_bytes=500 * _SESSIONS_COMMIT, redo_writes=write.waits,
        busy_cs=round(100 * 0.75 * 2 * elapsed_s), foreground=(*foreground, client), background=(write,),
    )  # fmt: skip


CASES: Mapping[str, str] = {
    "four-sessions.txt": awr_text(four_sessions(), "11.2"),
    "many-sessions.txt": awr_text(many_sessions(), "11.2"),
    "production.txt": awr_text(production(), "11.2"),
}
"""The reports that stand beside the guide, by file."""
