"""The introduction of somebody's server before anything is changed on it."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.engine.base import Introduction
from redolab.engine.mariadb.connecting.plaintext import plaintext
from redolab.engine.mariadb.connection import Connection
from redolab.engine.mariadb.parameters import Parameter
from redolab.engine.mariadb.preflight.conditions import replicas
from redolab.engine.mariadb.preflight.server import Facts, is_replica


def introduction(
    control: Connection, server: Facts, known: Mapping[str, Parameter], log_bytes: int | None
) -> Introduction:
    """The introduction, with what an answer depends on.

    Args:
        control: asked.
        server: who and what it is.
        known: the parameters that the run changes, as they are now.
        log_bytes: how much log it writes at most; None where the user's own statements decide it.
    """
    notes = []
    exposed = plaintext(control)
    if exposed:
        notes.append(exposed.text)
    if known:
        now = ", ".join(f"{it.name} (now {it.value})" for it in known.values())
        notes.append(
            f"The run changes {now} for every session of this server, and puts the old values back "
            "afterwards. A restart of the server would also put the old values back, because SET GLOBAL is "
            "not persistent."
        )
    if server["binlog"]:
        notes.append(_of_binlog(replicas(control), log_bytes))
    if is_replica(control, server):
        notes.append(
            "This server is a replica: the run's settings also make its own replication slower or faster."
        )
    return Introduction(
        f"{server['name']} {server['version_text']} at {server['place']}, as the user {server['role']}",
        tuple(notes),
        frozenset(known),
    )


def _of_binlog(count: int, log_bytes: int | None) -> str:
    most = "" if log_bytes is None else f", at most {log_bytes / 1e9:,.1f} GB,"
    who = {0: "a replica would replay it", 1: "the replica that is connected replays it"}.get(
        count, f"the {count} replicas that are connected replay it"
    )
    return f"Everything that the run writes{most} also goes into this server's binary log, and {who}."
