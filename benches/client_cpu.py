"""What a commit costs the client, beside pgbench: CPU of both programs, in pairs.

    python -m benches.client_cpu [PAIRS] [SECONDS]

A private server has a table; eight sessions insert one row by a prepared statement, each insert a commit of
its own, as fast as they can. pgbench and the sessions of Redolab's client do it in turn, in random order
within each pair, over TCP without TLS and with it. No commit waits for the log, so that the client has most
to do. CPU is that of the threads that drive the sessions, and that of the whole process of pgbench, which
starts anew each time and so pays for its connections too. Printed is the geometric mean of pgbench's CPU
for each commit over Redolab's, with its 95 % interval (Student's t on the logarithms). Raw pairs go to
benches/results/.
"""

from __future__ import annotations

import csv
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tests.engine.tls import Certificates, TlsServer
from tests.servers import PASSWORD

from redolab import _core
from redolab.engine.client_job import ClientJob
from redolab.engine.loops.client_work import work
from redolab.records.load import Amount
from redolab.stats.estimates import ratio_estimate

RESULTS = Path(__file__).parent / "results" / "client_cpu.csv"
SEED = 20261128
SESSIONS, THREADS = 8, 2


@dataclass(frozen=True)
class Pair:
    """Both programs, one after the other."""

    encrypted: bool
    pair: int
    pgbench_first: bool
    pgbench_us: float
    """CPU for each commit."""
    redolab_us: float
    pgbench_commits: int
    redolab_commits: int


class Programs:
    """Both, against one server."""

    def __init__(self, server: TlsServer, encrypted: bool, seconds: float) -> None:
        self._server, self._encrypted, self._seconds = server, encrypted, seconds
        self._script = server.place / "insert.sql"
        self._script.write_text("insert into item values (:client_id, 'x')\n")

    def redolab(self) -> tuple[float, int]:
        """CPU for each commit in microseconds, and commits."""
        tls = _core.ClientTls("localhost", None, False, None, ["1.2", "1.3"], False, True)
        made = _core.ClientSessions(
            "127.0.0.1", self._server.port, "postgres", PASSWORD, "postgres", "",
            tls=tls if self._encrypted else None, channel_binding="prefer", allowed=["scram-sha-256"],
            peer_uid=None, connect_timeout_s=10.0,
        )  # fmt: skip
        arguments = (_core.ClientArgument.session(), _core.ClientArgument.text("x"))
        job = ClientJob("insert into item values ($1, $2)", arguments)
        with closing(made):
            made.resize(SESSIONS)
            done = work(made, job, Amount(self._seconds), SEED, threading.Event(), {})
        assert done.trouble is None, done.trouble
        assert done.client_cpu_s is not None
        return 1e6 * done.client_cpu_s / done.commits, done.commits

    def pgbench(self) -> tuple[float, int]:
        """The same, without what it takes to start, connect and end."""
        whole_s, commits = self._pgbench("-T", f"{self._seconds:.0f}")
        start_s, _ = self._pgbench("-t", "1")
        return 1e6 * (whole_s - start_s) / commits, commits

    def _pgbench(self, *amount: str) -> tuple[float, int]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [self._server.programs / "pgbench", "-h", "127.0.0.1", "-p", str(self._server.port),
             "-U", "postgres", "-n", "-M", "prepared", "-c", str(SESSIONS), "-j", str(THREADS), *amount,
             "-f", self._script, "postgres"],
            env={**os.environ, "PGPASSWORD": PASSWORD,
                 "PGSSLMODE": "require" if self._encrypted else "disable"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        line = next(line for line in done.stdout.splitlines() if "actually processed" in line)
        return cpu_s, int(line.rpartition(":")[2].partition("/")[0])


def measure(server: TlsServer, pairs: int, seconds: float) -> list[Pair]:
    """All pairs, in their order."""
    order, found = random.Random(SEED), []
    for pair in range(1, pairs + 1):
        for encrypted in (False, True):
            programs, first = Programs(server, encrypted, seconds), order.random() < 0.5
            theirs = programs.pgbench() if first else None
            ours = programs.redolab()
            theirs = theirs or programs.pgbench()
            found.append(Pair(encrypted, pair, first, theirs[0], ours[0], theirs[1], ours[1]))
            print(found[-1], flush=True)
    return found


def main() -> None:
    """Measure, store, print."""
    pairs, seconds = (*map(float, sys.argv[1:]), *(20.0, 4.0)[len(sys.argv[1:]) :])
    place = Path(tempfile.mkdtemp(prefix="redolab-bench-"))
    place.chmod(0o755)
    try:
        (place / "certificates").mkdir()
        certificates = Certificates(place / "certificates")
        certificates.signed("proper", "/CN=localhost", "ca")
        server = TlsServer(place / "server", certificates)
        server.start("-c", "synchronous_commit=off", "-c", "fsync=off")
        try:
            with server.admin() as admin:
                admin.execute("create table item (session int, filler text)")
            found = measure(server, int(pairs), seconds)
        finally:
            server.stop()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(field.name for field in fields(Pair))
        writer.writerows(map(astuple, found))
    for encrypted in (False, True):
        logs = [math.log(it.pgbench_us / it.redolab_us) for it in found if it.encrypted == encrypted]
        ratio = ratio_estimate(logs)
        print(f"{'TLS' if encrypted else 'clear'}: {ratio.point:.3f} ({ratio.low:.3f} to {ratio.high:.3f})")


if __name__ == "__main__":
    main()
