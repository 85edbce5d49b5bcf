"""CPU of report and verify: `python benches/report_cost.py RUN... [--turns N] [--other PYTHON]`.

Takes the CPU (user and system, of the whole command) of both commands for each stored run, in turns, and
prints minima, medians and their ratios. A run is copied, since a report is written into it. With `--other`,
the Python of another environment, the commands of both environments alternate. Seconds are the machine's:
compare within one call only. Raw numbers go to benches/results/report_cost.csv.
"""

from __future__ import annotations

import argparse
import csv
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_RESULTS = Path(__file__).with_name("results") / "report_cost.csv"
_COMMANDS = ("report", "verify")


def main() -> None:
    """Measure, print a line for each command and run, and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--other", help="the Python of the environment that is compared")
    asked = parser.parse_args()
    pythons = {"this": sys.executable, **({"other": asked.other} if asked.other else {})}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(asked.turns):
            for run in asked.runs:
                for name in sorted(pythons, reverse=turn % 2 == 1):
                    place = Path(folder) / f"{turn}-{name}-{run.name}"
                    shutil.copytree(run, place)
                    for command in _COMMANDS:
                        taken = _cpu_s([pythons[name], "-m", "redolab.cli", command, str(place)])
                        rows.append((run.name, command, name, turn, round(taken, 3)))
    with _RESULTS.open("w", newline="") as file:
        csv.writer(file).writerows([("run", "command", "version", "turn", "cpu_s"), *rows])
    medians = {}
    for run in asked.runs:
        for command in _COMMANDS:
            for name in pythons:
                mine = [row[4] for row in rows if row[:3] == (run.name, command, name)]
                medians[run.name, command, name] = statistics.median(mine)
                median = medians[run.name, command, name]
                print(f"{run.name:16} {command:7} {name:6} {min(mine):6.2f} s, median {median:6.2f} s")
            if asked.other:
                ratio = medians[run.name, command, "this"] / medians[run.name, command, "other"]
                print(f"{run.name:16} {command:7} this over other: {ratio:.2f}")


def _cpu_s(words: list[str]) -> float:
    """User and system CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
