"""What watching costs: commits and CPU per commit, watched against not watched, side by side.

    python -m benches.sampler_cost [SESSIONS] [SLICE SECONDS] [MOST ROUNDS] [LOG DEVICE MS]

The embedded server commits as fast as it can (nowait/batch, all CPUs busy), where a sampler's CPU is
taken from the load. Time is cut into slices; a round has one slice without any sampler, one with the
memory sampler, one with queries of pg_stat_activity at the same rate, in random order. Slices are
compared inside their round, and rounds are added until the interval of both samplers' throughput
is narrower than 1 % (at least 20 rounds). Progress is read from the next transaction id, which
moves inside a CALL; CPU from the kernel's accounts of the sessions. With LOG DEVICE MS every commit
waits for an emulated log device instead: commits are then far more regular, and smaller effects show.
Raw numbers go to benches/results/.
"""

from __future__ import annotations

import csv
import math
import random
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Protocol

from scipy import stats
from tests.scripted import script

from redolab import _core
from redolab.engine.linux.local_server import find_postmaster
from redolab.engine.postgres.connecting.connection import Connection, Connector, fetch
from redolab.engine.postgres.waits.memory import RATE_PER_S

RESULTS = Path(__file__).parent / "results"
SEED = 20261121
LEAST_ROUNDS = 20
WIDTH = 0.01
ARMS = ("off", "memory", "pg_stat_activity")


@dataclass(frozen=True)
class Mark:
    """The server's progress at one instant."""

    at_s: float
    transactions: int
    session_cpu_s: float


@dataclass(frozen=True)
class Slice:
    """One stretch of one arm."""

    round: int
    arm: str
    commits_per_s: float
    cpu_per_commit_s: float
    sampler_cpu_s: float
    looks: int


class Switch(Protocol):
    """A sampler that can be switched on and off."""

    def resume(self) -> None:
        """Sample from now on."""

    def pause(self) -> tuple[float, int]:
        """Stop sampling; returns its CPU time (s) and its looks at one process each since `resume`."""

    def stop(self) -> None:
        """End it for good."""


class Memory:
    """The memory sampler."""

    def __init__(self, postmaster: int) -> None:
        self._sampler = _core.WaitSampler(postmaster, RATE_PER_S, SEED, [])
        self._sampler.pause()

    def resume(self) -> None:
        self._sampler.read()
        self._sampler.resume()

    def pause(self) -> tuple[float, int]:
        self._sampler.pause()
        seen = self._sampler.read()
        return seen.cpu_ns / 1e9, seen.looks

    def stop(self) -> None:
        self._sampler.stop()


class Activity:
    """Queries of pg_stat_activity at the memory sampler's rate."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._random = connection, random.Random(SEED)
        self._pid = connection.info.backend_pid
        self._on, self._end = threading.Event(), False
        self._rows = 0
        self._before_s = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def resume(self) -> None:
        self._rows, self._before_s = 0, self._cpu_s()
        self._on.set()

    def pause(self) -> tuple[float, int]:
        self._on.clear()
        return self._cpu_s() - self._before_s, self._rows

    def stop(self) -> None:
        self._end = True
        self._on.set()
        self._thread.join()

    def _cpu_s(self) -> float:
        """CPU of the server's process that answers, and of the thread that asks."""
        thread = time.pthread_getcpuclockid(self._thread.ident or 0)
        server = int(Path(f"/proc/{self._pid}/schedstat").read_text().split()[0])
        return time.clock_gettime(thread) + server / 1e9

    def _run(self) -> None:
        while self._on.wait() and not self._end:
            time.sleep(self._random.expovariate(RATE_PER_S))
            if self._on.is_set() and not self._end:
                self._rows += len(fetch(self._connection, "select_sessions", {"own": []}))


def mark(control: Connection, postmaster: int, sessions: frozenset[int]) -> Mark:
    """Read the clock, the next transaction id, and the sessions' CPU."""
    row = control.execute(
        "select extract(epoch from clock_timestamp())::float8 as at_s,"
        " pg_snapshot_xmax(pg_current_snapshot())::text::bigint as transactions"
    ).fetchone()
    assert row is not None
    tasks = _core.server_tasks(postmaster).tasks
    return Mark(row["at_s"], row["transactions"], sum(t.cpu_ns for t in tasks if t.pid in sessions) / 1e9)


def log_ratios(slices: list[Slice], arm: str, quantity: str) -> list[float]:
    """Logarithm of arm over off, one for each round."""
    values = {(s.round, s.arm): getattr(s, quantity) for s in slices}
    return [math.log(values[r, arm] / values[r, "off"]) for r, a in values if a == arm]


