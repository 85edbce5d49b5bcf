"""Which moments a seed means: kinds in equal shares, and when each comes; nothing else is random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.breaker.moments import KINDS, LAST, kinds_for
from tests.breaker.scene import RUN, WATCH

_HAND = {RUN: 3, WATCH: 2}
_WATCH_EVERY = 4
_OF_JOURNAL = "journal edited"
BLOCKS = 2
SAMPLES = 3 * BLOCKS


@dataclass(frozen=True)
class Planned:
    """One moment of a run or a watch."""

    kind: str
    samples: int
    """So many samples are stored before it; of a watch nothing."""
    delay_s: float
    seed: int


@dataclass(frozen=True)
class Plan:
    """What happens under one seed."""

    what: str
    system: bool
    """Whether a run on PostgreSQL sets everything for the whole server."""
    watch_s: float
    moments: Sequence[Planned]


def plan_of(engine: str, seed: int) -> Plan:
    """The plan of a seed, from 1.

    One of four is a watch, so that kinds which fit both come as often in each.
    """
    what = WATCH if seed % _WATCH_EVERY == 0 else RUN
    number = seed // _WATCH_EVERY - 1 if what == WATCH else seed - 1 - seed // _WATCH_EVERY
    draw = random.Random(f"{engine} {seed}")
    hand = _hand(what, engine, number)
    watch_s = draw.choice((7.0, 14.0))
    if what == WATCH:
        at = sorted(draw.uniform(0.3, watch_s - 1.5) for _ in hand)
        times = [(0, after - before) for before, after in zip([0.0, *at], at, strict=False)]
    else:
        samples = sorted(draw.randrange(SAMPLES + 1) for _ in hand)
        times = [(number, draw.uniform(0, 0.5)) for number in samples]
    moments = [
        Planned(kind, samples, delay_s, draw.randrange(2**31))
        for kind, (samples, delay_s) in zip(hand, times, strict=True)
    ]
    # What a run sets for its sessions alone stands in no journal.
    system = draw.random() < 0.5 or _OF_JOURNAL in hand
    return Plan(what, system, watch_s, moments)


def _hand(what: str, engine: str, number: int) -> list[str]:
    """The kinds of one run, from two endless decks: one run has at most one of what ends a run."""
    size = _HAND[what]
    often = _share_of_last(what)
    before, after = (int(often * size * n) for n in (number, number + 1))
    last = [_card(what, engine, position, last=True) for position in range(before, after)]
    first_of_rest, rest = number * size - before, size - len(last)
    kinds = [_card(what, engine, first_of_rest + n, last=False) for n in range(rest)]
    return sorted(dict.fromkeys(kinds), key=lambda kind: KINDS[kind].turn) + last


def _share_of_last(what: str) -> Fraction:
    """The share of moments that end a run."""
    dealt = [kind for turn in (0, 1) for last in (True, False) for kind in _round(what, turn, last)]
    share = Fraction(sum(KINDS[kind].turn == LAST for kind in dealt), len(dealt))
    # Nothing comes after it.
    return min(share, Fraction(1, _HAND[what]))


def _card(what: str, engine: str, position: int, *, last: bool) -> str:
    """The kind at a position of a deck, round after round, each shuffled."""
    number = 0
    while position >= len(kinds := _round(what, number, last)):
        position -= len(kinds)
        number += 1
    random.Random(f"{engine} {what} {number} {last}").shuffle(kinds)
    return kinds[position]


def _round(what: str, number: int, last: bool) -> list[str]:
    """Every kind once; what fits a watch too sits out every other round, for it comes there as often."""
    kinds = [kind for kind in kinds_for(what) if (KINDS[kind].turn == LAST) == last]
    if what == WATCH:
        return kinds
    shared = [kind for kind in kinds if WATCH in KINDS[kind].fits]
    return [kind for kind in kinds if kind not in shared or shared.index(kind) % 2 == number % 2]
