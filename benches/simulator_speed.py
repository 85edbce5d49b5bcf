"""How fast is the group-commit simulator? The same queue in SimPy and in Ciw, side by side in one run.

    python -m benches.simulator_speed [ROUNDS]

The queue: N sessions think (exponential, 1 ms), work on one of two CPUs (exponential, 60 us) and commit to
a log that flushes for all who wait (exponential, 1 ms). Ciw has no service in bulk: for it, and for the
others once more, the log serves one commit at a time (exponential, 20 us).

First every library must give the simulator's throughput within both intervals; then each is timed in its
own CPU time, in turns, so that what else the machine does hits all alike. Speed is compared in two ways:

- in commits per second of CPU time, the same work of the same queue, and so in events of the queue itself;
- in events per second as each counts its own: what the simulator takes from its event queue, the calls of
  `step` in SimPy, ends of service and of thinking in Ciw (which counts none itself; it has at least these).
  SimPy makes more events for a commit, so that this ratio is lower.

Needs `pip install 'redolab[bench]'`; raw numbers go to benches/results/simulator_speed.csv.
"""

from __future__ import annotations

import csv
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from pathlib import Path

import ciw
import simpy

from redolab import _core
from redolab.model.distribution import exponential
from redolab.model.group_commit import Interval, ratio_of_sums, simulate

RESULTS = Path(__file__).parent / "results" / "simulator_speed.csv"
CPUS = 2
THINK_S, CPU_S = 1e-3, 60e-6
FLUSH_S = {"group": 1e-3, "one by one": 20e-6}
SESSIONS = (8, 32, 128)
COMMITS = {"redolab-sim": 1_000_000, "SimPy": 20_000, "Ciw": 5_000}
BATCHES = 20


@dataclass(frozen=True)
class Timed:
    """One simulation by one library."""

    round: int
    library: str
    log: str
    sessions: int
    commits: int
    events: int
    cpu_s: float
    throughput_per_s: float
    low_per_s: float
    high_per_s: float


Simulated = tuple[int, Interval]
"""Events, and commits per simulated second."""


def by_redolab(log: str, sessions: int, seed: int, commits: int) -> Simulated:
    parameters = _core.GroupCommitParameters(
        sessions=sessions, cpus=CPUS, commit_cpu=exponential(CPU_S), device=exponential(FLUSH_S[log]),
        think=exponential(THINK_S), group_commit=log == "group", quantum_s=3600.0,
    )  # fmt: skip
    seen = simulate(parameters, seed, commits)
    return seen.events, seen.throughput_per_s


class Log:
    """The log in SimPy: who finds it idle leads, who comes meanwhile waits for the next flush."""

    def __init__(self, environment: simpy.Environment, flush: Callable[[], float], group: bool) -> None:
        self.environment, self.flush, self.group = environment, flush, group
        self.busy = False
        self.waiting: list[simpy.Event] = []

    def commit(self) -> Iterator[simpy.Event]:
        if self.busy:
            own = self.environment.event()
            self.waiting.append(own)
            yield own
            return
        self.busy = True
        yield self.environment.timeout(self.flush())
        self.environment.process(self.flush_on())

    def flush_on(self) -> Iterator[simpy.Event]:
        while self.waiting:
            served = self.waiting if self.group else self.waiting[:1]
            self.waiting = self.waiting[len(served) :]
            yield self.environment.timeout(self.flush())
            for one in served:
                one.succeed()
        self.busy = False


