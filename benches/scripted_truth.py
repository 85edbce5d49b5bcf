"""Is the profiler right? Servers made to spend known shares of time, against what it says of them.

    python -m benches.scripted_truth [SECONDS PER SCENARIO]

Sessions note their own waits by the server's clock (tests/scripted.py); an emulated log device counts
how long its flushes slept. Every row of every window goes to benches/results/scripted_truth.csv with its
truth; the terminal gets, per scenario and scope, how often the truth lay inside the 95 % interval.

With the data in memory (XDG_CACHE_HOME=/dev/shm/redolab) the log device is exact: on a disk, the real
flush under it spends some 0.2 ms on CPU and in the run queue, which its count takes for sleep.
"""

from __future__ import annotations

import csv
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from scipy import stats
from tests.scripted import LOCKS, SLEEP, Worker, script, shares

from redolab.analysis.live.profile import profile_observation
from redolab.engine import open_observer

RESULTS = Path(__file__).parent / "results" / "scripted_truth.csv"
SEED = 20261121
WINDOW_S = 1.0
ORDER_WINDOW_S = 5.0
KINDS = tuple(LOCKS)

Row = tuple[str, int, str, str, float, float, float, float]
"""Scenario, window, scope, row, truth, point, low, high (shares)."""


def windows(
    target: str, until: float, at_end: Callable[[], Any] = lambda: None, window_s: float = WINDOW_S
) -> Iterator[tuple[Any, ...]]:
    """Begin, end (epoch seconds), results, and what `at_end` says, of one window after the other."""
    observer = open_observer(target, SEED)
    try:
        observer.read()
        while time.time() < until - window_s:
            time.sleep(window_s)
            seen, said = observer.read(), at_end()
            begin = datetime.fromisoformat(seen.at).timestamp()
            yield begin, begin + seen.elapsed_s, profile_observation(seen), said
    finally:
        observer.close()


def compare(
    name: str, number: int, scope: str, group: Mapping[str, Any], truth: Mapping[str, float]
) -> list[Row]:
    """Rows of one profile beside their true seconds; a row not reported stands as 0 to 0."""
    said = shares(group["profile"])
    nothing = {"point": 0.0, "low": 0.0, "high": 0.0}
    rows = []
    for row, seconds in truth.items():
        share = said.get(row, nothing)
        rows.append(
            (name, number, scope, row, seconds / group["busy_s"], share["point"], share["low"], share["high"])
        )
    return rows


def waits(seconds: float) -> list[Row]:
    """Sleeps and three kinds of locks, twelve workers with a holder each."""
    rows: list[Row] = []
    with script(30) as scripted:
        until = time.time() + seconds
        workers: list[Worker] = []
        for number in range(12):
            kind = KINDS[number % len(KINDS)]
            sleep_s = (0.005, 0.02, 0.06)[number % 4 % 3]
            workers.append(scripted.work(kind, number + 1, until, 0.0005, sleep_s))
            scripted.hold(kind, number + 1, until, 0.02, 0.01)
        scripted.begun()
        seen = [(begin, end, results) for begin, end, results, _ in windows(scripted.url, until - 0.5)]
        scripted.ended()
    for number, (begin, end, results) in enumerate(seen):
        for session in results["sessions"]:
            for worker in workers:
                if worker.pid == session["pid"]:
                    truth = {event: worker.time_in(event, begin, end) for event in worker.waits}
                    rows += compare("waits", number, "session", session, truth)
        whole: defaultdict[str, float] = defaultdict(float)
        for worker in workers:
            for event in worker.waits:
                whole[event] += worker.time_in(event, begin, end)
        (kind_group,) = (g for g in results["kinds"] if g["application"] == "worker")
        rows += compare("waits", number, "kind", kind_group, whole)
    return rows


def log_device(seconds: float, delay_s: float) -> list[Row]:
    """Committers on a log device that counts how long its flushes slept at least.

    What its callers saw (`delivered_s`) holds their time in the run queue too, where they stand awake.
    """
    name = f"log device {delay_s * 1000:g} ms"
    rows: list[Row] = []
    with script(10, delay_s) as scripted:
        until = time.time() + seconds
        for number in range(3):
            scripted.commit(number + 1, until, 0.0003)
        scripted.begun()
        device = scripted.server.device
        assert device is not None
        seen = list(windows(scripted.url, until - 0.5, lambda: device.counters().total.requested_s))
        for number, ((*_, before), (_, _, results, slept)) in enumerate(pairwise(seen)):
            rows += compare(name, number, "instance", results["instance"], {"IO:WalSync": slept - before})
        scripted.ended()
    return rows


