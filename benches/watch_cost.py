"""What a watch costs: commits of busy sessions with `redolab watch` on and off, in pairs.

    python -m benches.watch_cost [postgresql|mariadb] [MINUTES] [SESSIONS] [SLICE SECONDS]

A private server has SESSIONS (32) client sessions that insert a row and commit, as fast as they can, from
this process. `redolab watch` runs beside it as a process of its own from the beginning to the end. In a slice
without it that process is stopped (SIGSTOP): it then uses no CPU, looks at nothing and asks nothing. A slice
begins as soon as the process goes on, so that whatever it makes up for counts. A pair is a slice with and one
without, in random order, and their commits are by the clients' own count. Printed is the geometric mean of
the ratios with its 95 % interval (Student's t on the logarithms), and what the watch says of its own CPU.
Raw pairs go to benches/results/.
"""

from __future__ import annotations

import csv
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from scipy import stats
from tests.mariadb import running_mariadb
from tests.servers import PASSWORD, command, installed_servers, running

from redolab import _core, open_run
from redolab.engine.client_job import ClientJob
from redolab.engine.loops.client_work import work
from redolab.records.load import Amount

RESULTS = Path(__file__).parent / "results"
SEED = 20261126


@dataclass(frozen=True)
class Pair:
    """Two slices beside each other."""

    pair: int
    on_first: bool
    on_per_s: float
    off_per_s: float


@contextmanager
def server(kind: str, place: Path, sessions: int) -> Iterator[tuple[str, _core.ClientSessions, ClientJob]]:
    """A server with a table, its URL, the sessions, and what they do."""
    if kind == "mariadb":
        with running_mariadb(place / "m") as mariadb:
            mariadb.ask("create database bench")
            mariadb.ask("create table bench.item (id bigint auto_increment primary key, filler varchar(100))")
            made = _core.ClientSessions.mysql(
                "", 0, str(mariadb.socket), "root", None, "bench", tls="disabled", ca_file=None,
                peer_uid=None, connect_timeout_s=10.0,
            )  # fmt: skip
            with closing(made):
                made.resize(sessions)
                yield mariadb.url, made, ClientJob("insert into item (filler) values (repeat('x', 80))")
        return
    for postgres in running(installed_servers()["18"], place / "p"):
        postgres.stop()
        postgres.start("-c", f"max_connections={sessions + 10}")
        with postgres.admin() as admin:
            admin.execute("create table item (id bigserial primary key, filler text)")
        made = _core.ClientSessions(
            "127.0.0.1", postgres.port, "postgres", PASSWORD, "postgres", "", tls=None,
            channel_binding="prefer", allowed=["scram-sha-256"], peer_uid=None, connect_timeout_s=10.0,
        )  # fmt: skip
        with closing(made):
            made.resize(sessions)
            yield postgres.url(), made, ClientJob("insert into item (filler) values (repeat('x', 80))")


def measure(kind: str, minutes: float, sessions: int, slice_s: float) -> list[Pair]:
    """All pairs, in their order."""
    order, never, pairs = random.Random(SEED), threading.Event(), []
    place = Path(tempfile.mkdtemp(prefix="redolab-bench-"))
    place.chmod(0o755)
    try:
        with server(kind, place, sessions) as (url, clients, job):
            out = place / "watch"
            watch = subprocess.Popen(
                command("watch", url, "--out", out), env={**os.environ, "PGPASSWORD": PASSWORD},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert watch.stderr is not None
            assert "watching" in watch.stderr.readline()

            def commits_per_s(on: bool) -> float:
                watch.send_signal(signal.SIGCONT if on else signal.SIGSTOP)
                done = work(clients, job, Amount(slice_s), SEED, never, {})
                assert done.trouble is None, done.trouble
                return done.commits / done.session_elapsed_max_s

            commits_per_s(True)
            end = time.monotonic() + 60 * minutes
            while time.monotonic() < end:
                on_first = order.random() < 0.5
                first, second = commits_per_s(on_first), commits_per_s(not on_first)
                on, off = (first, second) if on_first else (second, first)
                pairs.append(Pair(len(pairs) + 1, on_first, on, off))
                print(f"pair {len(pairs)}: {on:,.0f} on, {off:,.0f} off, ratio {on / off:.4f}", flush=True)
            watch.send_signal(signal.SIGCONT)
            watch.send_signal(signal.SIGINT)
            watch.communicate(timeout=120)
            tell(out)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return pairs


def tell(out: Path) -> None:
    """What the watch says of itself."""
    samples = open_run(out).samples
    elapsed = sum(samples["elapsed_s"].to_pylist())
    here = sum(samples["sampler_cpu_s"].to_pylist())
    there = sum(value or 0.0 for value in samples["server_cpu_s"].to_pylist())
    print(
        f"{samples.num_rows} stretches, {elapsed:.0f} s; of one CPU the command took "
        f"{100 * here / elapsed:.2f} %, its session in the server {100 * there / elapsed:.2f} %; "
        f"{sum(samples['looks'].to_pylist()) / elapsed:,.0f} looks a second"
    )


def main() -> None:
    """Measure, store, print."""
    given = sys.argv[1:]
    kind = given[0] if given else "postgresql"
    minutes, sessions, slice_s = (*map(float, given[1:]), *(30.0, 32.0, 1.0)[len(given[1:]) :])
    pairs = measure(kind, minutes, int(sessions), slice_s)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"watch_cost_{kind}.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Pair)])
        writer.writerows(astuple(pair) for pair in pairs)
    logs = [math.log(pair.on_per_s / pair.off_per_s) for pair in pairs]
    if len(logs) < 2:
        print("too few pairs for an interval")
        return
    found = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    print(
        f"{kind}, {sessions:g} sessions, {len(pairs)} pairs of {slice_s:g} s: on / off "
        f"{math.exp(sum(logs) / len(logs)):.4f} ({math.exp(found.low):.4f} to {math.exp(found.high):.4f}); "
        f"the cost is at most {100 * (1 - math.exp(found.low)):.2f} % of throughput"
    )


if __name__ == "__main__":
    main()
