"""A server's cumulative counters, and the kernel's accounts of its processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress

from redolab import _core
from redolab.dialect.postgres import LOG_WRITERS
from redolab.engine.linux.host_counters import cpu_times, host_counters
from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.private.log_device import LogDevice
from redolab.records.sample import ServerClock, Snapshot, TaskAccount

_COUNTERS = (
    "log_bytes",
    "log_full_page_images",
    "log_writes",
    "log_flushes",
    "log_write_time_s",
    "log_flush_time_s",
    "checkpoints",
    "vacuums",
    "server_rows",
    "buffer_hits",
    "buffer_reads",
    "database_busy_s",
)
_TIMES = ("log_write_time_s", "log_flush_time_s")


def take_snapshot(
    control: Connection,
    *,
    timed: bool,
    device: LogDevice | None,
    postmaster: int | None,
    helpers: Collection[int],
    watcher: Collection[int],
    session_pids: tuple[int, ...],
    clock: Callable[[], ServerClock],
) -> Snapshot:
    """Read every cumulative counter now.

    Args:
        control: asked.
        timed: whether the server takes the time of its log writes and flushes.
        device: the emulated log device, if there is one.
        postmaster: the server's first process where it is on this machine.
        helpers: server processes of Redolab's own connections, left out of the accounts.
        watcher: those of them that read wait events; their CPU time is reported separately.
        session_pids: the working sessions' server processes.
        clock: compares the server's clock with the one here.
    """
    row = fetch(control, "select_counters")[0]
    counters: dict[str, float | None] = {name: row[name] for name in _COUNTERS}
    if not timed:
        counters |= dict.fromkeys(_TIMES)
    if device:
        counters |= device.snapshot()
    tasks, reaped_cpu_ns, cpus = None, None, None
    if postmaster is not None:
        counters |= host_counters()
        cpus = cpu_times()
        with suppress(OSError):  # The server is just going down: no account of this sample.
            accounts = _core.server_tasks(postmaster)
            tasks = tuple(
                TaskAccount(t.pid, t.kind, t.start_ticks, t.cpu_ns, t.run_queue_ns)
                for t in accounts.tasks
                if t.pid not in helpers
            )
            counters["sampler_cpu_s"] = sum(t.cpu_ns for t in accounts.tasks if t.pid in watcher) / 1e9
            reaped_cpu_ns = accounts.reaped_cpu_ns
    return Snapshot(
        time.monotonic(),
        row["epoch"],
        counters,
        tasks,
        reaped_cpu_ns,
        session_pids,
        clock(),
        cpu_times=cpus,
        log_writers=LOG_WRITERS,
    )