def hogs(seconds: float) -> list[Row]:
    """Three computing sessions for each CPU: two thirds of their time in the run queue."""
    cpus = os.cpu_count() or 1
    rows: list[Row] = []
    with script(3 * cpus + 4) as scripted:
        until = time.time() + seconds
        for _ in range(3 * cpus):
            scripted.compute(until)
        scripted.begun()
        for number, (_, _, results, _) in enumerate(windows(scripted.url, until - 0.5)):
            (group,) = (g for g in results["kinds"] if g["application"] == "hog")
            rows += compare("hogs", number, "kind", group, {"run_queue": group["busy_s"] * 2 / 3})
        scripted.ended()
    return rows


def top_five(seconds: float) -> list[tuple[int, list[str], list[str]]]:
    """Five waits of very different sizes: the true order and the reported one, per window."""
    answers = []
    with script(40, 0.005) as scripted:
        until = time.time() + seconds
        workers = [scripted.work("row", n + 1, until, 0.0005, 0.03) for n in range(6)]
        workers += [scripted.work("relation", n + 11, until, 0.0005, 0.03) for n in range(2)]
        workers += [scripted.work("advisory", n + 21, until, 0.0005, 0.06) for n in range(1)]
        for kind, numbers in (("row", range(6)), ("relation", range(10, 12)), ("advisory", range(20, 21))):
            for number in numbers:
                scripted.hold(kind, number + 1, until, 0.05, 0.005)
        scripted.commit(30, until, 0.03)
        scripted.begun()
        device = scripted.server.device
        assert device is not None
        seen = list(
            windows(scripted.url, until - 0.5, lambda: device.counters().total.requested_s, ORDER_WINDOW_S)
        )
        scripted.ended()
    for number, ((_, _, _, before), (begin, end, results, slept)) in enumerate(pairwise(seen)):
        truth: defaultdict[str, float] = defaultdict(float)
        for worker in workers:
            for event in worker.waits:
                truth[event] += worker.time_in(event, begin, end)
        truth["IO:WalSync"] = slept - before
        # The holders sleep too; nobody notes it, and nothing else comes near.
        truth[SLEEP] = float("inf")
        order = sorted(truth, key=lambda event: -truth[event])
        answers.append((number, order, [entry["event"] for entry in results["instance"]["top_events"]]))
    return answers


def summary(rows: list[Row]) -> None:
    """Coverage per scenario and scope, and the mean error, to the terminal."""
    groups: defaultdict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[0], row[2], row[3]].append(row)
    print(f"{'scenario':<20} {'scope':<9} {'row':<20} {'n':>5} {'true':>7} {'said':>7} {'inside':>8}  95 %")
    for (name, scope, event), found in sorted(groups.items()):
        inside = sum(low <= truth <= high for *_, truth, _, low, high in found)
        interval = stats.binomtest(inside, len(found)).proportion_ci(0.95, "wilson")
        truly, said = (100 * sum(row[place] for row in found) / len(found) for place in (4, 5))
        print(
            f"{name:<20} {scope:<9} {event:<20} {len(found):>5} {truly:>6.1f}% {said:>6.1f}% "
            f"{100 * inside / len(found):>7.1f}%  {100 * interval.low:.1f}-{100 * interval.high:.1f}"
        )


def main() -> None:
    """Run every scenario, store the rows, print the coverage."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    rows = waits(seconds)
    for delay_s in (0.001, 0.005, 0.010):
        rows += log_device(seconds, delay_s)
    rows += hogs(min(seconds, 30.0))
    orders = top_five(2 * seconds)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["scenario", "window", "scope", "row", "truth", "point", "low", "high"])
        writer.writerows(rows)
    summary(rows)
    right = sum(truth == said for _, truth, said in orders)
    print(f"top five right in {right} of {len(orders)} windows")
    for number, truth, said in orders:
        if truth != said:
            print(f"  window {number}: truly {truth}, said {said}")


if __name__ == "__main__":
    main()
