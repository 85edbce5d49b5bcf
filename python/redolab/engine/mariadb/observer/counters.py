"""What MariaDB's and MySQL's status counters say of commits and the log, and what they do not say."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.engine.mariadb.observer.server import Server

_ALWAYS = (
    (
        "histograms of log sync and log write, average waits of other events",
        "the server publishes no time of a single wait",
    ),
    ("time of log flushes", "the server counts them but does not time them"),
)


def counters(
    server: Server, before: Mapping[str, float], after: Mapping[str, float]
) -> dict[str, float | None]:
    """Differences as `Observation.counters` has them.

    `transactions`: InnoDB gives each transaction that writes two numbers, one at its first write and one
    when it commits or rolls back, so `Innodb_max_trx_id` grows by two (MariaDB). Handler_commit is of no
    use: it counts statements and reads too, and all twice with a binary log. `commits` are those in the
    binary log. `log_flushes` is Innodb_os_log_fsyncs; MariaDB from 10.8 has only Innodb_data_fsyncs, which
    adds the flushes of data files. A counter that went backwards was reset: None.
    """
    flushes = "innodb_os_log_fsyncs" if "innodb_os_log_fsyncs" in after else "innodb_data_fsyncs"
    numbers = _grown(before, after, "innodb_max_trx_id")
    return {
        "transactions": None if numbers is None else numbers / 2,
        "commits": _grown(before, after, "binlog_commits") if server.binlog else None,
        "log_flushes": _grown(before, after, flushes),
        "log_flush_time_s": None,
        "log_writes": _grown(before, after, "innodb_log_writes"),
        "log_write_time_s": None,
        "log_bytes": _grown(before, after, "innodb_os_log_written"),
    }


def row_locks(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[int, float] | None:
    """Row lock waits that ended, and their time in seconds (the server counts whole milliseconds)."""
    count = _grown(before, after, "innodb_row_lock_waits")
    time_ms = _grown(before, after, "innodb_row_lock_time")
    return (int(count), time_ms / 1e3) if count and time_ms is not None else None


def saw_row_locks(before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    """Whether any session waited for a row lock, ended or not."""
    return row_locks(before, after) is not None or after.get("innodb_row_lock_current_waits", 0) > 0


def missing(server: Server, after: Mapping[str, float]) -> list[tuple[str, str]]:
    """What these counters cannot say on this server."""
    found = list(_ALWAYS)
    if "innodb_max_trx_id" not in after:
        found.append(("transactions", "this server has no counter of transactions that wrote"))
    if not server.binlog:
        found.append(("commits in the binary log", "there is none (log_bin is off)"))
    if "innodb_os_log_fsyncs" not in after:
        found.append(
            ("flushes of the redo log alone", "this version counts them together with those of data files")
        )
    return found


def _grown(before: Mapping[str, float], after: Mapping[str, float], name: str) -> float | None:
    if name not in before or name not in after or after[name] < before[name]:
        return None
    return after[name] - before[name]
