"""The wait sampler on and off in turns inside each sample, so that every run shows what sampling costs.

A sample is cut into equal slices, an even number of them; two that follow each other are a pair, with
the sampler on in one and off in the other, in an order drawn for each pair. Throughput of a slice is
counted in transaction ids: every commit of the load takes one, and they move even inside a `CALL` that
commits in a loop, where all of the server's cumulative counters stand still.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from types import TracebackType
from typing import Protocol, Self

from redolab.engine.base import Watch
from redolab.errors import EngineError
from redolab.records.sample import OnOff, Ticks

_SLICE_S = 0.25
"""A slice is about this long."""
_FEWEST_PAIRS = 2
_MARGIN_S = 0.05
"""Left out at both ends of the load: sessions begin and end a moment apart."""


class Sampler(Watch, AbstractContextManager["Sampler"], Protocol):
    """A wait sampler that can be held."""

    def pause(self) -> None:
        """Read nothing until `resume`."""
        ...

    def resume(self) -> None:
        """Go on sampling."""
        ...


@dataclass(frozen=True)
class Mark:
    """The edge of a slice, as the server saw it."""

    at_s: float
    """The server's clock."""
    transactions: int
    """How many transaction ids it had given out."""


@dataclass(frozen=True)
class Plan:
    """Which slices a load is cut into."""

    turns: tuple[bool, ...]
    """Whether the sampler is on, per slice in their order; empty for a load that is too short."""
    slice_s: float

    @property
    def edges_s(self) -> tuple[float, ...]:
        """When each slice begins, and the last one ends, seconds from the beginning of the load."""
        return tuple(_MARGIN_S + place * self.slice_s for place in range(len(self.turns) + 1))


def plan(load_s: float, seed: int) -> Plan:
    """Cut a load of `load_s` seconds into pairs of slices, on and off in random order."""
    usable_s = load_s - 2 * _MARGIN_S
    pairs = round(usable_s / (2 * _SLICE_S))
    if pairs < _FEWEST_PAIRS:
        return Plan((), 0.0)
    order = random.Random(seed)
    turns = [turn for _ in range(pairs) for turn in order.choice(((True, False), (False, True)))]
    return Plan(tuple(turns), usable_s / len(turns))


def on_off(turns: Sequence[bool], marks: Sequence[Mark]) -> tuple[OnOff, ...]:
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
    """A wait sampler that is on while its `with` block runs, but for every second slice of the load."""

    def __init__(self, sampler: Sampler, mark: Callable[[], Mark], load_s: float, seed: int) -> None:
        """Hold and release `sampler` over a load.

        Args:
            sampler: entered and left with the block.
            mark: asks the server; called from a thread of this block's own. An `EngineError` of it ends the
                turns.
            load_s: the load begins right after the block and lasts so long.
            seed: of the order.
        """
        self.ticks = Ticks()
        self._sampler, self._mark, self._load_s = sampler, mark, load_s
        self._plan = plan(load_s, seed)
        self._marks: list[Mark] = []
        self._off_s = 0.0
        self._off_since: float | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._alternate, name="on and off", daemon=True)

    def __enter__(self) -> Self:
        self._sampler.__enter__()
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
        self._sampler.__exit__(kind, error, trace)
        self.ticks = replace(
            self._sampler.ticks,
            sampled_s=time.monotonic() - self._begun - self._off_s,
            pairs=on_off(self._plan.turns, self._marks),
        )

    def _alternate(self) -> None:
        # A lost connection ends the turns, not the sample: that is for the sessions to say.
        try:
            for turn, due_s in zip((*self._plan.turns, True), self._plan.edges_s, strict=True):
                if self._done.wait(self._begun + due_s - time.monotonic()) or not self._note_edge():
                    return
                self._turn(turn)
        except EngineError:
            return
        finally:
            self._turn(True)

    def _note_edge(self) -> bool:
        """Read an edge; False when it may lie after the end of the load."""
        mark = self._mark()
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
            self._sampler.resume()
            self._off_s += now - self._off_since
            self._off_since = None
        elif not on and self._off_since is None:
            self._sampler.pause()
            self._off_since = now
