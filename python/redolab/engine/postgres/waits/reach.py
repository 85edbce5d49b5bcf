"""How closely a server's processes can be watched from here, for a run and for a live profile alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redolab.engine.linux.local_server import are_children, find_postmaster
from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.postgres.waits.events import EventNames, event_names
from redolab.engine.postgres.waits.memory import why_not_readable
from redolab.engine.postgres.waits.name_check import why_names_differ


@dataclass(frozen=True)
class Reach:
    """The parts of a server that are within reach."""

    postmaster: int | None
    """Its first process, when it runs on this machine: then the kernel reports CPU and run queue."""
    memory: tuple[int, EventNames] | None
    """The same process and the meaning of the numbers in its memory, when they may be read and trusted."""
    why_not_memory: str
    """The reason why not; empty when they may."""


def find_reach(connection: Connection, server: Mapping[str, Any]) -> Reach:
    """Ask the kernel and the server.

    Args:
        connection: to the server; it sleeps a tenth of a second or a few.
        server: the row of `select_server`, of the same connection.

    Raises:
        psycopg.Error: the connection was lost.
    """

    def pids() -> list[int]:
        return [row["pid"] for row in fetch(connection, "select_posted")]

    postmaster = find_postmaster(server["pid"], server["backend_start_epoch_s"])
    if postmaster is None:
        return Reach(None, None, "the server is not on this machine")
    if not are_children(pids, postmaster):
        why = (
            "processes of this machine have the server's process ids, but not all of them belong to the "
            "server"
        )
        return Reach(None, None, why)
    names = event_names(server["version_num"] // 10_000)
    why_not = why_not_readable(postmaster, names)
    if why_not is not None or names is None:
        return Reach(postmaster, None, why_not or "")
    try:
        difference = why_names_differ(connection, postmaster, names)
    except OSError as error:
        return Reach(postmaster, None, f"the server's memory cannot be read ({error})")
    if difference:
        why = f"the server's memory cannot be trusted: {difference}"
        return Reach(postmaster, None, why)
    return Reach(postmaster, (postmaster, names), "")
