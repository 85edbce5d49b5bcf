"""Which moments a seed means: kinds in equal shares, and when each comes; nothing else is random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.breaker.moments import KINDS, kinds_for
from tests.breaker.scene import RUN, WATCH

_HAND = {RUN: 3, WATCH: 2}
_WATCH_EVERY = 4
_MOST_LAST = 1
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
    hand = _hand(engine, what, number)
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
    return Plan(what, draw.random() < 0.5, watch_s, moments)


def _hand(engine: str, what: str, number: int) -> list[str]:
    """The cards of one run from an endless deck, in which every kind comes once a round."""
    size = _HAND[what]
    cards = [_card(engine, what, position) for position in range(number * size, (number + 1) * size)]
    kinds = sorted(dict.fromkeys(cards), key=lambda kind: KINDS[kind].turn)
    # Nothing comes after what ends a run.
    last = [kind for kind in kinds if KINDS[kind].turn == max(it.turn for it in KINDS.values())]
    return [kind for kind in kinds if kind not in last[_MOST_LAST:]]


def _card(engine: str, what: str, position: int) -> str:
    kinds = kinds_for(what)
    if what == RUN:
        # What fits a watch too has the other half of its times there.
        kinds += [kind for kind in kinds if WATCH not in KINDS[kind].fits]
    round_, place = divmod(position, len(kinds))
    random.Random(f"{engine} {what} {round_}").shuffle(kinds)
    return kinds[place]
