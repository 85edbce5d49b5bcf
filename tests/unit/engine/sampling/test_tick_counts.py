"""Ticks of a sample, counted by hand from an observation."""

from __future__ import annotations

from dataclasses import replace

from redolab.engine.sampling.tick_counts import ticks_of
from redolab.records.observation import STATES, IdleLooks
from redolab.records.sample import TickCount
from tests.unit.analysis.observations import INSTRUMENT, make_background, make_observation, make_process

ASLEEP, AWAKE = STATES.index("asleep"), STATES.index("awake")
OBSERVED = make_observation(
    [make_process(10), make_process(11), make_background(12), make_process(13)],
    [
        (0, 0, "IO:WalSync", "asleep"),
        (0, 1, "IO:WalSync", "asleep"),
        (1, 0, "IO:WalSync", "asleep"),
        (1, 2, "IO:WalSync", "asleep"),
        (2, 0, "", "on_cpu"),
        (2, 3, "IO:WalSync", "unknown"),
    ],
    ticks=3,
    idle=(IdleLooks(1, 1, ASLEEP, 2), IdleLooks(1, 1, AWAKE, 1), IdleLooks(0, 1, ASLEEP, 4)),
    instrument=replace(
        INSTRUMENT, late=1, lost=2, torn=3, looks=13, cpu_s=0.5, server_cpu_s=9.0, realtime=True
    ),
)


def test_looks_and_idle_looks_are_added_up_over_processes_of_one_kind() -> None:
    ticks = ticks_of(OBSERVED, [10, 11])
    assert ticks.counts == (
        TickCount("background", "client backend", "IO", "WalSync", "unknown", 1),
        TickCount("background", "walwriter", "IO", "WalSync", "asleep", 1),
        TickCount("session", "client backend", "", "", "asleep", 6),
        TickCount("session", "client backend", "", "", "awake", 1),
        TickCount("session", "client backend", "", "", "on_cpu", 1),
        TickCount("session", "client backend", "IO", "WalSync", "asleep", 3),
    )


def test_how_well_time_was_kept_is_the_instruments() -> None:
    ticks = ticks_of(OBSERVED, [10, 11])
    assert (ticks.rounds, ticks.late, ticks.lost, ticks.torn, ticks.looks) == (3, 1, 2, 3, 13)
    # CPU in the server is in the snapshots' counters.
    assert (ticks.cpu_s, ticks.realtime) == (0.5, True)
    assert (ticks.sampled_s, ticks.pairs) == (0.0, ())


def test_nothing_observed_counts_nothing() -> None:
    assert ticks_of(make_observation(), [10]).counts == ()
