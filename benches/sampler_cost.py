"""What the wait sampler costs: throughput and CPU per commit with it on, against off, in pairs.

    python benches/sampler_cost.py [PAIRS] [SECONDS] [SESSIONS]

The embedded server under nowait/batch, which commits as fast as it can; on and off in random order
inside each pair. Raw numbers go to benches/results/sampler_cost.csv, the ratios to the terminal.
"""

from __future__ import annotations

import csv
import math
import random
import sys
import threading
from pathlib import Path

from scipy import stats

from redolab.difference import process_times
from redolab.engine import open_engine
from redolab.engine.base import Engine
from redolab.experiment.commit_mode import EXPERIMENT, commit_load

RESULTS = Path(__file__).parent / "results" / "sampler_cost.csv"
DEFAULTS = (40.0, 1.0, 8.0)
SEED = 20261121


def one_sample(engine: Engine, seconds: float, on: bool) -> tuple[float, float, float]:
    """Commits per second, CPU of the sessions per commit (s), and CPU of the sampler (s)."""
    stop = threading.Event()
    engine.settle()
    engine.work(0.2, stop)
    sampler_s = 0.0
    before = engine.snapshot()
    if on:
        with engine.watch() as watch:
            work = engine.work(seconds, stop)
        sampler_s = watch.ticks.cpu_s
    else:
        work = engine.work(seconds, stop)
    times = process_times(0, before, engine.snapshot()) or []
    cpu_s = sum(p.cpu_ns for p in times if p.scope == "session") / 1e9
    return work.commits / work.session_elapsed_max_s, cpu_s / work.commits, sampler_s


def ratio(name: str, on: list[float], off: list[float]) -> str:
    """Geometric mean of the ratio on/off with its 95 % interval (t on log ratios of the pairs)."""
    logs = [math.log(a / b) for a, b in zip(on, off, strict=True)]
    interval = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    point, low, high = (math.exp(v) for v in (sum(logs) / len(logs), interval.low, interval.high))
    return f"{name:<22} on/off {point:.4f}  (95 %: {low:.4f} to {high:.4f})"


def main() -> None:
    """Measure, store, print."""
    given = tuple(float(text) for text in sys.argv[1:])
    pairs, seconds, sessions = given + DEFAULTS[len(given) :]
    engine = open_engine("embedded", int(sessions), None, SEED)
    order = random.Random(SEED)
    rows: list[tuple[int, bool, float, float, float]] = []
    try:
        load = commit_load("cpu", int(sessions), "session")
        (setting,) = engine.prepare(load, [EXPERIMENT.combinations["nowait/batch"]])
        engine.apply(setting)
        source = engine.sampler()
        for pair in range(int(pairs)):
            turns = [True, False]
            order.shuffle(turns)
            rows += [(pair, on, *one_sample(engine, seconds, on)) for on in turns]
    finally:
        engine.close()
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pair", "sampler_on", "commits_per_s", "cpu_per_commit_s", "sampler_cpu_s"])
        writer.writerows(rows)
    on, off = ([row for row in sorted(rows) if row[1] is state] for state in (True, False))
    print(f"{int(pairs)} pairs of {seconds:g} s, {int(sessions)} sessions; {source}")
    print(ratio("commits per second", [r[2] for r in on], [r[2] for r in off]))
    print(ratio("CPU per commit", [r[3] for r in on], [r[3] for r in off]))
    share = sum(row[4] for row in on) / (pairs * seconds)
    print(f"CPU of the sampler     {100 * share:.2f} % of one core")


if __name__ == "__main__":
    main()
