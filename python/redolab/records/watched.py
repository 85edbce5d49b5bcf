"""Observations of a live server in one stretch of a watch: the rows of a watched run.

A run directory made by `redolab watch` has a row of `samples` for each stretch (`Watched`). Its rows of
`entries` (`redolab.records.report.Entry`) hold where time went in it, and how long waits for the log were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SETTING = "watched"
"""The one setting of a watched run."""
SESSIONS, BACKGROUND, LOG_SYNC, LOG_WRITE = "sessions", "background", "log sync", "log write"
SECTIONS: Mapping[str, str] = {
    SESSIONS: "seconds of busy time of all sessions, by row of the account (on CPU, run queue, wait events)",
    BACKGROUND: "seconds of busy time of the server's background processes, by row of the account",
    LOG_SYNC: "waits of commits for their flush, by the upper end of a bucket in ms (`inf`: no end)",
    LOG_WRITE: "writes and flushes of the log, by the upper end of a bucket in ms",
}
"""The sections of `entries` in a watched run; their measure is `seconds` in the first two, then `waits`."""


@dataclass(frozen=True)
class Watched:
    """One stretch of time (a row of a watched run's `samples.parquet`); sums over the stretch."""

    sample: int = field(metadata={"doc": "1, 2, 3 ... in the order of time"})
    block: int = field(metadata={"doc": "1, 2, 3 ...: start of the watch that it belongs to"})
    position: int = field(metadata={"doc": "place in the block, from 1"})
    setting: str = field(metadata={"doc": "watched"})
    started_at: str = field(metadata={"doc": "UTC, ISO 8601"})
    start_s: float = field(metadata={"doc": "seconds since the watching first began"})
    elapsed_s: float = field(metadata={"doc": "length of the stretch"})
    spoiled: str | None = field(metadata={"doc": "why this stretch does not count; null when it does"})

    connected_s: float | None = field(metadata={"doc": "time that all sessions were connected, summed"})
    busy_s: float | None = field(
        metadata={"doc": "part of the connected time that was not spent waiting for a client"}
    )
    client_in_transaction_s: float | None = field(
        metadata={
            "doc": "part of the connected time spent waiting for a client inside an open transaction; null "
            "where not distinguished"
        }
    )
    worked_sessions: int | None = field(metadata={"doc": "sessions that used CPU"})
    session_cpu_s: float | None = field(metadata={"doc": "CPU of all sessions"})
    session_run_queue_s: float | None = field(
        metadata={"doc": "time of the sessions' processes that were runnable but waited for a CPU"}
    )
    log_sync_s: float | None = field(metadata={"doc": "time of the sessions waiting for a commit's flush"})
    instance_cpu_s: float | None = field(metadata={"doc": "CPU of all server processes, ended ones too"})
    host_cpus: int | None = field(metadata={"doc": "logical CPUs online"})
    host_cores: int | None = field(metadata={"doc": "cores among the CPUs online; null where not known"})
    host_busy_s: float | None = field(metadata={"doc": "CPU time that all processes had, by the kernel"})
    host_steal_s: float | None = field(metadata={"doc": "time that the hypervisor gave to others"})

    transactions: int | None = field(metadata={"doc": "transactions that wrote, by the server's count"})
    rows_written: int | None = field(
        metadata={"doc": "rows inserted, updated and deleted, by the server's count"}
    )
    log_flushes: int | None = field(metadata={"doc": "flush calls on the log"})
    log_flush_time_s: float | None = field(metadata={"doc": "time in flush calls on the log, all processes"})
    log_writes: int | None = field(metadata={"doc": "write calls to the log"})
    log_write_time_s: float | None = field(metadata={"doc": "time in write calls to the log, all processes"})
    log_bytes: int | None = field(metadata={"doc": "log generated"})
    binlog_flushes: int | None = field(metadata={"doc": "flush calls on the binary log"})
    binlog_flush_time_s: float | None = field(
        metadata={"doc": "time in flush calls on the binary log, all threads"}
    )

    ticks: int = field(metadata={"doc": "readings of all processes"})
    looks: int = field(metadata={"doc": "looks at one process each, at idle processes too"})
    sampler_cpu_s: float = field(metadata={"doc": "CPU of the watching, here"})
    server_cpu_s: float | None = field(metadata={"doc": "CPU of Redolab's own session in the server"})
    replayers: int | None = field(
        default=None,
        metadata={"doc": "threads at work that committed transactions of another server; null in older runs"},
    )