def interval(logs: list[float]) -> tuple[float, float, float]:
    """Geometric mean of ratios with its 95 % interval (Student's t on the logarithms)."""
    found = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    return math.exp(sum(logs) / len(logs)), math.exp(found.low), math.exp(found.high)


def settled(slices: list[Slice], rounds: int) -> bool:
    """Whether both intervals of throughput are narrow enough."""
    if rounds < LEAST_ROUNDS:
        return False
    ends = [interval(log_ratios(slices, arm, "commits_per_s")) for arm in ARMS[1:]]
    return all(high - low < WIDTH for _, low, high in ends)


def measure(sessions: int, slice_s: float, most: int, log_device_s: float | None) -> list[Slice]:
    """All slices, in the order of the rounds."""
    order = random.Random(SEED)
    slices: list[Slice] = []
    with script(sessions, log_device_s) as scripted:
        connect = Connector(scripted.target).connect
        with connect("bench control") as control, connect("bench sampler") as watcher:
            until = time.time() + (most + 2) * len(ARMS) * (slice_s + 0.05)
            workers = [
                scripted.commit(key + 1, until, 0.0, flush=log_device_s is not None)
                for key in range(sessions)
            ]
            scripted.begun()
            working = frozenset(worker.pid for worker in workers)
            row = control.execute(
                "select pg_backend_pid() as pid, extract(epoch from backend_start)::float8 as at_s"
                " from pg_stat_activity where pid = pg_backend_pid()"
            ).fetchone()
            assert row is not None
            postmaster = find_postmaster(row["pid"], row["at_s"])
            assert postmaster is not None
            arms: Mapping[str, Switch | None] = {
                "off": None,
                "memory": Memory(postmaster),
                "pg_stat_activity": Activity(watcher),
            }
            time.sleep(2.0)
            for number in range(most):
                slices += [
                    one_slice(number, arm, arms[arm], slice_s, lambda: mark(control, postmaster, working))
                    for arm in order.sample(ARMS, len(ARMS))
                ]
                if settled(slices, number + 1):
                    break
            for switch in arms.values():
                if switch:
                    switch.stop()
            control.execute(
                "select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'committer'"
            )
    return slices


def one_slice(
    number: int, arm: str, switch: Switch | None, slice_s: float, look: Callable[[], Mark]
) -> Slice:
    """The load's progress while one arm is on."""
    if switch:
        switch.resume()
    before = look()
    time.sleep(slice_s)
    after = look()
    cpu_s, looks = switch.pause() if switch else (0.0, 0)
    commits = after.transactions - before.transactions
    return Slice(
        number,
        arm,
        commits / (after.at_s - before.at_s),
        (after.session_cpu_s - before.session_cpu_s) / commits,
        cpu_s,
        looks,
    )


def main() -> None:
    """Measure, store, print."""
    given = [float(text) for text in sys.argv[1:]]
    sessions, slice_s, most, log_ms = (*given, *(32.0, 0.5, 400.0, 0.0)[len(given) :])
    slices = measure(int(sessions), slice_s, int(most), log_ms / 1000 or None)
    RESULTS.mkdir(exist_ok=True)
    name = f"sampler_cost_log_{log_ms:g}ms.csv" if log_ms else "sampler_cost.csv"
    with (RESULTS / name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Slice)])
        writer.writerows(astuple(one) for one in slices)
    rounds = len({one.round for one in slices})
    rate = sum(one.commits_per_s for one in slices if one.arm == "off") / rounds
    print(f"{rounds} rounds of {slice_s:g} s slices, {sessions:g} sessions, {rate:,.0f} commits/s unwatched")
    print(f"{RATE_PER_S:g} readings a second; ratio to unwatched, 95 % interval")
    print(f"{'':<18}{'commits/s':>26}{'CPU per commit':>26}{'sampler CPU':>14}{'per look':>11}")
    for arm in ARMS[1:]:
        own = [one for one in slices if one.arm == arm]
        cpu_s, looks = sum(one.sampler_cpu_s for one in own), sum(one.looks for one in own)
        texts = [
            "{:.4f} ({:.4f}-{:.4f})".format(*interval(log_ratios(slices, arm, quantity)))
            for quantity in ("commits_per_s", "cpu_per_commit_s")
        ]
        share, each = 100 * cpu_s / (slice_s * len(own)), 1e6 * cpu_s / looks
        print(f"{arm:<18}{texts[0]:>26}{texts[1]:>26}{share:>8.2f} % core{each:>8.1f} us")


if __name__ == "__main__":
    main()
