"""Does an experiment say the same twice? Every experiment of `redolab experiments`, quick, with two seeds.

    python -m benches.repeatability [EXPERIMENT ...] [--keep DIR]

Raw figures go to `benches/results/repeatability.csv`: per experiment and seed the wall time, the verdict
and every ratio to the baseline with its interval. The last lines say whether the verdicts agree and in how
many settings the two intervals overlap. Nothing else should run on the machine meanwhile.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from redolab.experiment import EXPERIMENTS

SEEDS = (1, 2)
RESULTS = Path(__file__).parent / "results" / "repeatability.csv"
COLUMNS = ("experiment", "seed", "wall_s", "outcome", "best", "setting", "metric", "point", "low", "high")


def measured(name: str, seed: int, place: Path) -> tuple[dict[str, Any], float]:
    """One quick run: its results object, and how long it took, seconds."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "redolab.cli", "run", name, "--quick", "--seed", str(seed), "--json",
         "--out", str(place / f"{name}-{seed}")],
        check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    return json.loads(done.stdout), time.monotonic() - started


def rows(results: dict[str, Any], seed: int, wall_s: float) -> list[dict[str, Any]]:
    head = {
        "experiment": results["experiment"],
        "seed": seed,
        "wall_s": round(wall_s, 1),
        "outcome": results["verdict"]["outcome"],
        "best": results["verdict"]["best"],
    }
    ratios = [
        head | {"setting": item["a"], "metric": item["metric"]}
        | {end: item["ratio"][end] for end in ("point", "low", "high")}
        for item in results.get("comparisons", ())
    ]  # fmt: skip
    return ratios or [head]


def overlap(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return bool(first["low"] <= second["high"] and second["low"] <= first["high"])


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("experiments", nargs="*", default=list(EXPERIMENTS))
    arguments.add_argument("--keep", type=Path, help="where the runs are kept; else they are removed")
    asked = arguments.parse_args()
    found: dict[str, list[list[dict[str, Any]]]] = {}
    with tempfile.TemporaryDirectory() as passing:
        place = asked.keep or Path(passing)
        for name in asked.experiments:
            for seed in SEEDS:
                results, wall_s = measured(name, seed, place)
                found.setdefault(name, []).append(rows(results, seed, wall_s))
                print(f"{name} seed {seed}, {wall_s:.0f} s: {results['verdict']['text']}", flush=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(row for runs in found.values() for run in runs for row in run)
    for name, (first, second) in found.items():
        known = [
            pair for pair in zip(first, second, strict=True) if pair[0].get("low") and pair[1].get("low")
        ]
        same = "agree" if first[0]["outcome"] == second[0]["outcome"] else "DIFFER"
        print(
            f"{name}: outcomes {same}; intervals overlap in {sum(overlap(*p) for p in known)} of {len(known)}"
        )


if __name__ == "__main__":
    main()
