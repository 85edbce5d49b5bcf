"""A server's cumulative counters, and the kernel's accounts of its threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from redolab import _core
from redolab.dialect.innodb import LOG_WRITERS, binlog_engine
from redolab.engine.linux.host_counters import cpu_times, host_counters
from redolab.engine.linux.local_server import process_cpu_ns
from redolab.engine.mariadb.answers import number
from redolab.engine.mariadb.connection import Connection, fetch
from redolab.engine.private.log_device import LogDevice
from redolab.records.sample import Snapshot, TaskAccount

_BINLOG = "wait/io/file/sql/binlog"
_NOT_COUNTED = dict.fromkeys(("binlog_groups", "binlog_bytes", "binlog_flushes", "binlog_flush_time_s"))
"""Counters that are not documented for a binary log inside InnoDB."""


def take_snapshot(
    control: Connection,
    server: Mapping[str, Any],
    *,
    device: LogDevice | None,
    process: int | None,
    helpers: Collection[int],
    watcher: int | None,
    sessions: Collection[int],
    further: Sequence[str] = (),
    check: Callable[[Mapping[str, Any]], None] = lambda _: None,
) -> Snapshot:
    """Read every cumulative counter now.

    Args:
        control: asked.
        server: who and what it is: `flavour`, `version`, major * 100 + minor, and `timed_files`.
        device: the emulated log devices, if there are any.
        process: the server's, where it is on this machine.
        helpers: Redolab's own other connections, whose threads are left out of the accounts.
        watcher: the thread that reads wait events, left out too; its CPU time is reported separately.
        sessions: connections of the working sessions.
        further: columns, read as well in the statement of the counters.
        check: what looks at them.
    """
    row = fetch(control, "select_counters", server["version"], server["flavour"], further=further)[0]
    check(row)
    counters: dict[str, float | None] = {
        name: None if value is None else number(value)
        for name, value in list(row.items())[: len(row) - len(further)]
    }
    if server["timed_files"] and server["flavour"] == "mariadb":
        counters |= _binlog_times(control, server)
    if server.get("binlog") and binlog_engine(server):
        counters |= _NOT_COUNTED
    if device:
        counters |= device.snapshot()
    served = _threads(control, server)
    threads, own = _serving(served, sessions), {watcher, *_serving(served, helpers)}
    tasks, used_by_others_ns, cpus = None, None, None
    if process is not None:
        counters |= host_counters()
        cpus = cpu_times()
        with suppress(OSError):  # The server is just going down: no account of this sample.
            living = _core.process_threads(process)
            used_ns = process_cpu_ns(process)
            tasks = tuple(
                TaskAccount(
                    task.pid,
                    "session" if task.pid in threads else task.kind,
                    task.start_ticks,
                    task.cpu_ns,
                    task.run_queue_ns,
                )
                for task in living
                if task.pid not in own
            )
            counters["sampler_cpu_s"] = sum(t.cpu_ns for t in living if t.pid == watcher) / 1e9
            # CPU time of the whole process in addition to its living threads.
            used_by_others_ns = None if used_ns is None else used_ns - sum(t.cpu_ns for t in living)
    identities = _identities(served, sessions)
    return Snapshot(
        time.monotonic(),
        str(process),
        counters,
        tasks,
        used_by_others_ns,
        identities,
        cpu_times=cpus,
        log_writers=LOG_WRITERS,
    )


def _binlog_times(control: Connection, server: Mapping[str, Any]) -> dict[str, float | None]:
    """Flushes of the binary log as the server counts and times them itself, where it does."""
    for row in fetch(control, "select_file_times", server["version"], server["flavour"]):
        if row["name"] == _BINLOG:
            return {
                "binlog_flushes": float(row["misc_n"]),
                "binlog_flush_time_s": float(row["misc_ps"]) / 1e12,
            }
    return {}


def threads_of(
    control: Connection, server: Mapping[str, Any], connections: Collection[int]
) -> tuple[int, ...]:
    """The threads of the operating system that serve these connections, in their order.

    A connection that is gone does not have one, so that its session counts as replaced.
    """
    return _serving(_threads(control, server), connections)


def _threads(control: Connection, server: Mapping[str, Any]) -> Mapping[int, int]:
    """The thread of every connection that is there; 0 for a connection without a thread of its own now.

    In a pool of threads one serves a connection only as long as it works.
    """
    rows = fetch(control, "select_session_threads", server["version"], server["flavour"])
    return {row["connection"]: int(row["thread"] or 0) for row in rows}


def _serving(threads: Mapping[int, int], connections: Collection[int]) -> tuple[int, ...]:
    return tuple(threads[number] for number in connections if threads.get(number))


def _identities(threads: Mapping[int, int], connections: Collection[int]) -> tuple[int, ...]:
    """The identity of each connection, by which a replaced one is noticed; none for one that is gone."""
    return tuple(threads[number] or number for number in connections if number in threads)