def by_simpy(log: str, sessions: int, seed: int, commits: int) -> Simulated:
    draw = random.Random(seed).expovariate
    environment = simpy.Environment()
    cpu = simpy.Resource(environment, CPUS)
    station = Log(environment, lambda: draw(1 / FLUSH_S[log]), log == "group")
    ends: list[float] = []

    def session() -> Iterator[simpy.Event]:
        while True:
            yield environment.timeout(draw(1 / THINK_S))
            with cpu.request() as turn:
                yield turn
                yield environment.timeout(draw(1 / CPU_S))
            yield from station.commit()
            ends.append(environment.now)

    for _ in range(sessions):
        environment.process(session())
    events = 0
    while len(ends) <= commits + commits // 10:
        environment.step()
        events += 1
    return events, batch_throughput(ends[commits // 10 :], commits)


def by_ciw(log: str, sessions: int, seed: int, commits: int) -> Simulated:
    """Sessions as customers that go round; thinking is a station with a server for each.

    For a log that flushes one by one alone: Ciw has no service in bulk.
    """
    ciw.seed(seed)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([*[1e-9] * sessions, float("inf")]), None, None],
        service_distributions=[ciw.dists.Exponential(1 / mean) for mean in (THINK_S, CPU_S, FLUSH_S[log])],
        routing=[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        number_of_servers=[sessions, CPUS, 1],
    )
    simulation = ciw.Simulation(network)
    expected = by_redolab(log, sessions, 0, 50_000)[1].point
    simulation.simulate_until_max_time((commits + commits // 10) / expected)
    records = simulation.get_all_records()
    ends = sorted(record.service_end_date for record in records if record.node == 3)
    return len(records), batch_throughput(ends[len(ends) // 10 :], len(ends) - len(ends) // 10 - 1)


def batch_throughput(ends: list[float], commits: int) -> Interval:
    """Commits per second with the interval of 20 batches, as `simulate` gives it."""
    size = commits // BATCHES
    edges = ends[: size * BATCHES + 1 : size]
    return ratio_of_sums([size] * BATCHES, [to - start for start, to in pairwise(edges)])


LIBRARIES = {"redolab-sim": by_redolab, "SimPy": by_simpy, "Ciw": by_ciw}


def timed(number: int, library: str, log: str, sessions: int) -> Timed:
    begin = time.process_time()
    events, seen = LIBRARIES[library](log, sessions, number, COMMITS[library])
    spent = time.process_time() - begin
    commits = COMMITS[library] + COMMITS[library] // 10
    return Timed(number, library, log, sessions, commits, events, spent, seen.point, seen.low, seen.high)


def agree(one: Timed, other: Timed) -> bool:
    return one.low_per_s <= other.high_per_s and other.low_per_s <= one.high_per_s


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    by_redolab("group", 1, 0, 1_000)  # the first call imports
    found: list[Timed] = []
    for log, sessions in ((log, sessions) for log in FLUSH_S for sessions in SESSIONS):
        # Ciw has no service in bulk, so it has no part in group commit.
        libraries = [name for name in LIBRARIES if log != "group" or name != "Ciw"]
        for number in range(1, rounds + 1):
            found += [timed(number, library, log, sessions) for library in libraries]
        here = [one for one in found if (one.log, one.sessions) == (log, sessions)]
        own = [one for one in here if one.library == "redolab-sim"]
        for library in libraries[1:]:
            others = [one for one in here if one.library == library]
            same = sum(agree(one, other) for one, other in zip(own, others, strict=True))
            pairs = list(zip(own, others, strict=True))
            events = statistics.median(a.events / a.cpu_s / (b.events / b.cpu_s) for a, b in pairs)
            commits = statistics.median(a.commits / a.cpu_s / (b.commits / b.cpu_s) for a, b in pairs)
            rate = statistics.median(a.events / a.cpu_s for a in own) / 1e6
            each = [statistics.median(one.events / one.commits for one in side) for side in (own, others)]
            print(
                f"{log}, {sessions} sessions: {rate:.1f} million events/s; {commits:.0f} times {library} in "
                f"commits, {events:.0f} times in events as each counts its own ({each[0]:.2f} and "
                f"{each[1]:.2f} per commit); same throughput in {same} of {rounds} rounds",
                flush=True,
            )
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Timed)])
        writer.writerows(astuple(one) for one in found)


if __name__ == "__main__":
    main()
