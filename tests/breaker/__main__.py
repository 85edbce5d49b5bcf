"""The long form, and one run again: `python -m tests.breaker [ENGINE [SEED]] [--moments N] [--first SEED]`.

Without a seed each engine gets moments until so many came about, and every kind often enough. Exit code 1
where anything untrue was said.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import count

from tests.breaker.moments import KINDS, why_not
from tests.breaker.plan import plan_of
from tests.breaker.play import Played, play
from tests.breaker.servers import ENGINES, why_missing

LEAST_OF_A_KIND = 5
"""On each engine, which is more than ten over all of them."""


def main(arguments: list[str]) -> int:
    asked = _asked(arguments)
    for engine in asked.engines:
        if (why := why_missing(engine)) is not None:
            print(f"{engine}: not tried: {why}", flush=True)
    engines = [engine for engine in asked.engines if why_missing(engine) is None]
    if asked.seed is not None:
        return sum(bool(_told(_played(engine, asked.seed), at_length=True)) for engine in engines) and 1
    faults = sum(_long(engine, asked.first, asked.moments) for engine in engines)
    return 1 if faults else 0


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.breaker", description=__doc__)
    parser.add_argument("engines", nargs="?", metavar="ENGINE", type=lambda it: (it,), default=ENGINES)
    parser.add_argument("seed", nargs="?", metavar="SEED", type=int)
    parser.add_argument("--moments", type=int, default=200, help="on each engine")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    return parser.parse_args(arguments)


def _long(engine: str, first: int, moments: int) -> int:
    """Play seeds until so many moments came about; returns how many of the runs said something untrue."""
    struck: Counter[str] = Counter()
    began_s, faults, played = time.monotonic(), 0, 0
    for played, seed in enumerate(_seeds(first, struck, moments), 1):  # noqa: B007  said at the end
        result = _played(engine, seed)
        struck.update(result.struck)
        faults += bool(_told(result, at_length=False))
    for name in KINDS:
        why = why_not(name)
        print(f"{engine}: {struck[name]:4d} {name}{f' (not to be had here: {why})' if why else ''}")
    print(
        f"{engine}: {struck.total()} moments in {played} runs and watches, {faults} of which said something "
        f"untrue; {(time.monotonic() - began_s) / 60:.0f} minutes",
        flush=True,
    )
    return faults


def _seeds(first: int, struck: Counter[str], moments: int) -> Iterator[int]:
    least = min(LEAST_OF_A_KIND, moments // len(KINDS))
    for seed in count(first):
        wanted = [name for name in KINDS if why_not(name) is None and struck[name] < least]
        if (struck.total() >= moments and not wanted) or seed >= first + 2 * moments:
            return
        yield seed


def _played(engine: str, seed: int) -> Played:
    try:
        return play(engine, seed)
    except Exception:  # noqa: BLE001  the other seeds are played, and this one is told
        failed = f"the breaker itself failed: {traceback.format_exc()}"
        return Played(engine, seed, plan_of(engine, seed), faults=[failed])


def _told(played: Played, at_length: bool) -> list[str]:
    """Print what came of it; returns the faults."""
    plan = ", ".join(f"{it.kind} at {it.samples} + {it.delay_s:.2f} s" for it in played.plan.moments)
    print(
        f"{played.engine} {played.seed}: {played.plan.what} with {plan}; struck {len(played.struck)} "
        f"({', '.join(played.struck)}); "
        f"exit code {played.code}; {played.took_s:.0f} s; {'UNTRUE' if played.faults else 'true'}",
        flush=True,
    )
    for fault in played.faults:
        print(f"    {fault}")
    if played.faults or at_length:
        print("\n".join(f"    | {line}" for line in played.said.splitlines()), flush=True)
    return played.faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
