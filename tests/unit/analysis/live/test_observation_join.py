"""Readings of a live server joined into one observation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from redolab.records.observation import IdleLooks, TimedWaits, WaitEnds, join
from tests.unit.analysis.observations import (
    INSTRUMENT,
    make_background,
    make_episodes,
    make_observation,
    make_process,
)

FIRST = make_observation(
    [make_process(10, user=None, application=None, cpu_s=0.25, polls_idle=1), make_background(11)],
    [(3, 0, "IO:WalSync", "asleep"), (4, 0, "", "on_cpu")],
    idle=(IdleLooks(0, 2, 2, 5), IdleLooks(1, 1, 2, 40)),
    wait_ends=(WaitEnds(0, 2, 0.5, 3),),
    timed=(TimedWaits(None, 2, 10, 0.5), TimedWaits(0, 2, 4, None)),
    counters={"commits": 5.0, "log_flushes": None},
    log_sync=make_episodes([1.0, 2.0]),
    host_busy_s=1.0,
)
SECOND = make_observation(
    [
        make_process(12, started=7),
        make_process(10, cpu_s=0.5, polls_idle=2, skipped=1, ended=True, last_tick=20),
    ],
    [(0, 1, "Lock:tuple", "asleep"), (2, 0, "IO:WalSync", "runnable")],
    ticks=40,
    elapsed_s=0.5,
    idle=(IdleLooks(0, 3, 2, 7), IdleLooks(1, 3, 2, 1), IdleLooks(1, 3, 4, 2)),
    wait_ends=(WaitEnds(1, 3, 0.25, 1), WaitEnds(1, 2, 0.25, 0)),
    timed=(TimedWaits(None, 3, 1, 0.25),),
    counters={"commits": 7.0, "log_flushes": 2.0},
    log_sync=make_episodes([4.0], [8.0]),
    host_busy_s=0.5,
    instrument=replace(INSTRUMENT, rate_per_s=80.0, late=2, realtime=False),
    warnings=("the server restarted",),
)


def test_one_of_one_is_itself() -> None:
    whole = join([FIRST])
    assert whole.processes == FIRST.processes
    assert whole.looks.event.tolist() == FIRST.looks.event.tolist()
    assert whole.counters == FIRST.counters


def test_processes_are_merged_by_pid_and_start() -> None:
    whole = join([FIRST, SECOND])
    assert [(item.pid, item.first_tick, item.last_tick) for item in whole.processes] == [
        (10, 0, 70),
        (11, 0, 50),
        (12, 50, 90),
    ]
    merged = whole.processes[0]
    assert (merged.user, merged.application) == ("app", "web")
    assert (merged.cpu_s, merged.elapsed_s, merged.polls_idle, merged.skipped) == (0.75, 2.0, 3, 1)
    assert merged.ended


def test_a_later_reading_that_does_not_know_the_user_keeps_it() -> None:
    later = make_observation([make_process(12, started=7, user=None, application="batch")])
    merged = join([SECOND, later]).processes[0]
    assert (merged.user, merged.application) == ("app", "batch")


def test_looks_and_events_keep_their_meaning() -> None:
    whole = join([FIRST, SECOND])
    assert whole.ticks == 90
    assert whole.events[0] == ("", "idle")
    seen = [
        (int(tick), whole.processes[process].pid, ":".join(whole.events[event]))
        for tick, process, event in zip(whole.looks.tick, whole.looks.process, whole.looks.event, strict=True)
    ]
    assert seen == [(3, 10, "IO:WalSync"), (4, 10, ":"), (50, 10, "Lock:tuple"), (52, 12, "IO:WalSync")]
    assert whole.looks.tick.dtype == np.uint32


def test_amounts_are_added_and_what_a_part_lacks_the_whole_lacks() -> None:
    whole = join([FIRST, SECOND])
    assert whole.elapsed_s == 1.5
    assert whole.counters == {"commits": 12.0, "log_flushes": None}
    assert whole.host_busy_s == 1.5
    assert whole.host_steal_s is None
    assert whole.instrument.rate_per_s == pytest.approx(60.0)
    assert (whole.instrument.late, whole.instrument.realtime) == (2, False)
    assert whole.warnings == ("the server restarted",)


def test_wait_ends_and_timed_waits_find_their_process_and_event() -> None:
    whole = join([FIRST, SECOND])
    sync, lock = whole.events.index(("IO", "WalSync")), whole.events.index(("Lock", "tuple"))
    ends = {(item.process, item.event): (item.exposure_s, item.ends) for item in whole.wait_ends}
    # In the second part's own code 2 is the row lock and 3 the flush.
    assert ends == {(0, sync): (0.75, 4), (0, lock): (0.25, 0)}
    timed = {(item.process, item.event): (item.count, item.time_s) for item in whole.timed}
    assert timed == {(None, sync): (11, 0.75), (0, sync): (4, None)}


def test_episodes_are_put_together() -> None:
    whole = join([FIRST, SECOND])
    assert whole.log_sync is not None
    assert whole.log_sync.durations_s.tolist() == [0.001, 0.002, 0.004]
    assert whole.log_sync.unfinished_s.tolist() == [0.008]
    assert whole.log_sync.watched_s == 20.0
    assert whole.log_sync.resolution_s == pytest.approx(5e-5)
    assert whole.log_write is None


def test_ticks_without_the_process_between_two_readings_do_not_pass_for_idle() -> None:
    with_it, without = make_observation([make_process(10)]), make_observation([])
    merged = join([with_it, without, with_it]).processes[0]
    assert (merged.first_tick, merged.last_tick, merged.skipped) == (0, 150, 50)


def test_nothing_to_join_is_an_error() -> None:
    with pytest.raises(ValueError, match="no observation"):
        join([])


def test_idle_looks_are_added_by_process_event_and_state() -> None:
    whole = join([FIRST, SECOND])
    found = {
        (whole.processes[idle.process].pid, ":".join(whole.events[idle.event]), idle.state): idle.looks
        for idle in whole.idle
    }
    assert found == {
        (10, "IO:WalSync", 2): 6,
        (10, "IO:WalSync", 4): 2,
        (11, ":", 2): 40,
        (12, "IO:WalSync", 2): 7,
    }
    assert len(whole.idle) == len(found)
