"""What it costs to put parameters back from memory: statements a sample, and CPU at begin and end.

    python -m benches.put_back_cost BEFORE [ALTERNATIONS]

BEFORE is a checkout of another version, with its compiled part. Both versions run commit-mode by URL on one
server of PostgreSQL and one of MariaDB, which log every statement, one after the other in random order.
Statements a sample are those of the control connection in a run of six blocks less those in a run of two,
divided by the samples between: what is asked at begin and end falls out. CPU is that of the whole command
with its guard, user and system, in runs of two blocks. Raw figures go to benches/results/.
"""

from __future__ import annotations

import csv
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import stats
from tests.mariadb import running_mariadb
from tests.servers import PASSWORD, Server, installed_servers

ROOT = Path(__file__).parents[1]
SEED = 20261126
BLOCKS = (2, 6)
SETTINGS = ("wait/immediate", "nowait/batch")
_OF_POSTGRES = re.compile(r"^app=redolab control LOG:", re.MULTILINE)
_OF_MARIADB = re.compile(r"^\S*(?:\s+\S+)?\s+(\d+) (?:Query|Execute)\t", re.MULTILINE)
# The load's own connections ask thousands of times.
_MOST_OF_CONTROL = 400


def run(tree: Path, url: str, blocks: int, place: Path) -> float:
    """One run; returns its CPU in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "redolab.cli", "run", "commit-mode", "--engine", url, "--yes", "--quick",
         "--settings", ",".join(SETTINGS), "--blocks", str(blocks), "--seconds", "0.2", "--sessions", "1",
         "--seed", "1", "--out", str(place)],
        env={**os.environ, "PYTHONPATH": str(tree / "python"), "PGPASSWORD": PASSWORD,
             "XDG_DATA_HOME": str(place) + "-home"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(place)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@contextmanager
def postgres(place: Path) -> Iterator[tuple[str, Callable[[], int]]]:
    """A PostgreSQL, and how many statements its control connections have asked."""
    server = Server(installed_servers()["18"], place / "postgres")
    server.start("-c", "log_statement=all", "-c", "log_line_prefix=app=%a ")
    log = place / "postgres" / "server.log"
    try:
        yield (
            server.url(),
            lambda: len(_OF_POSTGRES.findall(log.read_text())),
        )
    finally:
        server.stop()


@contextmanager
def mariadb(place: Path) -> Iterator[tuple[str, Callable[[], int]]]:
    """A MariaDB, and how many statements connections have asked that are no load's."""
    log = place / "general.log"
    with running_mariadb(
        place / "mariadb", "--log-bin", "--sync-binlog=1", "--general-log=1", f"--general-log-file={log}"
    ) as server:

        def count() -> int:
            asked = Counter(_OF_MARIADB.findall(log.read_text()))
            return sum(number for number in asked.values() if number < _MOST_OF_CONTROL)

        yield server.url, count


def main() -> None:
    """Measure and print."""
    trees = {"before": Path(sys.argv[1]), "after": ROOT}
    alternations = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    chance = random.Random(SEED)
    place = Path(tempfile.mkdtemp(prefix="redolab-bench-"))
    place.chmod(0o755)
    rows: list[tuple[str, int, str, int, float, int]] = []
    for name, server in (("postgresql", postgres), ("mariadb", mariadb)):
        with server(place) as (url, count):
            for number in range(alternations + 1):
                for version in chance.sample(list(trees), 2):
                    for blocks in BLOCKS if number == 0 else BLOCKS[:1]:
                        asked = count()
                        cpu_s = run(trees[version], url, blocks, place / "run")
                        rows.append((name, number, version, blocks, cpu_s, count() - asked))
        of = {version: [row for row in rows if row[0] == name and row[2] == version] for version in trees}
        samples = (BLOCKS[1] - BLOCKS[0]) * (len(SETTINGS) + 1)
        for version, mine in of.items():
            asked_by = {row[3]: row[5] for row in mine if row[1] == 0}
            a_sample = (asked_by[BLOCKS[1]] - asked_by[BLOCKS[0]]) / samples
            print(
                f"{name}, {version}: {a_sample:.2f} statements a sample, {asked_by[BLOCKS[0]]} in a short run"
            )
        more = np.subtract(*([row[4] for row in of[v] if row[1] > 0] for v in ("after", "before")))
        half = stats.t.ppf(0.975, len(more) - 1) * stats.sem(more)
        print(f"{name}: {more.mean():+.3f} s of CPU a run (plus and minus {half:.3f})")
    with (ROOT / "benches" / "results" / "put_back_cost.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("server", "alternation", "version", "blocks", "cpu_s", "statements"), *rows]
        )
    shutil.rmtree(place)


if __name__ == "__main__":
    main()
