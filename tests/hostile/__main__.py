"""Thousands of damaged runs: `python -m tests.hostile [IN_PROCESS [BY_COMMAND [FIRST_SEED]]]`.

Every one must end with a sentence and 0, 1, 2 or 3, in seconds and without much memory. Counts by exit code.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.hostile.asked import LONGEST_S, MOST_BYTES, Answer, ask_command, ask_here
from tests.hostile.runs import make_runs

_Ask = Callable[[dict[str, Path], int, Path], Answer]


def main(in_process: int = 10_000, by_command: int = 200, first: int = 1) -> int:
    faults = 0
    with tempfile.TemporaryDirectory(prefix="redolab-hostile-") as place:
        os.environ["XDG_DATA_HOME"] = f"{place}/data"
        runs = make_runs(Path(place))
        for what, ask, count in (
            ("in process", ask_here, in_process),
            ("by command", ask_command, by_command),
        ):
            faults += _all(what, ask, runs, range(first, first + count), Path(place))
    return 1 if faults else 0


def _all(what: str, ask: _Ask, runs: dict[str, Path], seeds: range, place: Path) -> int:
    codes: Counter[int | None] = Counter()
    faults, unforeseen, slowest_s = 0, 0, 0.0
    with multiprocessing.get_context("fork").Pool(2 * (os.cpu_count() or 1), maxtasksperchild=500) as pool:
        one = functools.partial(_one, ask, runs, place)
        for done, (answer, memory) in enumerate(pool.imap_unordered(one, seeds, chunksize=10), 1):
            codes[answer.code] += 1
            unforeseen += "its files can be read, but their contents cause an error" in answer.said
            slowest_s = max(slowest_s, answer.cpu_s)
            fault = answer.fault or (f"took {memory >> 20} MB" if memory > MOST_BYTES else None)
            if fault is None and answer.cpu_s > LONGEST_S:
                fault = f"took {answer.cpu_s:.0f} s"
            if fault is not None:
                faults += 1
                print(f"{fault}: seed {answer.seed}, {answer.run}, {' '.join(answer.command)}: {answer.done}")
                print(answer.said[-3000:], flush=True)
            if done % 500 == 0 or done == len(seeds):
                ended = ", ".join(
                    f"{count} ended with {code}" for code, count in sorted(codes.items(), key=str)
                )
                print(
                    f"{done} damaged runs {what}: {ended}; {unforeseen} were refused by the analysis alone; "
                    f"{faults} faults; the slowest took {slowest_s:.1f} s of CPU time",
                    flush=True,
                )
    return faults


def _one(ask: _Ask, runs: dict[str, Path], place: Path, seed: int) -> tuple[Answer, int]:
    own = place / f"worker-{os.getpid()}"
    own.mkdir(exist_ok=True)
    answer = ask(runs, seed, own)
    who = resource.RUSAGE_CHILDREN if ask is ask_command else resource.RUSAGE_SELF
    return answer, resource.getrusage(who).ru_maxrss << 10


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
