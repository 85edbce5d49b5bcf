"""The figures of what was observed: what each is made of, how it is shown, and why it may be missing.

The unit of work is a commit: in a watch a transaction that wrote, in reports a user commit. Nearly every
figure is a sum over another. What is open after that differs: `watch.measures` has stretches of time that
follow each other, `awr.cost` numbers that were rounded.

Source: Craig Shallahamer, OraPub, "unit of work time based analysis" (2010-2012).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """One figure: what is summed over what, and how it is shown."""

    key: str
    name: str
    unit: str
    scale: float
    """Factor from seconds and shares of 1 to the unit."""
    upper: str
    """Columns that are added up; one with a minus before it is taken off."""
    lower: str
    """The column that they are divided by; none where it is empty."""
    meaning: str
    why: str = ""
    """Why reports may lack it; empty for a figure of a watch, whose columns show why."""
    part: bool = False
    """Whether it is a part of a whole."""
    over_several: str = ""
    """Sum and divisor over several reports, as `upper / lower`, where one report prints a mean."""

    @property
    def columns(self) -> list[str]:
        """All that it is made of."""
        return f"{self.upper} {self.lower}".replace("-", "").split()

    @property
    def totals(self) -> tuple[list[str], str]:
        """The columns that are summed over several reports, and the one that their sum is divided by."""
        upper, _, lower = (self.over_several or f"{self.upper} / {self.lower}").partition(" / ")
        return upper.split(), lower


_R = "busy_s -session_cpu_s instance_cpu_s"
_CPU = "the report prints neither DB CPU nor CPU used by this session"
_WAITS = "the report lists no wait events of sessions or of the background, or one whose time cannot be read"
_SYNC = "log file sync of sessions is not listed; events of less than 0.001 s in total never are"
_WRITE = "log file parallel write is not listed; a pluggable database uses the log of its container"
_WRITES = "neither the statistic redo writes nor log file parallel write is listed"
_WASTAGE = "the statistic redo size or redo wastage is not listed"
_BUSY = "BUSY_TIME or the number of CPUs is not printed"
_FIGURES = (
    Measure("arrival_rate_per_s", "L: commits", "per s", 1, "transactions", "elapsed_s",
            "transactions that wrote over time"),
    Measure("arrival_rate_per_s", "L: commits", "per s", 1, "transactions", "elapsed_s",
            "user commits over elapsed time", "the statistic user commits is zero, or cannot be read"),
    Measure("service_time_s", "S: CPU per commit", "ms", 1e3, "instance_cpu_s", "transactions",
            "CPU of all server processes"),
    Measure("service_time_s", "S: CPU per commit", "ms", 1e3, "instance_cpu_s", "transactions",
            "DB CPU and background CPU", _CPU),
    Measure("queue_time_s", "Q: other time per commit", "ms", 1e3, "busy_s -session_cpu_s",
            "session_transactions", "busy time of sessions without CPU: waits, and the queue for a CPU"),
    Measure("queue_time_s", "Q: waits per commit", "ms", 1e3, "waits_s background_waits_s", "transactions",
            "wait events that are not idle, background too", _WAITS),
    Measure("response_time_s", "R = S + Q", "ms", 1e3, _R, "session_transactions",
            "busy time of sessions and CPU of the background, per commit"),
    Measure("response_time_s", "R = S + Q", "ms", 1e3, "service_time_s queue_time_s", "",
            "all work of the instance per commit", f"{_CPU}; or {_WAITS}",
            over_several="instance_cpu_s waits_s background_waits_s / transactions"),
    Measure("session_response_time_s", "Session R", "ms", 1e3, "busy_s", "session_transactions",
            "busy time of sessions alone, per commit"),
    Measure("servers", "M of the published curve", "servers", 1, f"session_transactions {_R} elapsed_s",
            "session_transactions", "solved from L, S and R"),
    Measure("busy_sessions", "Sessions busy at a time", "sessions", 1, "busy_s", "elapsed_s",
            "not waiting for a client"),
    Measure("connected_sessions", "Sessions connected", "sessions", 1, "connected_s", "elapsed_s",
            "mean over time"),
    Measure("log_sync_s", "One log file sync", "ms", 1e3, "log_sync_mean_s", "",
            "mean of the sessions' waits", _SYNC, over_several="log_sync_s / log_syncs"),
    Measure("log_sync_share", "Log sync's share", "% of busy time", 100, "log_sync_s", "busy_s",
            "the most that better commits can save", part=True),
    Measure("log_sync_per_commit_s", "Log sync per commit", "ms", 1e3, "log_sync_s", "session_transactions",
            "sessions' time waiting for a commit's flush, over commits"),
    Measure("log_syncs_per_commit", "Log file syncs", "per commit", 1, "log_syncs", "transactions",
            "1 where each commit waits once", _SYNC),
    Measure("log_sync_share", "Log file sync", "% of DB time", 100, "log_sync_s", "busy_s",
            "the most that better commits can save", f"{_SYNC}; or the report has no DB time"),
    Measure("commits_per_flush", "Commits per flush", "commits", 1, "transactions", "log_flushes",
            "more than 1: commits share flushes"),
    Measure("time_per_flush_s", "Time of a log flush", "ms", 1e3, "log_flush_time_s", "log_flushes",
            "mean, as the server timed them"),
    Measure("time_per_write_s", "Time of a log write", "ms", 1e3, "log_write_time_s", "log_writes",
            "mean, as the server timed them"),
    Measure("log_flushes_per_s", "Flushes of the log", "per s", 1, "log_flushes", "elapsed_s",
            "flush calls over time"),
    Measure("log_write_s", "One log file parallel write", "ms", 1e3, "log_write_mean_s", "",
            "mean of the log writer's waits", _WRITE, over_several="log_write_time_s / log_write_waits"),
    Measure("log_writes_per_s", "Log writes", "per s", 1, "log_writes", "elapsed_s",
            "redo writes over elapsed time", _WRITES),
    Measure("commits_per_log_write", "Commits in a log write", "commits", 1, "transactions", "log_writes",
            "more than 1: commits share writes", _WRITES),
    Measure("redo_per_commit", "Redo per commit", "kB", 1e-3, "log_bytes", "transactions",
            "redo size over user commits", "the statistic redo size is not listed"),
    Measure("redo_per_log_write", "Redo per log write", "kB", 1e-3, "log_bytes", "log_writes",
            "redo size over redo writes", _WRITES),
    Measure("written_per_log_write", "Written per log write", "kB", 1e-3, "written_bytes", "log_writes",
            "redo size and redo wastage over redo writes", _WASTAGE),
    Measure("blocks_per_log_write", "Redo blocks per log write", "blocks", 1, "written_blocks", "log_writes",
            "redo blocks written over redo writes", "the statistic redo blocks written is not listed"),
    Measure("redo_wastage_share", "Redo wastage", "% of what is written", 100, "wasted_bytes",
            "written_bytes", "unused ends of redo blocks, which commits do not wait to fill", _WASTAGE),
    Measure("log_utilization", "Log busy with flushes", "% of the time", 100, "log_flush_time_s", "elapsed_s",
            "flush time over time; more than 100 % where two flush at once"),
    Measure("log_utilization", "The log writer wrote", "% of the time", 100, "log_write_time_s", "elapsed_s",
            "writes times their mean time", _WRITE),
    Measure("time_per_binlog_flush_s", "Time of a binlog flush", "ms", 1e3, "binlog_flush_time_s",
            "binlog_flushes", "mean, as the server timed them"),
    Measure("commits_per_binlog_flush", "Commits per binlog flush", "commits", 1, "transactions",
            "binlog_flushes", "more than 1: commits share flushes"),
    Measure("rows_per_commit", "Rows per commit", "rows", 1, "rows_written", "transactions",
            "rows inserted, updated and deleted, over commits"),
    Measure("log_bytes_per_commit", "Log per commit", "kB", 1e-3, "log_bytes", "transactions",
            "log generated, over commits"),
    Measure("run_queue_share", "Run queue's share", "% of busy time", 100, "session_run_queue_s", "busy_s",
            "sessions that were ready to run and had no CPU", part=True),
    Measure("cpu_utilization_cores", "Database's CPU, of cores", "%", 100, "instance_cpu_s", "core_s",
            "CPU of all server processes over cores; threads of a core count each, so it can exceed 100 %"),
    Measure("cpu_utilization_threads", "Database's CPU, of threads", "%", 100, "instance_cpu_s", "thread_s",
            "the same over logical CPUs", part=True),
    Measure("host_utilization_cores", "Machine's CPU, of cores", "%", 100, "host_busy_s", "core_s",
            "CPU of every process by the kernel, over cores"),
    Measure("host_utilization_threads", "Machine's CPU, of threads", "%", 100, "host_busy_s", "thread_s",
            "the same over logical CPUs", part=True),
    Measure("cpu_utilization_cores", "CPUs busy, in cores", "%", 100, "host_busy_s", "core_s",
            "busy time over cores", _BUSY),
    Measure("cpu_utilization_threads", "CPUs busy, in threads", "%", 100, "host_busy_s", "thread_s",
            "busy time over threads", _BUSY),
    Measure("steal_share", "Taken by the hypervisor", "% of threads' time", 100, "host_steal_s", "thread_s",
            "CPU time that others had while this machine had work", part=True),
    Measure("servers", "M of the published curve", "servers", 1,
            "service_time_s arrival_rate_per_s response_time_s", "",
            "solved from L, S and R", "S, L or R is not known, or no M fits them"),
)  # fmt: skip
WATCH: Mapping[str, Measure] = {item.key: item for item in _FIGURES if not item.why}
"""Every figure of a watch by its key; times in seconds, sizes in bytes, shares of 1."""
AWR: Mapping[str, Measure] = {item.key: item for item in _FIGURES if item.why}
"""Every figure of reports."""
