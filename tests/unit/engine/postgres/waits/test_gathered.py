"""Answers of `pg_stat_activity`, counted by hand as they come."""

from __future__ import annotations

from typing import Any

from redolab.engine.postgres.waits.activity import _Gathered
from redolab.records.observation import STATES

ASLEEP, AWAKE = STATES.index("asleep"), STATES.index("awake")


def row(pid: int, state: str | None, wait: str | None, age_s: float) -> dict[str, Any]:
    wait_class, _, event = (wait or "").partition(":")
    return {
        "pid": pid, "started_us": 100 + pid, "state": state, "age_s": age_s,
        "wait_event_type": wait_class or None, "wait_event": event or None,
    }  # fmt: skip


def test_three_ticks() -> None:
    gathered = _Gathered()
    reading = row(1, "idle", "Client:ClientRead", 5.0)
    gathered.add(10.0, [reading, row(2, "active", "IO:WalSync", 7.0)], [ASLEEP, ASLEEP])
    # Woken, but its wait is still posted: it idles all the same.
    gathered.add(10.5, [row(1, "idle in transaction", "Client:ClientRead", 5.5)], [AWAKE])
    gathered.add(11.0, [row(2, "active", None, 8.0), row(3, None, "Activity:Main", 0.25)], [AWAKE, ASLEEP])
    assert list(gathered.codes) == [
        ("", "idle"), ("", ""), ("Client", "ClientRead"), ("IO", "WalSync"), ("Activity", "Main"),
    ]  # fmt: skip
    assert gathered.looks.tolist() == [0, 1, 3, ASLEEP, 2, 1, 1, AWAKE]
    assert gathered.idle == {(0, 2, ASLEEP): 1, (0, 2, AWAKE): 1, (2, 4, ASLEEP): 1}
    first, second, third = gathered.lives.values()
    assert (first.first, first.last, first.found, first.idle, first.in_transaction) == (0, 1, 2, 1, 1)
    assert (second.first, second.last, second.found, second.first_age_s) == (0, 2, 2, 7.0)
    assert (third.first, third.last, third.found, third.idle) == (2, 2, 1, 0)
    assert gathered.alive == {(2, 102), (3, 103)}
    assert gathered.at_s.tolist() == [10.0, 10.5, 11.0]


def test_nobody_lives_before_the_first_tick() -> None:
    assert _Gathered().alive == frozenset()
