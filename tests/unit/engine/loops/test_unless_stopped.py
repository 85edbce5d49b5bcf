"""Statements that take long, and a run that is to stop."""

from __future__ import annotations

import threading

import pytest

from redolab.engine.loops.unless_stopped import unless_stopped
from redolab.errors import InterruptedRunError


def test_many_short_statements_end_when_the_run_is_to_stop() -> None:
    stop, done = threading.Event(), []

    def short() -> None:
        done.append(1)
        if len(done) == 3:
            stop.set()

    def ten() -> None:
        for _ in range(10):
            unless_stopped(stop, short, lambda: None)

    with pytest.raises(InterruptedRunError):
        ten()
    assert len(done) == 3


def test_a_long_statement_is_cancelled() -> None:
    stop, cancelled = threading.Event(), threading.Event()
    threading.Timer(0.1, stop.set).start()
    with pytest.raises(InterruptedRunError):
        unless_stopped(stop, cancelled.wait, cancelled.set)
    assert cancelled.is_set()
