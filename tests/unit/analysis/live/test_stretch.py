"""The rows of a watched stretch, from observations whose every figure is known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from redolab.analysis.live.profile import profile_observation
from redolab.analysis.live.stretch import MOST_ROWS, OTHER, Place, stretch
from redolab.analysis.profile import ON_CPU
from redolab.records.observation import Observation, join
from redolab.records.report import Entry
from redolab.records.watched import BACKGROUND, LOG_SYNC, LOG_WRITE, SESSIONS
from tests.unit.analysis.observations import (
    INSTRUMENT,
    make_background,
    make_episodes,
    make_observation,
    make_process,
)

PLACE = Place(7, 2, 3, 60.5)
COUNTERS = {
    "transactions": 400.0,
    "commits": 390.0,
    "rows_written": 1200.0,
    "log_flushes": 100.0,
    "log_flush_time_s": 0.2,
    "log_writes": 150.0,
    "log_write_time_s": 0.01,
    "log_bytes": 40_000.0,
    "binlog_flushes": None,
    "binlog_flush_time_s": None,
}


def seen() -> Observation:
    """10 s and 100 ticks. Session 1 worked: a fifth on CPU, the rest half flush and half its client."""
    busy = [(tick, 0, "IO:WalSync", "asleep") for tick in range(40)]
    client = [(tick, 0, "Client:ClientRead", "asleep") for tick in range(40, 80)]
    writer = [(tick, 2, "IO:WalSync", "asleep") for tick in range(50)]
    processes = [
        make_process(1, 10.0, cpu_s=2.0, polls_idle=1, polls_in_transaction=3),
        make_process(2, 10.0),
        make_background(3, elapsed_s=10.0, cpu_s=0.5),
    ]
    return make_observation(
        processes, [*busy, *client, *writer], ticks=100, elapsed_s=10.0, counters=COUNTERS, ended_cpu_s=0.25,
        host_busy_s=3.0, host_steal_s=0.0, log_sync=make_episodes([0.1, 0.12, 0.3, 5.0], [9.0]),
        log_write=make_episodes([0.2]), instrument=replace(INSTRUMENT, looks=300, cpu_s=0.01),
    )  # fmt: skip


def of(entries: list[Entry], section: str) -> dict[str, float | None]:
    return {entry.name: entry.value for entry in entries if entry.section == section}


@pytest.mark.parametrize(
    ("kind", "cpu_s", "replays"),
    [
        ("slave_worker", 0.5, 1), ("slave_sql", 0.5, 1), ("slave_io", 0.5, 0), ("sql/replica_worker", 0.5, 1),
        ("sql/slave_sql", 0.5, 1), ("sql/replica_io", 0.5, 0), ("logical replication apply worker", 0.5, 1),
        ("logical replication worker", None, 1), ("walsender", 0.5, 0), ("binlog dump gtid", 0.5, 0),
        # One that had nothing to replay.
        ("slave_worker", 0.0, 0),
    ],
)  # fmt: skip
def test_who_commits_what_another_server_had_is_counted(kind: str, cpu_s: float | None, replays: int) -> None:
    observation = seen()
    *others, writer = observation.processes
    replaying = replace(writer, kind=kind, cpu_s=cpu_s)
    row, _ = stretch(replace(observation, processes=(*others, replaying)), PLACE, 1)
    assert row.replayers == replays


def test_every_amount_is_where_it_belongs() -> None:
    row, entries = stretch(seen(), PLACE, 1)
    assert (row.sample, row.block, row.position, row.start_s, row.elapsed_s) == (7, 2, 3, 60.5, 10.0)
    assert row.spoiled is None
    assert (row.connected_s, row.worked_sessions, row.session_cpu_s) == (20.0, 1, 2.0)
    assert row.instance_cpu_s == 2.75
    assert (row.host_cpus, row.host_cores, row.host_busy_s) == (2, 1, 3.0)
    assert (row.transactions, row.rows_written, row.log_flushes) == (400, 1200, 100)
    assert (row.log_flush_time_s, row.log_writes, row.log_bytes) == (0.2, 150, 40_000)
    assert (row.binlog_flushes, row.binlog_flush_time_s) == (None, None)
    assert (row.ticks, row.looks, row.sampler_cpu_s) == (100, 300, 0.01)
    # Of the 8 s off the CPU 40 of 80 looks found a flush, 40 the client; the idle session waits throughout.
    assert row.log_sync_s == pytest.approx(4.0, rel=0.3)
    assert row.busy_s is not None
    assert row.log_sync_s is not None
    assert row.busy_s == pytest.approx(row.log_sync_s + 2.0, abs=1e-9)
    assert row.client_in_transaction_s is not None
    assert row.connected_s is not None
    assert 0 < row.client_in_transaction_s < row.connected_s - row.busy_s
    assert {entry.sample for entry in entries} == {7}


def test_it_says_what_the_profile_of_the_same_time_says() -> None:
    row, entries = stretch(seen(), PLACE, 1)
    profile = profile_observation(seen())
    sessions = profile["all_sessions"]
    assert (row.connected_s, row.busy_s) == (sessions["elapsed_s"], sessions["busy_s"])
    assert row.busy_s
    assert row.log_sync_s == pytest.approx(sessions["log_sync_share"]["point"] * row.busy_s)
    assert of(entries, SESSIONS) == {
        item["row"]: item["time_s"] for item in sessions["profile"] if item["time_s"]
    }
    background = of(entries, BACKGROUND)
    assert background[ON_CPU] == 0.5
    assert "IO:WalSync" in background


def test_lengths_of_waits_are_counted_by_the_upper_end_of_their_bucket() -> None:
    _, entries = stretch(seen(), PLACE, 1)
    # The wait whose end was not seen is in no bucket.
    assert of(entries, LOG_SYNC) == {"0.125": 2.0, "0.5": 1.0, "8": 1.0}
    assert of(entries, LOG_WRITE) == {"0.25": 1.0}
    assert {e.measure for e in entries if e.section in (LOG_SYNC, LOG_WRITE)} == {"waits"}
    endless = make_observation(log_sync=make_episodes([1e9]))
    assert of(stretch(endless, PLACE, 1)[1], LOG_SYNC) == {"inf": 1.0}


def test_a_stretch_of_several_readings_adds_them_up() -> None:
    one, _ = stretch(seen(), PLACE, 1)
    two, entries = stretch(join([seen(), seen()]), PLACE, 1)
    assert two.elapsed_s == 2 * one.elapsed_s
    for name in ("transactions", "rows_written", "log_flushes", "session_cpu_s", "connected_s", "ticks"):
        assert getattr(two, name) == 2 * getattr(one, name)
    assert two.worked_sessions == one.worked_sessions
    assert of(entries, LOG_SYNC)["0.125"] == 4.0


def test_a_server_that_is_not_here_leaves_its_accounts_unknown() -> None:
    processes = [make_process(1, 1.0, cpu_s=None, run_queue_s=None)]
    row, _ = stretch(
        make_observation(processes, host_cpus=None, ended_cpu_s=None, looks=[(0, 0, "IO:WalSync", "asleep")]),
        PLACE,
        4,
    )
    for name in (
        "worked_sessions", "session_cpu_s", "session_run_queue_s", "instance_cpu_s", "host_cpus",
        "host_cores", "host_busy_s", "transactions", "rows_written", "client_in_transaction_s",
    ):  # fmt: skip
        assert getattr(row, name) is None, name
    assert row.connected_s == 1.0


def test_nobody_connected_is_no_time_and_no_mystery() -> None:
    row, entries = stretch(make_observation([make_background(3)], counters=COUNTERS), PLACE, 1)
    assert (row.connected_s, row.busy_s, row.client_in_transaction_s) == (0.0, 0.0, 0.0)
    assert (row.worked_sessions, row.session_cpu_s, row.log_sync_s) == (0, 0.0, 0.0)
    assert of(entries, SESSIONS) == {}
    assert row.spoiled is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ticks": 0}, "never read"),
        ({"counters": {**COUNTERS, "log_bytes": -1.0}}, "went backwards: log_bytes"),
        ({"broken": "the connection to the server was lost"}, "connection to the server was lost"),
    ],
)
def test_what_must_not_be_counted_is_spoiled(changes: dict[str, Any], said: str) -> None:
    row, _ = stretch(make_observation([make_process(1)], **changes), PLACE, 1)
    assert row.spoiled is not None
    assert said in row.spoiled


def test_a_reason_that_is_known_stays() -> None:
    row, _ = stretch(make_observation(ticks=0), PLACE, 1, "the server restarted")
    assert row.spoiled == "the server restarted"


def test_of_many_events_the_longest_keep_their_names() -> None:
    looks = [(tick, 0, f"Extension:{tick % 99}", "asleep") for tick in range(990)]
    row, entries = stretch(make_observation([make_process(1, 10.0)], looks, 990, 10.0), PLACE, 1)
    sessions = of(entries, SESSIONS)
    assert len(sessions) == MOST_ROWS + 1
    assert sessions[OTHER]
    assert row.busy_s
    assert math.fsum(value or 0 for value in sessions.values()) == pytest.approx(row.busy_s)
