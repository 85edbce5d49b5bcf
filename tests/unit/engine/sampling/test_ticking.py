"""The sampling clock with ticks made by hand."""

from __future__ import annotations

import threading

from redolab.engine.sampling.ticking import Outcome, Ticking, TimeKept

PATIENCE_S = 30.0


class Ticks:
    """Answers from a list, and then `seen` for good."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)
        self.made = 0
        self.enough = threading.Event()

    def tick(self) -> Outcome:
        self.made += 1
        if self.made == 5:
            self.enough.set()
        return self._outcomes.pop(0) if self._outcomes else "seen"


def test_lost_ticks_are_counted_and_the_ticking_goes_on() -> None:
    ticks = Ticks("lost", "seen", "lost")
    ticking = Ticking(ticks.tick, lambda: 1000.0, 1)
    assert ticks.enough.wait(PATIENCE_S)
    ticking.stop()
    kept = ticking.cut()
    assert kept.lost == 2
    assert kept.cpu_s > 0
    assert 0 <= kept.late <= ticks.made
    assert ticking.cut() == TimeKept()


def test_after_the_last_possible_tick_there_is_none() -> None:
    ticks = Ticks("seen", "over")
    ticking = Ticking(ticks.tick, lambda: 1000.0, 1)
    ticking._thread.join(PATIENCE_S)
    assert not ticking._thread.is_alive()
    ticking.stop()
    assert ticks.made == 2
    assert ticking.cut().lost == 1


def test_the_rate_is_asked_before_each_gap() -> None:
    rates = iter([1000.0, 500.0, 250.0])
    asked: list[float] = []
    done = threading.Event()

    def rate() -> float:
        asked.append(next(rates, 1e-6))
        if len(asked) == 4:
            done.set()
        return asked[-1]

    ticks = Ticks()
    ticking = Ticking(ticks.tick, rate, 1)
    assert done.wait(PATIENCE_S)
    ticking.stop()
    # The fourth gap is ten days long.
    assert ticks.made == 3
