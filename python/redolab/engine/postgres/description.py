"""The description of a server: for whoever agrees to a run on it, and for whoever reads its figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from redolab.engine.base import Introduction
from redolab.engine.offer import PRIVATE_PLACE
from redolab.engine.postgres.connecting.connection import Connection, place_of
from redolab.engine.postgres.parameters.before import Parameter
from redolab.engine.postgres.parameters.parameters import quoted
from redolab.engine.postgres.parameters.pending_edits import pending_edits
from redolab.engine.postgres.preflight.preflight import server_conditions
from redolab.engine.postgres.preflight.replication import idle_slots, kept_log
from redolab.engine.private.guarded_mark import NO_MARK
from redolab.engine.private.log_device import emulated
from redolab.engine.private.own_server import OwnServer
from redolab.engine.private.probe import why_not_probed

Facts = Mapping[str, Any]
"""The server's identity and properties, as `check_server` reads them."""


def introduce(
    control: Connection, server: Facts, system: Collection[Parameter], age: str, log_bytes: int | None
) -> Introduction:
    """The introduction, with what an answer depends on.

    Args:
        control: asked.
        server: who and what it is.
        system: the parameters that the run changes for the whole server.
        age: what the run does to the age of the transaction ids, one sentence.
        log_bytes: how much log it writes at most; None where the user's own statements decide it.
    """
    notes = [age, *kept_log(idle_slots(control), log_bytes)]
    if system:
        notes += pending_edits(control, quoted(server["role"]))
        notes += [
            f"{p.name} is set in postgresql.auto.conf, and Redolab puts that line back."
            for p in system
            if p.in_auto_conf
        ]
    return Introduction(
        f"PostgreSQL {server['version'].split()[0]} at {place_of(control)}, as the role {server['role']}",
        tuple(notes),
    )


def describe(control: Connection, server: Facts, own: OwnServer | None, local: bool) -> Mapping[str, Any]:
    """The `engine` part of the manifest."""
    return {
        "name": "embedded" if own else "postgresql",
        "version": server["version"].split()[0],
        "local": local,
        "place": PRIVATE_PLACE if own else place_of(control),
        "emulated": emulated(own.device if own else None),
        "log_filesystem": own.log_filesystem if own else None,
        **{k: server[k] for k in ("fsync", "full_page_writes", "wal_sync_method", "wal_writer_delay")},
    }


def conditions(
    control: Connection, server: Facts, own: OwnServer | None, mark_kept: bool, why_not_memory: str | None
) -> list[str]:
    """Warnings about this server that a reader of its figures must know.

    Args:
        control: asked.
        server: who and what it is.
        own: set when Redolab started the server itself.
        mark_kept: whether this machine keeps the mark of Redolab's schema.
        why_not_memory: why wait events cannot be read from the server's memory; None where they can.
    """
    sentences = server_conditions(control, server, own.log_filesystem if own else None)
    if not mark_kept:
        sentences.append(NO_MARK)
    sentences += kept_log(idle_slots(control))
    if why_not_memory:
        sentences.append(
            f"Wait events come from pg_stat_activity, because {why_not_memory}: for waits of "
            "about 50 µs the shares of the wait events are inaccurate (docs/explanation/method.md)."
        )
    return sentences


def not_measured(server: Facts, own: OwnServer | None, local: bool) -> list[str]:
    """Figures that are not available on this server, and why."""
    missing = []
    if not local:
        missing.append(
            "CPU and run-queue time: the server's processes are not visible on this machine, so the kernel's "
            "accounts cannot be read. Run Redolab on the server's host to get these times."
        )
    if server["track_wal_io_timing"] != "on":
        missing.append(
            "Time of log writes and flushes: track_wal_io_timing is off on this server. ALTER SYSTEM SET "
            "track_wal_io_timing = on and a reload would provide the times of the log."
        )
    if not server["may_read_stats"]:
        missing.append(
            "Waits of background processes: hidden from this role. GRANT pg_read_all_stats TO "
            f"{quoted(server['role'])} would show these waits."
        )
    return [*missing, *why_not_probed(own, local=local)]
