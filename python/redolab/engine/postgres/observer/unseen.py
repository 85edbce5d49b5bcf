"""Figures that watching a PostgreSQL cannot show, the reasons, and the remedies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from redolab.engine.postgres.parameters.parameters import quoted


def not_available(
    server: Mapping[str, Any], standby: bool, local: bool, why_not_memory: str
) -> Iterator[tuple[str, str]]:
    """Each thing that is missing, with its reason and remedy.

    Args:
        server: the row of `select_server`.
        standby: whether it replays what a primary commits.
        local: whether the kernel's accounts of the server's processes can be read.
        why_not_memory: why the server's memory is not read; empty when it is.
    """
    if standby:
        yield (
            "Commits, and writes and flushes of the log",
            "this server is a standby. It commits nothing of its own, and does not count its writes of its "
            "primary's log. Watch the primary to get these figures.",
        )
    if not local:
        yield (
            "CPU and run queue",
            f"{why_not_memory}, so Redolab cannot read the kernel's accounts of its processes. Run Redolab "
            "on the server's host to get these figures.",
        )
    if why_not_memory:
        yield (
            "Waits shorter than a millisecond, average waits, histograms of log sync and log write",
            f"{why_not_memory}. These figures need access to the server's memory; all other waits come from "
            "pg_stat_activity, asked 20 times a second.",
        )
    if server["track_wal_io_timing"] != "on":
        yield (
            "Time of log writes and flushes by the server's own clock",
            "track_wal_io_timing is off on this server. ALTER SYSTEM SET track_wal_io_timing = on and a "
            "reload would provide the times of the log.",
        )
    if not server["may_read_stats"]:
        yield (
            "Activity of other roles' sessions and of the server's own processes"
            if why_not_memory
            else "Other roles' sessions: how much of their think time is inside a transaction",
            f"hidden from this role. GRANT pg_read_all_stats TO {quoted(server['role'])} (or pg_monitor) "
            "would show this activity.",
        )
