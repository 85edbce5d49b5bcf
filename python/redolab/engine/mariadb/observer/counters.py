"""Figures of commits and the log from MariaDB's and MySQL's status counters, and what these lack."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.engine.mariadb.observer.server import Server
from redolab.engine.sampling.event_codes import Event

_ALWAYS = (
    (
        "histograms of log sync and log write, average waits of other events",
        "the server publishes no time of a single wait",
    ),
)
NOT_COUNTED = (
    "the binary log is inside InnoDB (binlog_storage_engine), and MariaDB does not document what is counted "
    "of it; commits wait only for the redo log"
)
_FLUSH: Event = ("IO", "redo log flush")
_WRITE: Event = ("IO", "redo log write")
_BINLOG_FLUSH: Event = ("IO", "binlog flush")
_INNODB_ROWS = ("innodb_rows_inserted", "innodb_rows_updated", "innodb_rows_deleted")
_HANDLER_ROWS = ("handler_write", "handler_update", "handler_delete")
Timed = Mapping[Event, tuple[int, float]]
"""Operations counted and timed by the server: count and seconds."""


def counters(
    server: Server, before: Mapping[str, float], after: Mapping[str, float], timed: Timed
) -> dict[str, float | None]:
    """Differences as `Observation.counters` has them.

    Args:
        server: whose they are.
        before: its status counters, by name in lower case.
        after: the same later.
        timed: what the server itself timed in between.

    `transactions`: InnoDB gives each transaction that writes two numbers, one at its first write and one
    when it commits or rolls back, so `Innodb_max_trx_id` grows by two (MariaDB). Handler_commit is of no
    use: it counts statements and reads too, and all twice with a binary log. `commits` are those in the
    binary log; MySQL, which has no other count of either, counts there the transactions that wrote, as
    Binlog_cache_use. A counter that went backwards was reset: None. What MariaDB counts of a binary log
    inside InnoDB is not documented: None.
    """
    numbers = _grown(before, after, "innodb_max_trx_id")
    of_binlog = "binlog_cache_use" if server.flavour == "mysql" else "binlog_commits"
    commits = _grown(before, after, of_binlog) if server.binlog and not server.binlog_engine else None
    return {
        "transactions": numbers / 2 if numbers is not None else commits,
        "commits": commits,
        **_redo_log(server, before, after, timed),
        "log_bytes": _grown(before, after, "innodb_os_log_written"),
        "rows_written": _rows_written(before, after),
        **_binlog(server, before, after, timed),
    }


def _redo_log(
    server: Server, before: Mapping[str, float], after: Mapping[str, float], timed: Timed
) -> dict[str, float | None]:
    """Flushes and writes of the redo log.

    Counted and timed in one place where the server does so. Elsewhere flushes are Innodb_os_log_fsyncs;
    MariaDB from 10.8 has only Innodb_data_fsyncs, which adds the flushes of data files.
    """
    if times_redo_log(server) and after:
        (flushes, flush_time_s), (writes, write_time_s) = (
            timed.get(event, (0, 0.0)) for event in (_FLUSH, _WRITE)
        )
        return {
            "log_flushes": flushes,
            "log_flush_time_s": flush_time_s,
            "log_writes": writes,
            "log_write_time_s": write_time_s,
        }
    counted = "innodb_os_log_fsyncs" if "innodb_os_log_fsyncs" in after else "innodb_data_fsyncs"
    return {
        "log_flushes": _grown(before, after, counted),
        "log_flush_time_s": None,
        "log_writes": _grown(before, after, "innodb_log_writes"),
        "log_write_time_s": None,
    }


def _rows_written(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """Rows inserted, updated and deleted, by InnoDB's count, or else by the count of all engines."""
    names = _INNODB_ROWS if _INNODB_ROWS[0] in after else _HANDLER_ROWS
    grown = [_grown(before, after, name) for name in names]
    amounts = [amount for amount in grown if amount is not None]
    return sum(amounts) if len(amounts) == len(grown) else None


def _binlog(
    server: Server, before: Mapping[str, float], after: Mapping[str, float], timed: Timed
) -> dict[str, float | None]:
    """Flushes of the binary log, 0 where there is none.

    Counted and timed by performance_schema where that is on. MariaDB counts the groups of commits, and with
    `sync_binlog` at 1 each is flushed once; at 0 none is.
    """
    if not server.binlog:
        return {"binlog_flushes": 0.0, "binlog_flush_time_s": 0.0}
    if server.binlog_engine:
        return {"binlog_flushes": None, "binlog_flush_time_s": None}
    if server.timed_files and after:
        flushes, time_s = timed.get(_BINLOG_FLUSH, (0, 0.0))
        return {"binlog_flushes": flushes, "binlog_flush_time_s": time_s}
    if server.sync_binlog == 0:
        return {"binlog_flushes": 0.0 if after else None, "binlog_flush_time_s": 0.0 if after else None}
    groups = _grown(before, after, "binlog_group_commits") if server.sync_binlog == 1 else None
    return {"binlog_flushes": groups, "binlog_flush_time_s": None}


def times_redo_log(server: Server) -> bool:
    """Whether it times flushes of the redo log; MariaDB has no instrument of them."""
    return server.flavour == "mysql" and server.timed_files


def row_locks(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[int, float] | None:
    """Row lock waits that ended, and their time in seconds (the server counts whole milliseconds)."""
    count = _grown(before, after, "innodb_row_lock_waits")
    time_ms = _grown(before, after, "innodb_row_lock_time")
    return (int(count), time_ms / 1e3) if count and time_ms is not None else None


def saw_row_locks(before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    """Whether any session waited for a row lock, ended or not."""
    return row_locks(before, after) is not None or after.get("innodb_row_lock_current_waits", 0) > 0


def missing(server: Server, after: Mapping[str, float]) -> list[tuple[str, str]]:
    """Figures that these counters do not give on this server."""
    figures = list(_ALWAYS)
    if not times_redo_log(server):
        figures.append(("time of log flushes", "the server counts flushes of the log but does not time them"))
    if "innodb_max_trx_id" not in after and not server.binlog:
        figures.append(
            (
                "transactions",
                "this server counts only transactions that wrote to its binary log (log_bin is off)",
            )
        )
    if server.binlog_engine:
        figures.append(("commits in the binary log, its flushes and their time", NOT_COUNTED))
    elif server.binlog and not server.timed_files:
        figures.append(
            ("time of binlog flushes", "the server times binlog flushes only in performance_schema")
        )
        if server.sync_binlog > 1 or server.flavour == "mysql":
            figures.append(
                ("flushes of the binlog", "the server counts binlog flushes only in performance_schema")
            )
    if not server.binlog:
        figures.append(("commits in the binary log", "this server has no binary log (log_bin is off)"))
    if "innodb_os_log_fsyncs" not in after:
        figures.append(
            (
                "flushes of the redo log alone",
                "this version counts flushes of the redo log together with flushes of data files",
            )
        )
    return figures


def _grown(before: Mapping[str, float], after: Mapping[str, float], name: str) -> float | None:
    if name not in before or name not in after or after[name] < before[name]:
        return None
    return after[name] - before[name]
