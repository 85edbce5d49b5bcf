"""Idle events of every release, and what only sounds like one."""

from __future__ import annotations

import pytest

from redolab.dialect.oracle_idle import IDLE_EVENTS, is_idle


@pytest.mark.parametrize(
    "event",
    [
        "lreg timer",
        "heartbeat redo informer",
        "pman timer",
        "Data Guard: Gap Manager",
        "REPL Capture/Apply: messages",
        "Recovery Server waiting for work",
        "wait for unread message on broadcast channel",
        "PX Deq: Table Q Normal",
        "LNS ASYNC end of log",
        "Sharded  Queues : Part Maintenance idle",
        "True Cache: background process idle",
        "SQL*NET MESSAGE FROM CLIENT",
        # Cut off at 28 characters, and at 26.
        "Streams AQ: waiting for mess",
        "Space Manager: slave idle ",
        # Of a release to come.
        "Vector index refresh slave idle",
    ],
)
def test_what_waits_for_work_is_idle(event: str) -> None:
    assert is_idle(event)


@pytest.mark.parametrize(
    "event",
    [
        "log file sync",
        "SQL*Net message to client",
        "SQL*Net more data from client",
        "SQL*Net message from dblink",
        "SQL*Net message from",
        "LGWR any worker group",
        "Streams AQ: enqueue blocked on low memory",
        "LogMiner preparer: memory",
        "PX Deq: Signal ACK EXT",
        "db file async I/O submit",
    ],
)
def test_what_waits_for_something_is_not(event: str) -> None:
    assert not is_idle(event)


def test_names_are_written_as_they_are_looked_up() -> None:
    assert all(name == " ".join(name.lower().split()) for name in IDLE_EVENTS)
