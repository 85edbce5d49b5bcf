"""What tests of sessions that work over the wire have in common."""

from __future__ import annotations

import threading
from collections.abc import Callable

from redolab import _core
from redolab.engine.postgres.engine import PostgresEngine
from redolab.measure.difference import difference
from redolab.records.design import Trial
from redolab.records.load import Amount, Inserts
from redolab.records.sample import LatencyRow, Sample, Setting, Ticks, Work

Open = Callable[..., tuple[PostgresEngine, dict[str, Setting]]]
TRIAL = Trial(1, 1, 1, "setting", "treatment")


def inserts(sessions: int, loop: str = "client") -> Inserts:
    return Inserts("", sessions, "session", 20, loop=loop)


def begin(sessions: _core.ClientSessions, statement: str, seconds: float) -> None:
    """A statement without arguments, over and over."""
    sessions.begin(
        statement, [], text=False, rows_per_commit=1, parameters=[], seconds=seconds, rows=None, pause_s=0.0,
        arrival_rate_per_s=None, seed=1, afterwards=[],
    )  # fmt: skip


def work(engine: PostgresEngine, setting: Setting, amount: Amount) -> Work:
    engine.apply(setting)
    engine.settle()
    return engine.work(amount, threading.Event())


def sampled(engine: PostgresEngine, setting: Setting, amount: Amount) -> tuple[Sample, list[LatencyRow]]:
    """One sample, as the runner makes it."""
    engine.apply(setting)
    engine.settle()
    before = engine.snapshot()
    done = engine.work(amount, threading.Event())
    sample, _, _, _, latency = difference(TRIAL, "", 0.0, before, engine.snapshot(), done, Ticks())
    assert sample.spoiled is None
    return sample, latency
