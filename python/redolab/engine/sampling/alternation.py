"""The wait sampler on and off in turns inside each sample, so that every run shows what sampling costs.

A sample is cut into equal slices, an even number of them; two that follow each other are a pair, with
the sampler on in one and off in the other, in an order drawn for each pair. Throughput of a slice is
counted in transaction ids: every commit of the load takes one, and they move even inside a `CALL` that
commits in a loop, where none of the server's cumulative counters advances.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import TracebackType
from typing import Self

from redolab.engine.sampling.source import Source
from redolab.engine.sampling.tick_counts import ticks_of
from redolab.records.observation import Observation
from redolab.records.sample import OnOff, Ticks

_SLICE_S = 0.25
"""A slice is about this long."""
_FEWEST_PAIRS = 2
_MARGIN_S = 0.05
"""Left out at both ends of the load: sessions begin and end a moment apart."""


@dataclass(frozen=True)
class SliceMark:
    """The edge of a slice, as the server saw it."""

    at_s: float
    """The server's clock."""
    transactions: int
    """How many transaction ids it had given out."""


@dataclass(frozen=True)
class SlicePlan:
    """Which slices a load is cut into."""

    turns: tuple[bool, ...]
    """Whether the sampler is on, per slice in their order; empty for a load that is too short."""
    slice_s: float

    @property
    def edges_s(self) -> tuple[float, ...]:
        """When each slice begins, and the last one ends, seconds from the beginning of the load."""
        return tuple(_MARGIN_S + place * self.slice_s for place in range(len(self.turns) + 1))


def plan(load_s: float, seed: int) -> SlicePlan:
    """Cut a load of `load_s` seconds into pairs of slices, on and off in random order."""
    usable_s = load_s - 2 * _MARGIN_S
    pairs = round(usable_s / (2 * _SLICE_S))
    if pairs < _FEWEST_PAIRS:
        return SlicePlan((), 0.0)
    order = random.Random(seed)
    turns = [turn for _ in range(pairs) for turn in order.choice(((True, False), (False, True)))]
    return SlicePlan(tuple(turns), usable_s / len(turns))


def on_off(turns: Sequence[bool], marks: Sequence[SliceMark]) -> tuple[OnOff, ...]:
    """Throughput on and off in each pair whose slices are complete; `marks` are their edges in order."""
    rates = [
        (after.transactions - before.transactions) / (after.at_s - before.at_s)
        for before, after in pairwise(marks)
    ]
    return tuple(
        OnOff(
            pair=first // 2 + 1,
            on_first=turns[first],
            on_per_s=rates[first] if turns[first] else rates[first + 1],
            off_per_s=rates[first + 1] if turns[first] else rates[first],
        )
        for first in range(0, len(rates) - 1, 2)
    )


class InTurns:
    """A source that watches while its `with` block runs, but for every second slice of the load."""

    def __init__(
        self,
        begin: Callable[[], Source | None],
        mark: Callable[[], SliceMark | None],
        load_s: float,
        seed: int,
        sessions: Collection[int],
    ) -> None:
        """Hold and release a source over a load.

        Args:
            begin: makes the source when the block is entered; None where nothing can be watched just now.
            mark: asks the server; called from a thread of this block's own. None when the server does not
                answer: that ends the turns and not the sample, for it is the sessions' to say.
            load_s: the load begins right after the block and lasts so long.
            seed: of the order.
            sessions: the working sessions' connections, as the server calls them.
        """
        self._begin, self._mark, self._load_s, self._sessions = begin, mark, load_s, sessions
        self._source: Source | None = None
        self._seen: Observation | None = None
        self._sampled_s = 0.0
        self._plan = plan(load_s, seed)
        self._marks: list[SliceMark] = []
        self._off_s = 0.0
        self._off_since: float | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._alternate, name="on and off", daemon=True)

    @property
    def ticks(self) -> Ticks:
        """The ticks that were observed. They are counted only when asked for, after the counters at the
        load's end are read.
        """
        ticks = Ticks() if self._seen is None else ticks_of(self._seen, self._sessions)
        return replace(ticks, sampled_s=self._sampled_s, pairs=on_off(self._plan.turns, self._marks))

    def __enter__(self) -> Self:
        self._source = self._begin()
        self._begun = time.monotonic()
        if self._plan.turns:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._plan.turns:
            self._thread.join()
        self._sampled_s = time.monotonic() - self._begun - self._off_s
        if self._source is not None:
            self._seen = self._source.stop()

    def _alternate(self) -> None:
        try:
            for turn, due_s in zip((*self._plan.turns, True), self._plan.edges_s, strict=True):
                if self._done.wait(self._begun + due_s - time.monotonic()) or not self._note_edge():
                    return
                self._turn(turn)
        finally:
            self._turn(True)

    def _note_edge(self) -> bool:
        """Read an edge; False when there is none, or it may lie after the end of the load."""
        mark = self._mark()
        if mark is None:
            return False
        if not self._marks:
            # The load ends no earlier than this on the server's clock.
            self._end_s = mark.at_s - (time.monotonic() - self._begun) + self._load_s
        if mark.at_s > self._end_s:
            return False
        self._marks.append(mark)
        return True

    def _turn(self, on: bool) -> None:
        now = time.monotonic()
        if on and self._off_since is not None:
            if self._source is not None:
                self._source.resume()
            self._off_s += now - self._off_since
            self._off_since = None
        elif not on and self._off_since is None:
            if self._source is not None:
                self._source.pause()
            self._off_since = now
